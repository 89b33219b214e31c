-- block_lines_by_digest does not begin with org_id
CREATE INDEX block_lines_by_digest ON app.block_lines (digest);

-- blocks_by_case does not begin with org_id
CREATE INDEX blocks_by_case ON app.blocks (lower(updated_by_client), org_id);

-- names_name_key does not begin with org_id
CREATE TABLE app.names (org_id uuid NOT NULL, name text UNIQUE);
