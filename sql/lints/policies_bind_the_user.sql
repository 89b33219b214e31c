-- On a table of users' rows a policy for the app or the worker names the user of the verified identity right after the
-- org, whatever the roles: an org's admin is no exception.
SELECT format('%s on %s', policyname, tablename) AS object,
  format('%s does not bind the user: %s', clause, expression) AS problem
FROM pg_policies
CROSS JOIN LATERAL (VALUES ('USING', qual), ('WITH CHECK', with_check)) AS clauses (clause, expression)
CROSS JOIN LATERAL replace(
  replace(expression, '( SELECT tenancy.org_id() AS org_id)', 'tenancy.org_id()'),
  '( SELECT tenancy.user_id() AS user_id)', 'tenancy.user_id()'
) AS plain
WHERE schemaname = 'app' AND permissive = 'PERMISSIVE' AND roles && '{keepline_app,keepline_worker}'
  AND (tablename = 'users' OR EXISTS (
    SELECT FROM pg_attribute a
    WHERE a.attrelid = format('app.%I', tablename)::regclass AND a.attname = 'user_id' AND NOT a.attisdropped
  ))
  AND plain NOT LIKE format(
    '((org\_id = tenancy.org\_id()) AND (%s = tenancy.user\_id())%%',
    CASE tablename WHEN 'users' THEN 'id' ELSE 'user\_id' END
  );
