-- keepline PUBLIC has a right to the database
DO $$ BEGIN EXECUTE format('GRANT CONNECT ON DATABASE %I TO PUBLIC', current_database()); END $$;

-- app PUBLIC has a right to the schema
GRANT USAGE ON SCHEMA app TO PUBLIC;

-- app.orgs PUBLIC has a right to it
GRANT SELECT (name) ON app.orgs TO PUBLIC;
