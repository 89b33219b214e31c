-- for_all on app.blocks is for PUBLIC
CREATE POLICY for_all ON app.blocks USING (org_id = tenancy.org_id());

-- for_some on app.blocks is for pg_monitor
CREATE POLICY for_some ON app.blocks TO pg_monitor, keepline_app USING (org_id = tenancy.org_id());
