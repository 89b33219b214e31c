-- Connecting and disconnecting identity providers: admins' acts that touch what spans orgs, or what others' sessions
-- are, so the guard does them. Each raises 28000 with nobody bound and 42501 for whoever is no admin.

-- An issuer that another org uses is refused (KL003), and nothing is said of whom: a token may name several audiences,
-- so whoever connected the issuer with one of them would make other orgs' tokens fit twice, and so refused. Where orgs
-- do share an issuer, the operator connects it. KL004: the org has as many as it may.
CREATE OR REPLACE FUNCTION tenancy.connect_provider(issuer text, audience text, claim_name text, claim_value text,
  client_id text, client_secret bytea, scopes text, claim_rules jsonb) RETURNS uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  org uuid := tenancy.org_id();
  made uuid;
BEGIN
  IF org IS NULL THEN
    RAISE EXCEPTION 'connecting a provider needs an identity' USING ERRCODE = '28000';
  END IF;
  IF tenancy.roles() & 2 = 0 THEN
    RAISE EXCEPTION 'connecting a provider needs an admin' USING ERRCODE = '42501';
  END IF;
  IF (SELECT count(*) FROM app.providers p WHERE p.org_id = org) >= 20 THEN
    RAISE EXCEPTION 'keepline providers full' USING ERRCODE = 'KL004';
  END IF;
  IF EXISTS (SELECT FROM app.providers p WHERE p.issuer = connect_provider.issuer AND p.org_id <> org) THEN
    RAISE EXCEPTION 'keepline provider taken' USING ERRCODE = 'KL003';
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

-- From now on no token of the provider is believed, and nothing of before comes back when it is connected again: its
-- sessions go with their refresh tokens, and its people's older tokens are refused. Answers how many sessions ended, or
-- NULL where the org has no such provider, it is disconnected already, or people sign in by it.
CREATE OR REPLACE FUNCTION tenancy.disconnect_provider(provider uuid) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  org uuid := tenancy.org_id();
  ended bigint;
BEGIN
  IF org IS NULL THEN
    RAISE EXCEPTION 'disconnecting a provider needs an identity' USING ERRCODE = '28000';
  END IF;
  IF tenancy.roles() & 2 = 0 THEN
    RAISE EXCEPTION 'disconnecting a provider needs an admin' USING ERRCODE = '42501';
  END IF;
  UPDATE app.providers p SET disconnected_at = clock_timestamp()
  WHERE p.org_id = org AND p.id = provider AND p.disconnected_at IS NULL AND NOT p.for_sign_in;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  UPDATE app.users u SET signed_out_at = greatest(u.signed_out_at, clock_timestamp())
  WHERE u.org_id = org AND u.provider_id = provider;
  DELETE FROM app.web_sessions s WHERE s.org_id = org AND s.provider_id = provider;
  GET DIAGNOSTICS ended = ROW_COUNT;
  RETURN ended;
END
$f$;

-- Believes a disconnected provider's tokens once more; people sign in where they did meanwhile. A session that a sign-in
-- began as the provider was being disconnected goes too. Answers whether there was anything to connect.
CREATE OR REPLACE FUNCTION tenancy.reconnect_provider(provider uuid) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  org uuid := tenancy.org_id();
BEGIN
  IF org IS NULL THEN
    RAISE EXCEPTION 'connecting a provider again needs an identity' USING ERRCODE = '28000';
  END IF;
  IF tenancy.roles() & 2 = 0 THEN
    RAISE EXCEPTION 'connecting a provider again needs an admin' USING ERRCODE = '42501';
  END IF;
  UPDATE app.providers p SET disconnected_at = NULL, for_sign_in = false
  WHERE p.org_id = org AND p.id = provider AND p.disconnected_at IS NOT NULL;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  DELETE FROM app.web_sessions s WHERE s.org_id = org AND s.provider_id = provider;
  RETURN true;
END
$f$;

REVOKE ALL ON FUNCTION tenancy.connect_provider(text, text, text, text, text, bytea, text, jsonb),
  tenancy.disconnect_provider(uuid), tenancy.reconnect_provider(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenancy.connect_provider(text, text, text, text, text, bytea, text, jsonb),
  tenancy.disconnect_provider(uuid), tenancy.reconnect_provider(uuid) TO keepline_app;
