-- The roles, schemas and revokes that need a superuser. Run once in Keepline's own database, as a superuser:
--   keepline migrate --print-roles | psql --dbname=keepline
-- It can be run again at any time. Passwords or certificates of the four logins are yours to set.

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

-- What other sessions run, ending them, SQL run from a string, and large objects (which no policy guards).
REVOKE EXECUTE ON FUNCTION
  pg_stat_get_activity(int), pg_stat_get_backend_activity(int),
  pg_terminate_backend(int, bigint), pg_cancel_backend(int),
  query_to_xml(text, boolean, boolean, text), query_to_xml_and_xmlschema(text, boolean, boolean, text),
  query_to_xmlschema(text, boolean, boolean, text),
  lo_creat(int), lo_create(oid), lo_from_bytea(oid, bytea), lo_put(oid, bigint, bytea), lowrite(int, bytea),
  lo_open(oid, int), loread(int, int), lo_get(oid), lo_get(oid, bigint, int), lo_unlink(oid)
FROM PUBLIC;

-- A statement's text can't be read from another session of the same role; the app can't switch this on again.
ALTER ROLE keepline_app SET track_activities = off;
ALTER ROLE keepline_worker SET track_activities = off;
-- For people at a psql prompt; Keepline's own statements name the schema.
ALTER ROLE keepline_app SET search_path = app, public;
ALTER ROLE keepline_worker SET search_path = app, public;
ALTER ROLE keepline_app SET statement_timeout = '15s';
ALTER ROLE keepline_app SET lock_timeout = '5s';
ALTER ROLE keepline_app SET idle_in_transaction_session_timeout = '30s';
ALTER ROLE keepline_worker SET lock_timeout = '30s';
ALTER ROLE keepline_worker SET idle_in_transaction_session_timeout = '120s';
