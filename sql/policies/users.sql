-- A user sees the own row and turns the own memory on and off; the guard makes users at their first sign-in.
REVOKE ALL ON app.users FROM keepline_app, keepline_worker, keepline_guard, keepline_maint;
GRANT SELECT ON app.users TO keepline_app, keepline_worker;
GRANT UPDATE (memory_on) ON app.users TO keepline_app;
GRANT SELECT, INSERT, UPDATE ON app.users TO keepline_guard;
GRANT SELECT (org_id, id, provider_id, issuer, subject, name, email, created_at) ON app.users TO keepline_maint;

CREATE POLICY own_row ON app.users FOR SELECT TO keepline_app, keepline_worker
  USING (org_id = tenancy.org_id() AND id = tenancy.user_id());
CREATE POLICY own_switch ON app.users FOR UPDATE TO keepline_app
  USING (org_id = tenancy.org_id() AND id = tenancy.user_id())
  WITH CHECK (org_id = tenancy.org_id() AND id = tenancy.user_id());
CREATE POLICY guard_resolves ON app.users TO keepline_guard USING (true) WITH CHECK (true);
CREATE POLICY operator_reads ON app.users FOR SELECT TO keepline_maint USING (true);
