-- app.texts is not a security_invoker
CREATE VIEW app.texts AS SELECT text FROM app.blocks;

-- app.texts is not a security_invoker
CREATE VIEW app.texts WITH (security_invoker = false) AS SELECT text FROM app.blocks;

-- public.kept is a materialised view
CREATE MATERIALIZED VIEW public.kept AS SELECT text FROM app.blocks;
