-- Every table of schema app has row-level security enabled and forced, and a policy; without FORCE its owner sees all.
SELECT c.relname::text AS object,
  CASE WHEN NOT c.relrowsecurity THEN 'row-level security is not enabled'
    WHEN NOT c.relforcerowsecurity THEN 'row-level security is not forced'
    ELSE 'has no policy' END AS problem
FROM pg_class c
WHERE c.relnamespace = 'app'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
  AND c.relname <> ALL (ARRAY[
    'alembic_version' -- written by the owner alone, granted to nobody
  ])
  AND NOT (c.relrowsecurity AND c.relforcerowsecurity AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid));
