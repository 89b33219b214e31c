-- The app's and the worker's logins own nothing, belong to no role and have no attribute but LOGIN.
SELECT r.rolname::text AS object, fault AS problem
FROM pg_roles r CROSS JOIN LATERAL (
  SELECT 'has an attribute that policies do not bind'
    WHERE r.rolsuper OR r.rolbypassrls OR r.rolcreaterole OR r.rolcreatedb OR r.rolreplication
  UNION ALL SELECT 'inherits' WHERE r.rolinherit
  UNION ALL SELECT format('is a member of %s', m.roleid::regrole) FROM pg_auth_members m WHERE m.member = r.oid
  UNION ALL SELECT format('has %s as a member', m.member::regrole) FROM pg_auth_members m WHERE m.roleid = r.oid
  UNION ALL SELECT format('owns an object of %s', s.classid::regclass) FROM pg_shdepend s
    WHERE s.refclassid = 'pg_authid'::regclass AND s.refobjid = r.oid AND s.deptype = 'o'
) AS faults (fault)
WHERE r.rolname IN ('keepline_app', 'keepline_worker');
