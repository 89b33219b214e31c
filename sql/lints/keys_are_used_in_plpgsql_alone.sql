-- A function that reads the signing keys is plpgsql: one in SQL may be inlined into a statement whose plan, with the
-- key in it, debug_print_plan writes to the client.
SELECT p.oid::regprocedure::text AS object, 'reads the signing keys and is not plpgsql' AS problem
FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
WHERE l.lanname <> 'plpgsql' AND (p.prosrc ~ 'signing_keys' OR pg_get_function_sqlbody(p.oid) ~ 'signing_keys');
