-- Web sessions and sign-outs, by ticket: found by the digest of the cookie, renewed with what the provider confirms,
-- ended by the person or by the provider.

-- Ended by 8 idle hours or 7 days by the database's clock, or when the provider is disconnected. The last use is
-- written at most once a minute. `rights_age` is how many seconds ago the provider confirmed roles and teams.
CREATE OR REPLACE FUNCTION tenancy.find_session(ticket text)
RETURNS TABLE (session_id uuid, org_id uuid, org_slug text, org_name text, user_id uuid, user_name text,
  user_email text, roles integer, team_ids uuid[], led_team_ids uuid[], provider_id uuid, subject text,
  rights_age double precision, renewable boolean, claims bytea)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  asked jsonb := tenancy.open_ticket(ticket, 'find_session');
  presented bytea := decode(asked ->> 'digest', 'hex');
BEGIN
  UPDATE app.web_sessions s SET last_seen_at = clock_timestamp()
  WHERE s.digest = presented AND s.last_seen_at < clock_timestamp() - interval '1 minute'
    AND s.last_seen_at > clock_timestamp() - interval '8 hours'
    AND s.created_at > clock_timestamp() - interval '7 days';
  RETURN QUERY
    SELECT s.id, s.org_id, o.slug, o.name, s.user_id, u.name, u.email, s.roles, s.team_ids, s.led_team_ids,
      p.id, u.subject, extract(epoch FROM clock_timestamp() - s.rights_at)::double precision,
      s.refresh_token IS NOT NULL, s.claims
    FROM app.web_sessions s
    JOIN app.users u ON u.org_id = s.org_id AND u.id = s.user_id
    JOIN app.orgs o ON o.org_id = s.org_id
    JOIN app.providers p ON p.org_id = s.org_id AND p.id = s.provider_id AND p.disconnected_at IS NULL
    WHERE s.digest = presented
      AND s.last_seen_at > clock_timestamp() - interval '8 hours'
      AND s.created_at > clock_timestamp() - interval '7 days';
END
$f$;

-- Starts a session for who has just signed in, as the process says that holds the key: a statement of somebody else's
-- in a bound transaction could otherwise leave the person a session whose secret it chose.
CREATE OR REPLACE FUNCTION tenancy.start_session(ticket text) RETURNS uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  asked jsonb := tenancy.open_ticket(ticket, 'start_session');
  started uuid;
BEGIN
  INSERT INTO app.web_sessions (org_id, user_id, digest, roles, team_ids, led_team_ids, provider_id,
    provider_session, refresh_token, claims)
  VALUES ((asked ->> 'org_id')::uuid, (asked ->> 'user_id')::uuid, decode(asked ->> 'digest', 'hex'),
    (asked ->> 'roles')::integer, ARRAY(SELECT jsonb_array_elements_text(asked -> 'team_ids'))::uuid[],
    ARRAY(SELECT jsonb_array_elements_text(asked -> 'led_team_ids'))::uuid[], (asked ->> 'provider_id')::uuid,
    asked ->> 'provider_session', decode(asked ->> 'refresh_token', 'hex'), decode(asked ->> 'claims', 'hex'))
  RETURNING id INTO started;
  RETURN started;
END
$f$;

-- Gives the sealed refresh token to one caller at a time: providers end the session of a token that is used twice.
-- Whoever was given it has 90 s, longer than a provider may take to answer, before another may try.
CREATE OR REPLACE FUNCTION tenancy.begin_renewal(ticket text) RETURNS TABLE (refresh_token bytea, began_at text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  asked jsonb := tenancy.open_ticket(ticket, 'begin_renewal');
BEGIN
  RETURN QUERY
  UPDATE app.web_sessions s SET renewal_began_at = clock_timestamp()
  WHERE s.digest = decode(asked ->> 'digest', 'hex') AND s.refresh_token IS NOT NULL
    AND s.rights_at < clock_timestamp() - make_interval(secs => (asked ->> 'older_than')::double precision)
    AND (s.renewal_began_at IS NULL OR s.renewal_began_at < clock_timestamp() - interval '90 seconds')
  RETURNING s.refresh_token, s.renewal_began_at::text;
END
$f$;

-- Keeps what the provider confirmed; a session that was ended meanwhile stays ended, and one that another caller began
-- to renew meanwhile is that caller's.
CREATE OR REPLACE FUNCTION tenancy.renew_session(ticket text) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  asked jsonb := tenancy.open_ticket(ticket, 'renew_session');
BEGIN
  UPDATE app.web_sessions s SET roles = (asked ->> 'roles')::integer,
    team_ids = ARRAY(SELECT jsonb_array_elements_text(asked -> 'team_ids'))::uuid[],
    led_team_ids = ARRAY(SELECT jsonb_array_elements_text(asked -> 'led_team_ids'))::uuid[],
    refresh_token = decode(asked ->> 'refresh_token', 'hex'), claims = decode(asked ->> 'claims', 'hex'),
    rights_at = clock_timestamp(), renewal_began_at = NULL
  WHERE s.digest = decode(asked ->> 'digest', 'hex')
    AND s.renewal_began_at = (asked ->> 'began_at')::timestamptz;
  RETURN FOUND;
END
$f$;

-- Forgets a refresh token that can't be used: the session goes on as one without, until its rights are too old.
CREATE OR REPLACE FUNCTION tenancy.forget_refresh_token(ticket text) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  asked jsonb := tenancy.open_ticket(ticket, 'forget_refresh_token');
BEGIN
  UPDATE app.web_sessions s SET refresh_token = NULL, renewal_began_at = NULL
  WHERE s.digest = decode(asked ->> 'digest', 'hex');
END
$f$;

-- Ends one session whose provider does not confirm it any more, with an entry in the trail.
CREATE OR REPLACE FUNCTION tenancy.end_session(ticket text) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  asked jsonb := tenancy.open_ticket(ticket, 'end_session');
BEGIN
  WITH ended AS (
    DELETE FROM app.web_sessions s WHERE s.digest = decode(asked ->> 'digest', 'hex')
    RETURNING s.org_id, s.user_id, s.id
  )
  INSERT INTO app.audit_events (org_id, at, user_id, client, writer, action, target_kind, target_id, outcome)
  SELECT e.org_id, tenancy.stored_time(), e.user_id, 'identity provider', 'system', 'session.end_unconfirmed', 'session',
    e.id::text, 'done'
  FROM ended e;
END
$f$;

-- What a provider's logout token asks (OpenID Connect Back-Channel Logout 1.0): with a provider's session, that one
-- ends; with a subject alone, every session of theirs. Either way the subject's older tokens are refused from now on.
-- Answers how many sessions ended, or NULL for a token that was used before.
CREATE OR REPLACE FUNCTION tenancy.sign_out_by_provider(ticket text) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  asked jsonb := tenancy.open_ticket(ticket, 'sign_out_by_provider');
  org uuid := (asked ->> 'org_id')::uuid;
  provider uuid := (asked ->> 'provider_id')::uuid;
  people uuid[];
  ended bigint;
BEGIN
  DELETE FROM tenancy.used_logout_tokens t WHERE t.expires_at < clock_timestamp();
  INSERT INTO tenancy.used_logout_tokens (digest, expires_at)
  VALUES (sha256(convert_to(concat_ws(' ', org, provider, asked ->> 'token_id'), 'UTF8')),
    to_timestamp((asked ->> 'remembered_until')::double precision))
  ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  SELECT array_agg(DISTINCT found.user_id) INTO people FROM (
    SELECT u.id AS user_id FROM app.users u
    WHERE u.org_id = org AND u.provider_id = provider AND u.issuer = asked ->> 'issuer'
      AND u.subject = asked ->> 'subject'
    UNION ALL
    SELECT s.user_id FROM app.web_sessions s
    WHERE asked ->> 'subject' IS NULL AND s.org_id = org AND s.provider_id = provider
      AND s.provider_session = asked ->> 'provider_session'
  ) AS found;
  -- The provider's clock may be ahead: what it issued before this logout is older by its own count.
  UPDATE app.users u
  SET signed_out_at = greatest(u.signed_out_at, clock_timestamp(),
    to_timestamp((asked ->> 'issued_at')::double precision))
  WHERE u.org_id = org AND u.id = ANY (people);
  DELETE FROM app.web_sessions s
  WHERE s.org_id = org AND s.user_id = ANY (people) AND s.provider_id = provider
    AND (asked ->> 'provider_session' IS NULL OR s.provider_session IS NULL
      OR s.provider_session = asked ->> 'provider_session');
  GET DIAGNOSTICS ended = ROW_COUNT;
  INSERT INTO app.audit_events (org_id, at, user_id, actor_id, client, writer, action, target_kind, target_id,
    outcome, counts, request_id)
  SELECT org, tenancy.stored_time(), person, NULL, 'identity provider', 'system', 'session.end_by_provider', 'user',
    person::text, 'done', jsonb_build_object('sessions', ended), asked ->> 'request_id'
  FROM unnest(people) AS person;
  RETURN ended;
END
$f$;

-- Ends every session of the bound person and refuses their older tokens. Answers how many sessions ended.
CREATE OR REPLACE FUNCTION tenancy.sign_out_everywhere() RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  org uuid := tenancy.org_id();
  person uuid := tenancy.user_id();
  ended bigint;
BEGIN
  IF org IS NULL OR person IS NULL THEN
    RAISE EXCEPTION 'signing out needs an identity' USING ERRCODE = '28000';
  END IF;
  UPDATE app.users u SET signed_out_at = greatest(u.signed_out_at, clock_timestamp())
  WHERE u.org_id = org AND u.id = person;
  DELETE FROM app.web_sessions s WHERE s.org_id = org AND s.user_id = person;
  GET DIAGNOSTICS ended = ROW_COUNT;
  RETURN ended;
END
$f$;

-- Called as a transaction is bound for the bearer of a token: the person did not sign out since it was issued, and
-- the client is not revoked. Within the same round trip, so that either takes effect at once.
CREATE OR REPLACE FUNCTION tenancy.admit(issued_at bigint, client text) RETURNS void
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  org uuid := tenancy.org_id();
  person uuid := tenancy.user_id();
  signed_out timestamptz;
  registered boolean;
BEGIN
  SELECT u.signed_out_at, EXISTS (SELECT FROM app.clients c WHERE c.org_id = org AND c.client_id = admit.client
    AND (c.revoked_at IS NULL OR c.revoked_at > clock_timestamp()))
  INTO signed_out, registered FROM app.users u WHERE u.org_id = org AND u.id = person;
  IF NOT FOUND OR to_timestamp(issued_at) <= signed_out THEN
    RAISE EXCEPTION 'keepline token signed out' USING ERRCODE = 'KL001';
  END IF;
  IF NOT registered THEN
    RAISE EXCEPTION 'keepline client revoked' USING ERRCODE = 'KL002';
  END IF;
END
$f$;

REVOKE ALL ON FUNCTION tenancy.find_session(text), tenancy.start_session(text), tenancy.begin_renewal(text),
  tenancy.renew_session(text), tenancy.forget_refresh_token(text), tenancy.end_session(text),
  tenancy.sign_out_by_provider(text), tenancy.sign_out_everywhere(), tenancy.admit(bigint, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenancy.find_session(text), tenancy.start_session(text), tenancy.begin_renewal(text),
  tenancy.renew_session(text), tenancy.forget_refresh_token(text), tenancy.end_session(text),
  tenancy.sign_out_by_provider(text), tenancy.sign_out_everywhere(), tenancy.admit(bigint, text) TO keepline_app;
