-- Look-ups that happen before an identity is known. Each takes a ticket, answers one narrow question, and is the
-- only way to it: with no identity the app role can't list orgs, providers, clients, users or sessions.

-- CREATE OR REPLACE can't change the columns of an answer, so that a function of an earlier release goes first. Only
-- then: a call that is under way as its function goes fails, and migrate also runs while people work.
DO $drop$
DECLARE
  outdated regprocedure;
BEGIN
  FOR outdated IN
    SELECT p.oid FROM pg_proc p
    JOIN (VALUES ('find_sign_in_provider', 'claim_rules jsonb'), ('find_token_providers', 'claim_rules jsonb'),
      ('find_session', 'claims bytea'), ('begin_renewal', 'began_at text')) AS newest (name, last_column) ON newest.name = p.proname
    WHERE p.pronamespace = 'tenancy'::regnamespace
      AND position(newest.last_column IN pg_get_function_result(p.oid)) = 0
  LOOP
    EXECUTE format('DROP FUNCTION %s', outdated);
  END LOOP;
END
$drop$;

-- The provider by which people of an org sign in.
CREATE OR REPLACE FUNCTION tenancy.find_sign_in_provider(ticket text)
RETURNS TABLE (org_id uuid, org_slug text, org_name text, provider_id uuid, issuer text, audience text,
  claim_name text, claim_value text, client_id text, client_secret bytea, secret_name text, scopes text,
  claim_rules jsonb)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  asked jsonb := tenancy.open_ticket(ticket, 'find_sign_in_provider');
BEGIN
  RETURN QUERY
    SELECT o.org_id, o.slug, o.name, p.id, p.issuer, p.audience, p.claim_name, p.claim_value,
      p.client_id, p.client_secret, p.secret_name, p.scopes, p.claim_rules
    FROM app.orgs o JOIN app.providers p ON p.org_id = o.org_id
    WHERE o.slug = asked ->> 'slug' AND p.for_sign_in AND p.disconnected_at IS NULL;
END
$f$;

-- One provider of an org by its id: a sign-in ends, and a session is renewed, where it began.
CREATE OR REPLACE FUNCTION tenancy.find_provider(ticket text)
RETURNS TABLE (org_id uuid, org_slug text, org_name text, provider_id uuid, issuer text, audience text,
  claim_name text, claim_value text, client_id text, client_secret bytea, secret_name text, scopes text,
  claim_rules jsonb)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  asked jsonb := tenancy.open_ticket(ticket, 'find_provider');
BEGIN
  RETURN QUERY
    SELECT o.org_id, o.slug, o.name, p.id, p.issuer, p.audience, p.claim_name, p.claim_value,
      p.client_id, p.client_secret, p.secret_name, p.scopes, p.claim_rules
    FROM app.orgs o JOIN app.providers p ON p.org_id = o.org_id
    WHERE p.org_id = (asked ->> 'org_id')::uuid AND p.id = (asked ->> 'provider_id')::uuid
      AND p.disconnected_at IS NULL;
END
$f$;

-- The providers, possibly of several orgs, whose tokens name an issuer; without their secrets.
CREATE OR REPLACE FUNCTION tenancy.find_token_providers(ticket text)
RETURNS TABLE (org_id uuid, org_slug text, org_name text, provider_id uuid, issuer text, audience text,
  claim_name text, claim_value text, client_id text, client_secret bytea, secret_name text, scopes text,
  claim_rules jsonb)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  asked jsonb := tenancy.open_ticket(ticket, 'find_token_providers');
BEGIN
  RETURN QUERY
    SELECT o.org_id, o.slug, o.name, p.id, p.issuer, p.audience, p.claim_name, p.claim_value,
      p.client_id, NULL::bytea, NULL::text, p.scopes, p.claim_rules
    FROM app.providers p JOIN app.orgs o ON o.org_id = p.org_id
    WHERE p.issuer = asked ->> 'issuer' AND p.disconnected_at IS NULL;
END
$f$;

-- A registered client that is not revoked; its last use is written at most once a minute.
CREATE OR REPLACE FUNCTION tenancy.find_client(ticket text)
RETURNS TABLE (client_id text, name text, kind text, scopes text[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  asked jsonb := tenancy.open_ticket(ticket, 'find_client');
  org uuid := (asked ->> 'org_id')::uuid;
BEGIN
  UPDATE app.clients c SET last_used_at = clock_timestamp()
  WHERE c.org_id = org AND c.client_id = asked ->> 'client_id'
    AND (c.revoked_at IS NULL OR c.revoked_at > clock_timestamp())
    AND (c.last_used_at IS NULL OR c.last_used_at < clock_timestamp() - interval '1 minute');
  RETURN QUERY
    SELECT c.client_id, c.name, c.kind, c.scopes FROM app.clients c
    WHERE c.org_id = org AND c.client_id = asked ->> 'client_id'
      AND (c.revoked_at IS NULL OR c.revoked_at > clock_timestamp());
END
$f$;

-- Finds or makes the user of (provider, issuer, subject); ten first requests at once make one row and one entry
-- in the trail. Name and e-mail are shown, never matched: they follow whatever the provider said last. A new user's
-- memory is on or off as the org's policy says.
CREATE OR REPLACE FUNCTION tenancy.resolve_user(ticket text) RETURNS uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  asked jsonb := tenancy.open_ticket(ticket, 'resolve_user');
  org uuid := (asked ->> 'org_id')::uuid;
  found_id uuid;
BEGIN
  INSERT INTO app.users AS u (org_id, provider_id, issuer, subject, name, email, memory_on, created_at)
  VALUES (org, (asked ->> 'provider_id')::uuid, asked ->> 'issuer', asked ->> 'subject',
    asked ->> 'name', asked ->> 'email',
    coalesce((SELECT p.memory_default FROM app.org_policies p WHERE p.org_id = org), true), tenancy.stored_time())
  ON CONFLICT (org_id, provider_id, issuer, subject) DO NOTHING
  RETURNING u.id INTO found_id;
  IF found_id IS NOT NULL THEN
    INSERT INTO app.audit_events (org_id, at, user_id, actor_id, client, writer, action, target_kind, target_id,
      outcome, request_id)
    VALUES (org, tenancy.stored_time(), found_id, found_id, asked ->> 'client', 'system', 'user.create', 'user',
      found_id::text, 'done', asked ->> 'request_id');
    RETURN found_id;
  END IF;
  SELECT u.id INTO found_id FROM app.users u
  WHERE u.org_id = org AND u.provider_id = (asked ->> 'provider_id')::uuid
    AND u.issuer = asked ->> 'issuer' AND u.subject = asked ->> 'subject';
  UPDATE app.users u SET name = asked ->> 'name', email = asked ->> 'email'
  WHERE u.org_id = org AND u.id = found_id
    AND (u.name, u.email) IS DISTINCT FROM (asked ->> 'name', asked ->> 'email');
  RETURN found_id;
END
$f$;

-- A sign-in under way: keyed by its state, tied to the browser that began it, readable once, for ten minutes.
CREATE OR REPLACE FUNCTION tenancy.keep_sign_in(ticket text) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  asked jsonb := tenancy.open_ticket(ticket, 'keep_sign_in');
BEGIN
  DELETE FROM tenancy.sign_ins WHERE expires_at < clock_timestamp();
  INSERT INTO tenancy.sign_ins (state_digest, browser_digest, sealed, expires_at)
  VALUES (decode(asked ->> 'state_digest', 'hex'), decode(asked ->> 'browser_digest', 'hex'),
    decode(asked ->> 'sealed', 'hex'), clock_timestamp() + interval '10 minutes');
END
$f$;

CREATE OR REPLACE FUNCTION tenancy.take_sign_in(ticket text) RETURNS bytea
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  asked jsonb := tenancy.open_ticket(ticket, 'take_sign_in');
  taken bytea;
BEGIN
  DELETE FROM tenancy.sign_ins s
  WHERE s.state_digest = decode(asked ->> 'state_digest', 'hex')
    AND s.browser_digest = decode(asked ->> 'browser_digest', 'hex')
    AND s.expires_at > clock_timestamp()
  RETURNING s.sealed INTO taken;
  RETURN taken;
END
$f$;

REVOKE ALL ON FUNCTION tenancy.find_sign_in_provider(text), tenancy.find_provider(text),
  tenancy.find_token_providers(text), tenancy.find_client(text), tenancy.resolve_user(text),
  tenancy.keep_sign_in(text), tenancy.take_sign_in(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenancy.find_sign_in_provider(text), tenancy.find_provider(text),
  tenancy.find_token_providers(text), tenancy.find_client(text), tenancy.resolve_user(text),
  tenancy.keep_sign_in(text), tenancy.take_sign_in(text) TO keepline_app;
