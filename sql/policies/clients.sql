-- Everybody in an org may see which programs are registered: the pages name them beside what they wrote. Admins
-- register, change and revoke those of the own org; which kind a client is stays as it was registered.
REVOKE ALL ON app.clients FROM keepline_app, keepline_worker, keepline_guard, keepline_maint;
GRANT SELECT ON app.clients TO keepline_app, keepline_worker, keepline_guard;
GRANT INSERT (client_id, name, kind, scopes, created_at), UPDATE (name, scopes, revoked_at, replaced_by)
  ON app.clients TO keepline_app;
GRANT UPDATE (last_used_at) ON app.clients TO keepline_guard;
GRANT SELECT, INSERT, UPDATE ON app.clients TO keepline_maint;

CREATE POLICY own_org ON app.clients FOR SELECT TO keepline_app, keepline_worker
  USING (org_id = (SELECT tenancy.org_id()));
CREATE POLICY admin_registers ON app.clients FOR INSERT TO keepline_app
  WITH CHECK (org_id = (SELECT tenancy.org_id()) AND (SELECT tenancy.roles()) & 2 = 2);
CREATE POLICY admin_changes ON app.clients FOR UPDATE TO keepline_app
  USING (org_id = (SELECT tenancy.org_id()) AND (SELECT tenancy.roles()) & 2 = 2)
  WITH CHECK (org_id = (SELECT tenancy.org_id()) AND (SELECT tenancy.roles()) & 2 = 2);
CREATE POLICY guard_looks_up ON app.clients FOR SELECT TO keepline_guard USING (true);
CREATE POLICY guard_notes_use ON app.clients FOR UPDATE TO keepline_guard USING (true) WITH CHECK (true);
CREATE POLICY operator_maintains ON app.clients TO keepline_maint USING (true) WITH CHECK (true);
