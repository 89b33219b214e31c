-- Readiness: whether the policies are those that the last migrate left, by one digest over the catalogue.

CREATE OR REPLACE FUNCTION tenancy.policy_fingerprint() RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $f$
  SELECT encode(sha256(convert_to(coalesce(string_agg(line, E'\n' ORDER BY line), ''), 'UTF8')), 'hex')
  FROM (
    SELECT format('table %s %s %s', c.relname, c.relrowsecurity, c.relforcerowsecurity) AS line
    FROM pg_class c WHERE c.relnamespace = 'app'::regnamespace AND c.relkind IN ('r', 'p')
    UNION ALL
    SELECT format('policy %s %s %s %s %s %s %s', c.relname, p.polname, p.polcmd, p.polpermissive,
      (SELECT string_agg(r.rolname, ',' ORDER BY r.rolname) FROM pg_roles r WHERE r.oid = ANY (p.polroles)),
      pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
    FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid WHERE c.relnamespace = 'app'::regnamespace
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
