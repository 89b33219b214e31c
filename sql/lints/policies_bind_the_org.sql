-- A policy for the app or the worker begins with the org of the verified identity, and every other condition is added
-- to it by AND: an OR beside it, or a plain `true`, would open the table to other orgs.
SELECT format('%s on %s', policyname, tablename) AS object,
  format('%s does not begin with the org: %s', clause, expression) AS problem
FROM pg_policies
CROSS JOIN LATERAL (VALUES ('USING', qual, cmd <> 'INSERT'), ('WITH CHECK', with_check, cmd = 'INSERT'))
  AS clauses (clause, expression, required)
CROSS JOIN LATERAL replace(coalesce(expression, ''), '( SELECT tenancy.org_id() AS org_id)', 'tenancy.org_id()')
  AS plain
WHERE schemaname = 'app' AND permissive = 'PERMISSIVE' AND roles && '{keepline_app,keepline_worker}'
  AND (expression IS NOT NULL OR required)
  AND plain <> '(org_id = tenancy.org_id())' AND plain NOT LIKE '((org\_id = tenancy.org\_id()) AND %';
