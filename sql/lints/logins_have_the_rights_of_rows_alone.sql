-- The app and the worker have no right that policies do not bind: TRUNCATE takes every row, REFERENCES and triggers
-- look at what others store, MAINTAIN locks and rewrites.
SELECT c.oid::regclass::text AS object, format('%s has %s', r.name, held.name) AS problem
FROM pg_class c, unnest(ARRAY['public', 'keepline_app', 'keepline_worker']) AS r (name),
  unnest(ARRAY['TRUNCATE', 'REFERENCES', 'TRIGGER', 'MAINTAIN']) AS held (name)
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND c.relnamespace IN ('app'::regnamespace, 'tenancy'::regnamespace, 'public'::regnamespace)
  AND (has_table_privilege(r.name, c.oid, held.name)
    OR held.name = 'REFERENCES' AND has_any_column_privilege(r.name, c.oid, 'REFERENCES'));
