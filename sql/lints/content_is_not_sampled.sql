-- The planner keeps no samples of what people wrote, what is derived from it, or who they are: they would outlive the
-- row. Text, bytes, JSON and vectors have a statistics target of 0 unless they are listed as no content.
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
    -- what an org is called and how its people and programs are recognised
    'orgs.slug', 'orgs.name', 'token_audiences.issuer', 'token_audiences.audience', 'token_audiences.claim_name',
    'providers.issuer', 'providers.audience', 'providers.claim_name', 'providers.claim_value', 'providers.client_id',
    'providers.scopes', 'providers.claim_rules', 'providers.secret_name',
    'clients.client_id', 'clients.name', 'clients.kind', 'clients.scopes', 'clients.replaced_by', 'users.issuer',
    'org_policies.model_writes', 'org_policies.allowed_domains',
    -- one of a few words that Keepline chose
    'audit_details.change', 'audit_events.action', 'audit_events.outcome', 'audit_events.target_kind',
    'audit_events.writer', 'block_lines.category', 'block_lines.confirmed_by', 'block_lines.provenance',
    'block_lines.source', 'blocks.updated_by_writer',
    -- names, ids and counts of acts, and random or salted bytes
    'audit_events.client', 'audit_events.commitments', 'audit_events.counts', 'audit_events.request_id',
    'audit_events.target_id', 'blocks.updated_by_client', 'web_sessions.digest'
  ])
UNION ALL
SELECT i.relname::text, 'is over an expression, of which it keeps samples'
FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_attribute a ON a.attrelid = i.oid
WHERE i.relnamespace = 'app'::regnamespace AND x.indexprs IS NOT NULL AND x.indkey[a.attnum - 1] = 0
  AND a.attstattarget IS DISTINCT FROM 0
UNION ALL
SELECT s.stxname::text, 'keeps extended statistics' FROM pg_statistic_ext s WHERE s.stxnamespace = 'app'::regnamespace;
