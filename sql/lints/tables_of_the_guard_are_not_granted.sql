-- Schema tenancy holds the signing keys and what exists before an identity: only functions of the guard reach it.
SELECT c.relname::text AS object, format('%s reaches it', r.name) AS problem
FROM pg_class c, unnest(ARRAY['public', 'keepline_app', 'keepline_worker', 'keepline_owner']) AS r (name)
WHERE c.relnamespace = 'tenancy'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND (has_any_column_privilege(r.name, c.oid, 'SELECT, INSERT, UPDATE, REFERENCES')
    OR has_table_privilege(r.name, c.oid, 'DELETE, TRUNCATE, TRIGGER, MAINTAIN'));
