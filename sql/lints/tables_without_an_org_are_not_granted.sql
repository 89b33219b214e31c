-- What spans orgs is granted to no login that serves or works: no policy could tell its rows apart.
SELECT c.relname::text AS object, format('%s reaches it', r.name) AS problem
FROM pg_class c, unnest(ARRAY['public', 'keepline_app', 'keepline_worker']) AS r (name)
WHERE c.relnamespace = 'app'::regnamespace AND c.relkind IN ('r', 'p')
  AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'org_id')
  AND (has_any_column_privilege(r.name, c.oid, 'SELECT, INSERT, UPDATE')
    OR has_table_privilege(r.name, c.oid, 'DELETE'));
