-- org_id leads every primary key, unique constraint and index: a key over all orgs tells one of them, by a conflict,
-- what another has stored.
SELECT i.relname::text AS object, format('does not begin with org_id (on %s)', c.relname) AS problem
FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class c ON c.oid = x.indrelid
WHERE c.relnamespace = 'app'::regnamespace
  AND NOT EXISTS (
    SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum = x.indkey[0] AND a.attname = 'org_id'
  )
  AND i.relname <> ALL (ARRAY[
    'alembic_version_pkc',
    'orgs_slug_key',           -- a short name is how a sign-in names the org
    'token_audiences_pkey',    -- an issuer and audience is told apart in one way, over all orgs
    'token_audiences_issuer_audience_claim_name_key',
    'providers_belong_to_one_org', -- a token can't belong to two orgs
    'web_sessions_digest_key', -- a cookie is looked up before its org is known
    'audit_details_by_expiry'  -- retention runs over all orgs; it is no constraint
  ]);
