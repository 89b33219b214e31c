-- The primary key of users' rows begins with (org_id, user_id), so that every reference to them can carry the user.
SELECT c.relname::text AS object, 'its primary key does not begin with org_id, user_id' AS problem
FROM pg_class c JOIN pg_attribute u ON u.attrelid = c.oid AND u.attname = 'user_id' AND NOT u.attisdropped
LEFT JOIN pg_index x ON x.indrelid = c.oid AND x.indisprimary
LEFT JOIN pg_attribute o ON o.attrelid = c.oid AND o.attnum = x.indkey[0]
WHERE c.relnamespace = 'app'::regnamespace AND c.relkind IN ('r', 'p')
  AND (o.attname, x.indkey[1]) IS DISTINCT FROM ('org_id', u.attnum)
  AND c.relname <> ALL (ARRAY[
    'audit_events' -- an entry may concern nobody; its key for references carries the user
  ]);
