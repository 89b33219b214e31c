-- app.blocks keepline_app has TRUNCATE
GRANT TRUNCATE ON app.blocks TO keepline_app;

-- app.blocks keepline_worker has MAINTAIN
GRANT MAINTAIN ON app.blocks TO keepline_worker;

-- app.blocks public has TRIGGER
GRANT TRIGGER ON app.blocks TO PUBLIC;

-- app.blocks keepline_app has REFERENCES
GRANT REFERENCES (org_id) ON app.blocks TO keepline_app;
