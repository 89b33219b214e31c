-- The planner keeps no samples of what people wrote, what is derived from it, or how anybody is called: they would
-- outlive the row, and the cost of a plan shows them to every org, letter by letter. Text, bytes, JSON and vectors have
-- a statistics target of 0 unless Keepline chose the words.
SELECT format('%s.%s', c.relname, a.attname) AS object, 'has no statistics target of 0' AS problem
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_type e ON e.oid = t.typelem AND t.typcategory = 'A'
WHERE c.relnamespace = 'app'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
  AND coalesce(e.typname, t.typname) IN (
    'text', 'varchar', 'bpchar', 'bytea', 'json', 'jsonb', 'xml', 'tsvector', 'vector', 'halfvec', 'sparsevec', 'bit',
    'varbit'
  )
  AND a.attstattarget IS DISTINCT FROM 0
  AND format('%s.%s', c.relname, a.attname) <> ALL (ARRAY[
    'alembic_version.version_num',
    -- one of a few words that Keepline chose
    'audit_details.change', 'audit_events.action', 'audit_events.outcome', 'audit_events.target_kind',
    'audit_events.writer', 'block_lines.category', 'block_lines.confirmed_by', 'block_lines.provenance',
    'block_lines.source', 'blocks.updated_by_writer', 'clients.kind', 'org_policies.model_writes'
  ])
UNION ALL
SELECT i.relname::text, 'is over an expression, of which it keeps samples'
FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_attribute a ON a.attrelid = i.oid
WHERE i.relnamespace = 'app'::regnamespace AND x.indexprs IS NOT NULL AND x.indkey[a.attnum - 1] = 0
  AND a.attstattarget IS DISTINCT FROM 0
UNION ALL
SELECT s.stxname::text, 'keeps extended statistics' FROM pg_statistic_ext s WHERE s.stxnamespace = 'app'::regnamespace;
