-- Tables are the owner's and the guard's things the guard's, so that no login, and no role that reads, can alter them.
SELECT c.oid::regclass::text AS object, format('is owned by %s', c.relowner::regrole) AS problem
FROM pg_class c
WHERE c.relnamespace = 'app'::regnamespace AND c.relowner <> 'keepline_owner'::regrole
  OR c.relnamespace = 'tenancy'::regnamespace AND c.relowner <> 'keepline_guard'::regrole
UNION ALL
SELECT n.nspname::text, format('is owned by %s', n.nspowner::regrole) FROM pg_namespace n
WHERE n.nspname = 'app' AND n.nspowner <> 'keepline_owner'::regrole
  OR n.nspname = 'tenancy' AND n.nspowner <> 'keepline_guard'::regrole;
