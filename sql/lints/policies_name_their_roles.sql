-- Policies are for named roles: one for PUBLIC also widens what the app and the worker see.
SELECT format('%s on %s', p.polname, p.polrelid::regclass) AS object,
  format('is for %s', coalesce(r.rolname, 'PUBLIC')) AS problem
FROM pg_policy p CROSS JOIN unnest(p.polroles) AS role LEFT JOIN pg_roles r ON r.oid = role
WHERE r.rolname IS NULL
  OR r.rolname NOT IN ('keepline_app', 'keepline_worker', 'keepline_guard', 'keepline_maint', 'keepline_purge');
