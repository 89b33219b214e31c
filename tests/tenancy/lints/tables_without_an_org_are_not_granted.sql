-- token_audiences keepline_app reaches it
GRANT SELECT (issuer) ON app.token_audiences TO keepline_app;

-- alembic_version keepline_worker reaches it
GRANT DELETE ON app.alembic_version TO keepline_worker;
