-- Connecting an identity provider: an admin's act that touches what spans orgs, so the guard does it. An issuer and
-- audience that belong to another org, or are told apart otherwise, are refused alike (KL003) and nothing is said of
-- whom they belong to.
CREATE OR REPLACE FUNCTION tenancy.connect_provider(issuer text, audience text, claim_name text, claim_value text,
  client_id text, client_secret bytea, scopes text, claim_rules jsonb) RETURNS uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  org uuid := tenancy.org_id();
  made uuid;
BEGIN
  IF org IS NULL OR tenancy.roles() & 2 = 0 THEN
    RAISE EXCEPTION 'connecting a provider needs an admin' USING ERRCODE = '28000';
  END IF;
  INSERT INTO app.token_audiences (issuer, audience, claim_name)
  VALUES (connect_provider.issuer, connect_provider.audience, connect_provider.claim_name) ON CONFLICT DO NOTHING;
  INSERT INTO app.providers (org_id, issuer, audience, claim_name, claim_value, client_id, client_secret, scopes,
    claim_rules, for_sign_in, created_at)
  VALUES (org, connect_provider.issuer, connect_provider.audience, connect_provider.claim_name,
    connect_provider.claim_value, connect_provider.client_id, connect_provider.client_secret,
    connect_provider.scopes, connect_provider.claim_rules, false, tenancy.stored_time())
  RETURNING id INTO made;
  RETURN made;
EXCEPTION WHEN unique_violation OR foreign_key_violation THEN
  RAISE EXCEPTION 'keepline provider taken' USING ERRCODE = 'KL003';
END
$f$;
REVOKE ALL ON FUNCTION tenancy.connect_provider(text, text, text, text, text, bytea, text, jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenancy.connect_provider(text, text, text, text, text, bytea, text, jsonb) TO keepline_app;
