-- A table that the app or the worker writes takes org_id, and user_id where it has one, from the verified identity by
-- default, and requires both.
SELECT format('%s.%s', c.relname, a.attname) AS object,
  CASE WHEN NOT a.attnotnull THEN 'may be NULL' ELSE 'does not default to the identity' END AS problem
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE c.relnamespace = 'app'::regnamespace AND c.relkind IN ('r', 'p') AND a.attname IN ('org_id', 'user_id')
  AND (has_any_column_privilege('keepline_app', c.oid, 'INSERT')
    OR has_any_column_privilege('keepline_worker', c.oid, 'INSERT'))
  AND (NOT a.attnotnull OR pg_get_expr(d.adbin, d.adrelid) IS DISTINCT FROM format('tenancy.%I()', a.attname));
