-- Audit: the one way in. Org, actor and time come from the verified identity and the database's clock, so that
-- nobody writes an entry for another person, another org or another time.

-- Writes an entry about the caller's own things and returns its id. `details` is a JSON array of
-- {"change": "removed"|"added", "text", "digest" (hex), "expires_at" (or null)}; each gets a salt of its own and a
-- commitment sha256(salt || change || ':' || text), which stays in the entry when the detail is removed.
CREATE OR REPLACE FUNCTION tenancy.append_audit(client text, writer text, action text, target_kind text,
  target_id text, outcome text, counts jsonb, request_id text, details jsonb) RETURNS uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  org uuid := tenancy.org_id();
  person uuid := tenancy.user_id();
  event uuid := uuidv7();
  detail jsonb;
  salt bytea;
  salts bytea[] := '{}';
  commitments bytea[] := '{}';
BEGIN
  IF org IS NULL OR person IS NULL THEN
    RAISE EXCEPTION 'an audit entry needs an identity' USING ERRCODE = '28000';
  END IF;
  FOR detail IN SELECT value FROM jsonb_array_elements(details) LOOP
    salt := uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid());
    salts := salts || salt;
    commitments := commitments
      || sha256(salt || convert_to((detail ->> 'change') || ':' || (detail ->> 'text'), 'UTF8'));
  END LOOP;
  INSERT INTO app.audit_events (org_id, id, at, user_id, actor_id, client, writer, action, target_kind, target_id,
    outcome, counts, request_id, commitments)
  VALUES (org, event, tenancy.stored_time(), person, person, client, writer, action, target_kind, target_id,
    outcome, coalesce(counts, '{}'), request_id, commitments);
  INSERT INTO app.audit_details (org_id, user_id, event_id, place, change, text, digest, salt, expires_at)
  SELECT org, person, event, d.place, d.value ->> 'change', d.value ->> 'text',
    decode(d.value ->> 'digest', 'hex'), salts[d.place], (d.value ->> 'expires_at')::timestamptz
  FROM jsonb_array_elements(details) WITH ORDINALITY AS d (value, place);
  RETURN event;
END
$f$;

-- Removes details of the caller's own entries: those with one of the digests, those of one entry's place, or all
-- of them (both NULL). The entries and their commitments stay. Returns how many went.
CREATE OR REPLACE FUNCTION tenancy.remove_audit_details(digests bytea[], event uuid, place integer) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  org uuid := tenancy.org_id();
  person uuid := tenancy.user_id();
  removed bigint;
BEGIN
  IF org IS NULL OR person IS NULL THEN
    RAISE EXCEPTION 'removing details needs an identity' USING ERRCODE = '28000';
  END IF;
  DELETE FROM app.audit_details d
  WHERE d.org_id = org AND d.user_id = person
    AND (remove_audit_details.digests IS NULL OR d.digest = ANY (remove_audit_details.digests))
    AND (remove_audit_details.event IS NULL OR d.event_id = remove_audit_details.event)
    AND (remove_audit_details.place IS NULL OR d.place = remove_audit_details.place);
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END
$f$;

-- Lets details of the caller's own entries go at a time, or at the earlier one that they already have: what the model
-- removed is kept for a while, wherever it stands. Returns how many details that concerns.
CREATE OR REPLACE FUNCTION tenancy.expire_audit_details(digests bytea[], until timestamptz) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  org uuid := tenancy.org_id();
  person uuid := tenancy.user_id();
  concerned bigint;
BEGIN
  IF org IS NULL OR person IS NULL THEN
    RAISE EXCEPTION 'expiring details needs an identity' USING ERRCODE = '28000';
  END IF;
  UPDATE app.audit_details d SET expires_at = least(coalesce(d.expires_at, 'infinity'), until)
  WHERE d.org_id = org AND d.user_id = person AND d.digest = ANY (digests);
  GET DIAGNOSTICS concerned = ROW_COUNT;
  RETURN concerned;
END
$f$;

REVOKE ALL ON FUNCTION tenancy.append_audit(text, text, text, text, text, text, jsonb, text, jsonb),
  tenancy.remove_audit_details(bytea[], uuid, integer), tenancy.expire_audit_details(bytea[], timestamptz)
  FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenancy.append_audit(text, text, text, text, text, text, jsonb, text, jsonb),
  tenancy.remove_audit_details(bytea[], uuid, integer), tenancy.expire_audit_details(bytea[], timestamptz)
  TO keepline_app, keepline_worker;
