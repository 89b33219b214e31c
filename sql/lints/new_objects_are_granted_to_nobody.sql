-- By default, what the owner and the guard make is theirs alone: a table is closed and a function not called until a
-- reviewed file says otherwise.
SELECT d.defaclrole::regrole::text AS object,
  format('grants %s on what it makes to %s', lower(a.privilege_type),
    CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END) AS problem
FROM pg_default_acl d CROSS JOIN LATERAL aclexplode(d.defaclacl) AS a
WHERE a.grantee <> d.defaclrole
UNION ALL
SELECT r.name, 'lets PUBLIC call the functions it makes'
FROM unnest(ARRAY['keepline_owner', 'keepline_guard']) AS r (name)
WHERE NOT EXISTS (
  SELECT FROM pg_default_acl d WHERE d.defaclrole = r.name::regrole AND d.defaclnamespace = 0 AND d.defaclobjtype = 'f'
);
