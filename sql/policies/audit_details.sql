-- Changed lines are read by the person they concern; written and removed through the guard's functions.
REVOKE ALL ON app.audit_details FROM keepline_app, keepline_worker, keepline_guard, keepline_maint;
GRANT SELECT ON app.audit_details TO keepline_app, keepline_worker;
GRANT SELECT, INSERT, DELETE, UPDATE (expires_at) ON app.audit_details TO keepline_guard;
GRANT SELECT (expires_at), DELETE ON app.audit_details TO keepline_maint;

CREATE POLICY own_details ON app.audit_details FOR SELECT TO keepline_app, keepline_worker
  USING (org_id = tenancy.org_id() AND user_id = tenancy.user_id());
CREATE POLICY guard_keeps ON app.audit_details TO keepline_guard USING (true) WITH CHECK (true);
CREATE POLICY retention_reads ON app.audit_details FOR SELECT TO keepline_maint USING (expires_at IS NOT NULL);
CREATE POLICY retention_removes ON app.audit_details FOR DELETE TO keepline_maint USING (expires_at IS NOT NULL);
