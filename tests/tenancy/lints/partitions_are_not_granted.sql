-- app.parts_0 keepline_app reaches it
CREATE TABLE app.parts (org_id uuid NOT NULL) PARTITION BY HASH (org_id);
CREATE TABLE app.parts_0 PARTITION OF app.parts FOR VALUES WITH (MODULUS 1, REMAINDER 0);
GRANT SELECT ON app.parts_0 TO keepline_app;
