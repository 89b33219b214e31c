-- Readiness: whether policies, grants, functions and roles are those that the last migrate left, by one digest over
-- the catalogue. What the app's own login could change about itself, such as its default settings, is in it.

CREATE OR REPLACE FUNCTION tenancy.policy_fingerprint() RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
  SELECT encode(sha256(convert_to(coalesce(string_agg(line, E'\n' ORDER BY line), ''), 'UTF8')), 'hex')
  FROM (
    SELECT format('table %s %s %s %s %s %s', c.relnamespace::regnamespace, c.relname, c.relowner::regrole,
      c.relrowsecurity, c.relforcerowsecurity, c.relacl) AS line
    FROM pg_class c
    WHERE c.relnamespace IN ('app'::regnamespace, 'tenancy'::regnamespace) AND c.relkind IN ('r', 'p', 'v', 'm', 'S')
    UNION ALL
    SELECT format('column %s %s %s', a.attrelid::regclass, a.attname, a.attacl)
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.relnamespace IN ('app'::regnamespace, 'tenancy'::regnamespace) AND a.attacl IS NOT NULL
    UNION ALL
    SELECT format('policy %s %s %s %s %s %s %s', c.relname, p.polname, p.polcmd, p.polpermissive,
      (SELECT string_agg(r.rolname, ',' ORDER BY r.rolname) FROM pg_roles r WHERE r.oid = ANY (p.polroles)),
      pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
    FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid WHERE c.relnamespace = 'app'::regnamespace
    UNION ALL
    SELECT format('function %s %s %s %s %s %s %s', p.oid::regprocedure, p.proowner::regrole, p.prosecdef,
      p.provolatile, p.proconfig, p.proacl, encode(sha256(convert_to(p.prosrc, 'UTF8')), 'hex'))
    FROM pg_proc p WHERE p.pronamespace IN ('app'::regnamespace, 'tenancy'::regnamespace)
    UNION ALL
    SELECT format('schema %s %s', n.nspname, n.nspacl) FROM pg_namespace n WHERE n.nspname IN ('app', 'tenancy', 'public')
    UNION ALL
    SELECT format('role %s %s %s %s %s %s', r.rolname, r.rolsuper, r.rolbypassrls, r.rolcreaterole, r.rolcreatedb,
      (SELECT string_agg(g.rolname, ',' ORDER BY g.rolname) FROM pg_auth_members m JOIN pg_roles g ON g.oid = m.roleid
       WHERE m.member = r.oid))
    FROM pg_roles r WHERE r.rolname IN ('keepline_app', 'keepline_worker')
    UNION ALL
    SELECT format('event trigger %s %s %s', t.evtname, t.evtenabled, t.evtfoid::regprocedure) FROM pg_event_trigger t
    UNION ALL
    SELECT format('setting %s %s %s', s.setrole::regrole, s.setdatabase,
      (SELECT string_agg(entry, ',' ORDER BY entry) FROM unnest(s.setconfig) AS entry))
    FROM pg_db_role_setting s
    WHERE s.setrole IN (0, 'keepline_app'::regrole, 'keepline_worker'::regrole)
      AND s.setdatabase IN (0, (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()))
  ) AS catalogue
$f$;

CREATE OR REPLACE FUNCTION tenancy.readiness(ticket text) RETURNS TABLE (revision text, policies_intact boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM tenancy.open_ticket(ticket, 'readiness');
  RETURN QUERY SELECT a.revision, a.fingerprint = tenancy.policy_fingerprint() FROM tenancy.applied a;
END
$f$;

REVOKE ALL ON FUNCTION tenancy.policy_fingerprint(), tenancy.readiness(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenancy.readiness(text) TO keepline_app, keepline_worker;
