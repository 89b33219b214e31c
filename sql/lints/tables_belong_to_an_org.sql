-- Every table of schema app has org_id uuid NOT NULL: a row of no org is a row of every org.
SELECT c.relname::text AS object, 'has no org_id uuid NOT NULL' AS problem
FROM pg_class c
WHERE c.relnamespace = 'app'::regnamespace AND c.relkind IN ('r', 'p')
  AND c.relname <> ALL (ARRAY[
    'alembic_version', -- the revision of the schema; nobody but its owner reaches it
    'token_audiences'  -- one way to tell apart the tokens of an issuer, over all orgs; the operator's alone
  ])
  AND NOT EXISTS (
    SELECT FROM pg_attribute a
    WHERE a.attrelid = c.oid AND a.attname = 'org_id' AND a.atttypid = 'uuid'::regtype AND a.attnotnull
  );
