-- Whose a row is, the identity says: neither the app nor the worker may write the columns that say it.
SELECT format('%s.%s', c.relname, a.attname) AS object, format('%s may %s it', r.name, lower(held.name)) AS problem
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid,
  unnest(ARRAY['keepline_app', 'keepline_worker']) AS r (name), unnest(ARRAY['INSERT', 'UPDATE']) AS held (name)
WHERE c.relnamespace = 'app'::regnamespace AND c.relkind IN ('r', 'p') AND NOT a.attisdropped
  AND a.attname IN ('org_id', 'user_id', 'id', 'actor_id', 'roles', 'team_ids', 'led_team_ids')
  AND has_column_privilege(r.name, a.attrelid, a.attnum, held.name);
