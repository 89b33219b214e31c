-- PUBLIC has no right to the database, its schemas and its tables: a login that nobody reviewed reaches nothing.
SELECT current_database()::text AS object, 'PUBLIC has a right to the database' AS problem
WHERE has_database_privilege('public', current_database(), 'CONNECT, CREATE, TEMPORARY')
UNION ALL
SELECT n.nspname::text, 'PUBLIC has a right to the schema' FROM pg_namespace n
WHERE n.nspname IN ('app', 'tenancy', 'public') AND has_schema_privilege('public', n.oid, 'USAGE, CREATE')
UNION ALL
SELECT c.oid::regclass::text, 'PUBLIC has a right to it' FROM pg_class c
WHERE c.relnamespace IN ('app'::regnamespace, 'tenancy'::regnamespace, 'public'::regnamespace)
  AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND (has_any_column_privilege('public', c.oid, 'SELECT, INSERT, UPDATE, REFERENCES')
    OR has_table_privilege('public', c.oid, 'DELETE, TRUNCATE, TRIGGER, MAINTAIN'));
