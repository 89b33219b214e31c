-- keepline_app may create or use temporary objects
DO $$ BEGIN EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO keepline_app', current_database()); END $$;

-- public may create or use temporary objects
DO $$ BEGIN EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO PUBLIC', current_database()); END $$;

-- keepline_worker may create in schema public
GRANT CREATE ON SCHEMA public TO keepline_worker;

-- public may use the language plpgsql
GRANT USAGE ON LANGUAGE plpgsql TO PUBLIC;

-- keepline_refuse_definitions the event trigger is missing
DROP EVENT TRIGGER keepline_refuse_definitions;

-- keepline_refuse_definitions the event trigger is missing
ALTER EVENT TRIGGER keepline_refuse_definitions DISABLE;
