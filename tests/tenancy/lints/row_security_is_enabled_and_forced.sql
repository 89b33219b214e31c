-- blocks row-level security is not enabled
ALTER TABLE app.blocks DISABLE ROW LEVEL SECURITY;

-- blocks row-level security is not forced
ALTER TABLE app.blocks NO FORCE ROW LEVEL SECURITY;

-- blocks has no policy
DROP POLICY own_block ON app.blocks;

-- fresh row-level security is not enabled
CREATE TABLE app.fresh (org_id uuid NOT NULL);
