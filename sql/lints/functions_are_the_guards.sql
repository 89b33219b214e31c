-- Every function of Keepline, and every SECURITY DEFINER function of anybody, is the guard's, runs as it, finds only
-- the catalogue (pg_temp last, or a temporary object would stand in for it), and is called by named roles alone.
SELECT p.oid::regprocedure::text AS object, fault AS problem
FROM pg_proc p CROSS JOIN LATERAL (VALUES
  (p.proowner <> 'keepline_guard'::regrole, 'is not owned by keepline_guard'),
  (NOT p.prosecdef, 'does not run as its owner'),
  (p.proconfig IS DISTINCT FROM ARRAY['search_path=pg_catalog, pg_temp'],
    'does not set search_path to pg_catalog, pg_temp alone'),
  (has_function_privilege('public', p.oid, 'EXECUTE'), 'may be called by PUBLIC'),
  (p.prolang NOT IN (SELECT l.oid FROM pg_language l WHERE l.lanname IN ('plpgsql', 'sql')),
    'is neither plpgsql nor SQL')
) AS faults (there, fault)
WHERE there AND (p.prosecdef OR p.pronamespace IN ('app'::regnamespace, 'tenancy'::regnamespace));
