-- Identity: a signed token, bound once per transaction as `keepline.identity` and verified on every use.
-- Layout, one-based: mac 1-64, version 65-67, key id 68-69, expiry 70-79, backend pid 80-87, org 88-123,
-- user 124-159, roles 160-167, teams;led teams from 168. `tenancy/identity.py` writes it.
--
-- The key is used in the plain IF expression alone: in a statement that plpgsql plans, it would be a parameter
-- that debug_print_plan writes out. Unset is nobody; forged or expired is an error, never a silent nothing.
-- It lives at most 60 s by this clock, whatever the clock of who signed it said.
-- FOUND comes first: with an unknown key the MAC's comparison is NULL, and the casts behind it would be tried.

DO $generate$
DECLARE
  accessor record;
BEGIN
  FOR accessor IN
    SELECT * FROM (VALUES
      ('org_id', 'uuid', 'substr(v, 88, 36)::uuid', 'The org of the bound identity; NULL when nobody is bound.'),
      ('user_id', 'uuid', 'substr(v, 124, 36)::uuid', 'The user of the bound identity; NULL when nobody is bound.'),
      ('roles', 'integer', '(''x'' || substr(v, 160, 8))::bit(32)::integer', 'Role bits: 1 reviewer, 2 admin.'),
      ('team_ids', 'uuid[]', 'split_part(substr(v, 168), '';'', 1)::uuid[]', 'Teams the user is in.'),
      ('led_team_ids', 'uuid[]', 'split_part(substr(v, 168), '';'', 2)::uuid[]', 'Teams the user leads.')
    ) AS t (name, type, expression, purpose)
  LOOP
    EXECUTE format($template$
      CREATE OR REPLACE FUNCTION tenancy.%1$I() RETURNS %2$s
      LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
      DECLARE
        v text := current_setting('keepline.identity', true);
        i bytea;
        o bytea;
      BEGIN
        IF v IS NULL OR v = '' THEN
          RETURN NULL;
        END IF;
        SELECT k.inner_pad, k.outer_pad INTO i, o FROM tenancy.signing_keys k
        WHERE k.key_id = substr(v, 68, 2) AND clock_timestamp() < k.not_after;
        IF FOUND
          AND left(v, 64) = encode(sha256(o || sha256(i || substring(convert_to(v, 'UTF8') FROM 65))), 'hex')
          AND substr(v, 65, 3) = 'kl1'
          AND substr(v, 70, 10)::bigint > extract(epoch FROM clock_timestamp())
          AND substr(v, 70, 10)::bigint <= extract(epoch FROM clock_timestamp()) + 60
          AND (substr(v, 80, 8) = '00000000' OR substr(v, 80, 8) = lpad(to_hex(pg_backend_pid()), 8, '0'))
        THEN
          RETURN %3$s;
        END IF;
        RAISE EXCEPTION 'keepline identity rejected' USING ERRCODE = '28000',
          HINT = 'The identity bound to this transaction is forged, expired or of another connection.';
      END
      $f$
    $template$, accessor.name, accessor.type, accessor.expression);
    EXECUTE format('COMMENT ON FUNCTION tenancy.%I() IS %L', accessor.name, accessor.purpose);
    EXECUTE format('REVOKE ALL ON FUNCTION tenancy.%I() FROM PUBLIC', accessor.name);
    EXECUTE format(
      'GRANT EXECUTE ON FUNCTION tenancy.%I() TO keepline_app, keepline_worker, keepline_owner', accessor.name);
  END LOOP;
END
$generate$;

-- Opens a ticket (mac, 'kt1', key id, expiry, JSON from character 80): the proof that a look-up before
-- identity was asked for by a process that holds the key. Raises 28000 for anything else.
CREATE OR REPLACE FUNCTION tenancy.open_ticket(v text, purpose text) RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  i bytea;
  o bytea;
BEGIN
  SELECT k.inner_pad, k.outer_pad INTO i, o FROM tenancy.signing_keys k
  WHERE k.key_id = substr(v, 68, 2) AND clock_timestamp() < k.not_after;
  IF FOUND
    AND left(v, 64) = encode(sha256(o || sha256(i || substring(convert_to(v, 'UTF8') FROM 65))), 'hex')
    AND substr(v, 65, 3) = 'kt1'
    AND substr(v, 70, 10)::bigint > extract(epoch FROM clock_timestamp())
    AND substr(v, 70, 10)::bigint <= extract(epoch FROM clock_timestamp()) + 60
  THEN
    IF substr(v, 80)::jsonb ->> 'purpose' = purpose THEN
      RETURN substr(v, 80)::jsonb;
    END IF;
  END IF;
  RAISE EXCEPTION 'keepline ticket rejected' USING ERRCODE = '28000';
END
$f$;
REVOKE ALL ON FUNCTION tenancy.open_ticket(text, text) FROM PUBLIC;

-- The time of what is stored. The demo moves it; in production the shift's table stays empty.
CREATE OR REPLACE FUNCTION tenancy.stored_time() RETURNS timestamptz
LANGUAGE sql VOLATILE PARALLEL RESTRICTED SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
  SELECT clock_timestamp() + coalesce((SELECT c.shift FROM tenancy.clock_shift c), '0'::interval)
$f$;
REVOKE ALL ON FUNCTION tenancy.stored_time() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenancy.stored_time() TO keepline_app, keepline_worker, keepline_owner, keepline_maint;
