-- The roles, schemas and revokes that need a superuser. Run once in Keepline's own database, as a superuser:
--   keepline migrate --print-roles | psql --dbname=keepline
-- It can be run again at any time, which also takes back what the app's or the worker's login changed about its own
-- settings. Passwords or certificates of the three logins are yours to set; a login can change its own password, so let
-- it log in by a certificate or as its system user, and no password will do.

DO $roles$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['keepline_owner', 'keepline_guard', 'keepline_maint', 'keepline_purge'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
      EXECUTE format('CREATE ROLE %I NOLOGIN', name);
    END IF;
  END LOOP;
  FOREACH name IN ARRAY ARRAY['keepline_app', 'keepline_worker', 'keepline_migrate'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
      EXECUTE format('CREATE ROLE %I LOGIN NOINHERIT', name);
    END IF;
  END LOOP;
  -- PUBLIC may connect, create temporary objects and call every function by default; nobody here needs that.
  EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
  EXECUTE format('GRANT CONNECT ON DATABASE %I TO keepline_app, keepline_worker, keepline_migrate', current_database());
END
$roles$;

GRANT keepline_owner, keepline_guard, keepline_maint, keepline_purge TO keepline_migrate
  WITH INHERIT FALSE, SET TRUE;

CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;

CREATE SCHEMA IF NOT EXISTS app AUTHORIZATION keepline_owner;
CREATE SCHEMA IF NOT EXISTS tenancy AUTHORIZATION keepline_guard;

REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO keepline_app, keepline_worker, keepline_owner, keepline_guard, keepline_maint, keepline_purge;
GRANT USAGE ON SCHEMA app TO keepline_app, keepline_worker, keepline_guard, keepline_maint, keepline_purge;
GRANT USAGE ON SCHEMA tenancy TO keepline_app, keepline_worker, keepline_owner, keepline_maint, keepline_purge;

ALTER DEFAULT PRIVILEGES FOR ROLE keepline_owner REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
ALTER DEFAULT PRIVILEGES FOR ROLE keepline_guard REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;

-- Without the language there is no DO block, and injected SQL has no variables, loops or exceptions to work with.
REVOKE USAGE ON LANGUAGE plpgsql FROM PUBLIC;
GRANT USAGE ON LANGUAGE plpgsql TO keepline_owner, keepline_guard;

-- What says how much others store and do, locks and signals that reach other sessions, and what no policy guards.
-- By pattern, because signatures and members differ between versions. A function that PostgreSQL itself keeps from
-- PUBLIC stays as it is; what is taken from PUBLIC here goes to the roles that need it, never to the app.
DO $revokes$
DECLARE
  family record;
  functions text;
BEGIN
  FOR family IN
    SELECT * FROM (VALUES
      -- Activity, sizes, counts of rows, transactions and log positions; currtid2 follows rows past the policies.
      ('^(pg_stat_get_.*|pg_(table|indexes|total_relation|relation|database|tablespace)_size|pg_lock_status'
        || '|pg_(safe_snapshot_)?blocking_pids|pg_isolation_test_session_is_blocked|pg_prepared_xact'
        || '|pg_get_replication_slots|pg_get_multixact_members|pg_export_snapshot|pg_last_committed_xact'
        || '|pg_current_(xact_id|snapshot)(_if_assigned)?|pg_xact_.*|txid_(current|status).*'
        || '|pg_(current|last)_wal_.*|pg_wal_.*|pg_walfile_name.*|pg_available_wal_summaries|pg_get_wal_.*'
        || '|pg_control_.*|pg_sequence_last_value|pg_get_sequence_data|currtid2)$',
        'keepline_owner, keepline_guard, keepline_maint, keepline_purge, keepline_migrate, pg_read_all_stats'),
      -- Waiting for and waking other sessions. NOTIFY as a statement stays, so what it carries proves nothing.
      ('^(pg_(try_)?advisory_.*|pg_notify|pg_notification_queue_usage)$',
        'keepline_owner, keepline_guard, keepline_maint, keepline_purge, keepline_migrate, keepline_worker'),
      -- Ending sessions, SQL run from a string, replication, and large objects.
      ('^(pg_(terminate|cancel)_backend|.*_to_xml(schema|_and_xmlschema)?|ts_stat|lo_.*|loread|lowrite'
        || '|pg_logical_.*|pg_(create|copy)_(logical|physical)_replication_slot|pg_drop_replication_slot'
        || '|pg_replication_slot_advance|pg_sync_replication_slots)$',
        NULL)
    ) AS families (pattern, grantees)
  LOOP
    SELECT string_agg(p.oid::regprocedure::text, ', ') INTO functions FROM pg_proc p
    WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname ~ family.pattern
      AND NOT EXISTS (SELECT FROM pg_init_privs i WHERE i.classoid = 'pg_proc'::regclass AND i.objoid = p.oid);
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', functions);
    IF family.grantees IS NOT NULL THEN
      EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s', functions, family.grantees);
    END IF;
  END LOOP;
  -- It runs the query that its second argument holds; the other ts_rewrite does not.
  REVOKE EXECUTE ON FUNCTION ts_rewrite(tsquery, text) FROM PUBLIC;

  -- How many rows and pages a table has. Everything else of the catalogue of tables stays readable.
  REVOKE SELECT ON pg_class FROM PUBLIC;
  EXECUTE (
    SELECT format('GRANT SELECT (%s) ON pg_class TO PUBLIC', string_agg(quote_ident(a.attname), ', '))
    FROM pg_attribute a WHERE a.attrelid = 'pg_class'::regclass AND a.attnum > 0 AND NOT a.attisdropped
      AND a.attname NOT IN ('reltuples', 'relpages', 'relallvisible', 'relallfrozen')
  );
  GRANT SELECT ON pg_class
    TO keepline_owner, keepline_guard, keepline_maint, keepline_purge, keepline_migrate, pg_read_all_stats;
END
$revokes$;

-- DROP OWNED BY itself would take a login out of every policy, and no privilege forbids it. As the guard's function,
-- it gives nobody who may replace it the rights of whoever runs a statement.
CREATE OR REPLACE FUNCTION tenancy.refuse_definitions() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  IF session_user IN ('keepline_app', 'keepline_worker') THEN
    RAISE EXCEPTION '% is not for %', tg_tag, session_user USING ERRCODE = '42501';
  END IF;
END
$f$;
ALTER FUNCTION tenancy.refuse_definitions() OWNER TO keepline_guard;
REVOKE ALL ON FUNCTION tenancy.refuse_definitions() FROM PUBLIC;
DO $trigger$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_event_trigger WHERE evtname = 'keepline_refuse_definitions') THEN
    CREATE EVENT TRIGGER keepline_refuse_definitions ON ddl_command_start
      EXECUTE FUNCTION tenancy.refuse_definitions();
  END IF;
END
$trigger$;

-- A login can change its own settings, here and for this database, and no privilege forbids it; so they begin anew.
-- In one block, which is one transaction: nobody logs in between two of its statements.
DO $settings$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['keepline_app', 'keepline_worker'] LOOP
    EXECUTE format('ALTER ROLE %I RESET ALL', name);
    EXECUTE format('ALTER ROLE %I IN DATABASE %I RESET ALL', name, current_database());
    -- A statement's text can't be read from another session of the same role; the app can't switch this on again.
    EXECUTE format('ALTER ROLE %I SET track_activities = off', name);
    -- For people at a psql prompt; Keepline's own statements name the schema.
    EXECUTE format('ALTER ROLE %I SET search_path = app, public', name);
  END LOOP;
  ALTER ROLE keepline_app SET statement_timeout = '15s';
  ALTER ROLE keepline_app SET lock_timeout = '5s';
  ALTER ROLE keepline_app SET idle_in_transaction_session_timeout = '30s';
  ALTER ROLE keepline_worker SET lock_timeout = '30s';
  ALTER ROLE keepline_worker SET idle_in_transaction_session_timeout = '120s';
END
$settings$;
