-- No function that a policy reaches, directly or in the body of another, is IMMUTABLE: its result would be kept in a
-- plan and answer the next identity. Bodies are searched as text, since the catalogue records no calls in them.
WITH RECURSIVE keepline AS (
  SELECT p.oid, p.proname, p.provolatile, p.prosrc FROM pg_proc p
  WHERE p.pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
    AND NOT EXISTS (
      SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
    )
), reached AS (
  SELECT k.oid, k.proname, k.provolatile, k.prosrc FROM keepline k
  JOIN pg_depend d ON d.refclassid = 'pg_proc'::regclass AND d.refobjid = k.oid AND d.classid = 'pg_policy'::regclass
  UNION
  SELECT k.oid, k.proname, k.provolatile, k.prosrc FROM reached r
  JOIN keepline k ON r.prosrc ~ ('\m' || k.proname || '\s*\(')
)
SELECT oid::regprocedure::text AS object, 'is IMMUTABLE and a policy reaches it' AS problem
FROM reached WHERE provolatile = 'i'
UNION
SELECT p.oid::regprocedure::text, 'is IMMUTABLE in a schema of accessors'
FROM pg_proc p WHERE p.pronamespace IN ('app'::regnamespace, 'tenancy'::regnamespace) AND p.provolatile = 'i';
