-- blocks.org_id may be NULL
ALTER TABLE app.blocks DROP CONSTRAINT blocks_pkey CASCADE, ALTER COLUMN org_id DROP NOT NULL;

-- blocks.user_id does not default
ALTER TABLE app.blocks ALTER COLUMN user_id DROP DEFAULT;

-- blocks.user_id does not default
ALTER TABLE app.blocks ALTER COLUMN user_id SET DEFAULT gen_random_uuid();

-- fresh.org_id does not default
CREATE TABLE app.fresh (org_id uuid NOT NULL, note text);
GRANT INSERT (note) ON app.fresh TO keepline_worker;
