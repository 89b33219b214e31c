-- The app and the worker create no object anywhere, not even a temporary one, and speak no language but SQL: what they
-- could make would stand in for what a statement means, or run code. An event trigger refuses what no privilege does.
SELECT r.name AS object, fault AS problem
FROM unnest(ARRAY['public', 'keepline_app', 'keepline_worker']) AS r (name) CROSS JOIN LATERAL (
  SELECT 'may create or use temporary objects in the database'
    WHERE has_database_privilege(r.name, current_database(), 'CREATE, TEMPORARY')
  UNION ALL SELECT format('may create in schema %s', n.nspname) FROM pg_namespace n
    WHERE has_schema_privilege(r.name, n.oid, 'CREATE')
  UNION ALL SELECT format('may use the language %s', l.lanname) FROM pg_language l
    WHERE l.lanpltrusted AND l.lanname <> 'sql' AND has_language_privilege(r.name, l.oid, 'USAGE')
) AS faults (fault)
UNION ALL
SELECT 'keepline_refuse_definitions', 'the event trigger is missing or disabled'
WHERE NOT EXISTS (
  SELECT FROM pg_event_trigger e
  WHERE e.evtname = 'keepline_refuse_definitions' AND e.evtevent = 'ddl_command_start' AND e.evtenabled IN ('O', 'A')
    AND e.evttags IS NULL AND e.evtfoid = 'tenancy.refuse_definitions'::regproc
);
