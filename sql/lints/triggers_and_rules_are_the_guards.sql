-- A trigger runs for everybody's rows, and a rule rewrites everybody's statements: triggers call functions of the
-- guard, and there are no rules.
SELECT format('%s on %s', t.tgname, t.tgrelid::regclass) AS object,
  format('calls %s, which is not the guard''s', p.oid::regproc) AS problem
FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid JOIN pg_class c ON c.oid = t.tgrelid
WHERE NOT t.tgisinternal AND c.relnamespace IN ('app'::regnamespace, 'tenancy'::regnamespace)
  AND (p.pronamespace <> 'tenancy'::regnamespace OR p.proowner <> 'keepline_guard'::regrole)
UNION ALL
SELECT format('%s on %s', r.rulename, r.ev_class::regclass), 'is a rule'
FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
WHERE r.rulename <> '_RETURN'
  AND c.relnamespace IN ('app'::regnamespace, 'tenancy'::regnamespace, 'public'::regnamespace);
