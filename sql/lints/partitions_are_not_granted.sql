-- Nobody who serves or works reaches a partition by its own name: there, the policies of its parent do not hold.
SELECT c.oid::regclass::text AS object, format('%s reaches it', r.name) AS problem
FROM pg_class c, unnest(ARRAY['public', 'keepline_app', 'keepline_worker', 'keepline_guard']) AS r (name)
WHERE c.relispartition AND c.relkind IN ('r', 'p')
  AND (has_any_column_privilege(r.name, c.oid, 'SELECT, INSERT, UPDATE, REFERENCES')
    OR has_table_privilege(r.name, c.oid, 'DELETE, TRUNCATE, TRIGGER, MAINTAIN'));
