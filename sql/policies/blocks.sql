-- The personal block: its user's alone, whatever the roles.
REVOKE ALL ON app.blocks FROM keepline_app, keepline_worker, keepline_guard, keepline_maint;
GRANT SELECT, DELETE, INSERT (text, updated_at, updated_by_writer, updated_by_client),
  UPDATE (text, updated_at, updated_by_writer, updated_by_client) ON app.blocks TO keepline_app, keepline_worker;

CREATE POLICY own_block ON app.blocks TO keepline_app, keepline_worker
  USING (org_id = tenancy.org_id() AND user_id = tenancy.user_id())
  WITH CHECK (org_id = tenancy.org_id() AND user_id = tenancy.user_id());
