-- No policy has a branch for "no identity": the convenience of one missing setting is everybody's rows.
SELECT format('%s on %s', policyname, tablename) AS object, format('has a branch for NULL: %s', expression) AS problem
FROM pg_policies CROSS JOIN LATERAL (VALUES (qual), (with_check)) AS clauses (expression)
WHERE schemaname = 'app' AND roles && '{keepline_app,keepline_worker}'
  AND (expression ~* 'tenancy\.[a-z_]+\(\)( AS [a-z_]+\))?\)? IS (NOT DISTINCT|NULL)'
    OR expression ~* 'coalesce\(|current_setting|nullif\(');
