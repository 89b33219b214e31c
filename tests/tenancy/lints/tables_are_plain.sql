-- app.counted is a sequence
CREATE SEQUENCE app.counted;

-- app.numbered_id_seq is a sequence
CREATE TABLE app.numbered (org_id uuid NOT NULL, id bigint GENERATED ALWAYS AS IDENTITY);

-- app.quick is not logged
CREATE UNLOGGED TABLE app.quick (org_id uuid NOT NULL);

-- app.child inherits
CREATE TABLE app.child () INHERITS (app.blocks);

-- app.elsewhere is a foreign table
CREATE FOREIGN DATA WRAPPER nothing;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing;
CREATE FOREIGN TABLE app.elsewhere (org_id uuid NOT NULL) SERVER nowhere;
