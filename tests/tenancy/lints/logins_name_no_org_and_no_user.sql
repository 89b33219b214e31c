-- blocks.user_id keepline_app may insert
GRANT INSERT (user_id) ON app.blocks TO keepline_app;

-- blocks.org_id keepline_worker may update
GRANT UPDATE ON app.blocks TO keepline_worker;
