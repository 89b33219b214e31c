-- Entries are read by the person they concern and written by the guard, and of the operator's acts by the operator, who
-- is no person; nobody changes or removes them.
REVOKE ALL ON app.audit_events FROM keepline_app, keepline_worker, keepline_guard, keepline_maint;
GRANT SELECT ON app.audit_events TO keepline_app, keepline_worker;
GRANT INSERT ON app.audit_events TO keepline_guard;
GRANT INSERT (org_id, at, client, writer, action, target_kind, target_id, outcome) ON app.audit_events
  TO keepline_maint;

CREATE POLICY own_entries ON app.audit_events FOR SELECT TO keepline_app, keepline_worker
  USING (org_id = tenancy.org_id() AND user_id = tenancy.user_id());
CREATE POLICY operator_appends ON app.audit_events FOR INSERT TO keepline_maint
  WITH CHECK (actor_id IS NULL AND user_id IS NULL AND writer = 'system');
CREATE POLICY guard_appends ON app.audit_events FOR INSERT TO keepline_guard WITH CHECK (true);
