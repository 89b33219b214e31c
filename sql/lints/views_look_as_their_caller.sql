-- A view reads with its owner's rights unless it is a security_invoker; a materialised one keeps what its owner saw.
SELECT c.oid::regclass::text AS object,
  CASE c.relkind WHEN 'm' THEN 'is a materialised view' ELSE 'is not a security_invoker' END AS problem
FROM pg_class c
WHERE c.relnamespace IN ('app'::regnamespace, 'tenancy'::regnamespace, 'public'::regnamespace)
  AND (c.relkind = 'm' OR c.relkind = 'v'
    AND NOT coalesce(c.reloptions, '{}') && '{security_invoker=true,security_invoker=on}');
