-- Rows live in logged tables of this database. A foreign table's rows are elsewhere, an unlogged one is emptied by a
-- crash, a child by inheritance is read past its parent's policies, and a sequence counts what all orgs do.
SELECT c.oid::regclass::text AS object, fault AS problem
FROM pg_class c CROSS JOIN LATERAL (VALUES
  (c.relkind = 'f', 'is a foreign table'),
  (c.relkind = 'S', 'is a sequence'),
  (c.relkind IN ('r', 'p', 'S') AND c.relpersistence <> 'p', 'is not logged'),
  (c.relkind = 'r' AND NOT c.relispartition AND EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = c.oid),
    'inherits from a table')
) AS faults (there, fault)
WHERE there AND c.relnamespace IN ('app'::regnamespace, 'tenancy'::regnamespace, 'public'::regnamespace);
