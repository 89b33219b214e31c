-- Everybody in an org may see which assistants are registered: the pages name them beside what they wrote.
REVOKE ALL ON app.clients FROM keepline_app, keepline_worker, keepline_guard, keepline_maint;
GRANT SELECT ON app.clients TO keepline_app, keepline_worker, keepline_guard;
GRANT SELECT, INSERT, UPDATE ON app.clients TO keepline_maint;

CREATE POLICY own_org ON app.clients FOR SELECT TO keepline_app, keepline_worker
  USING (org_id = (SELECT tenancy.org_id()));
CREATE POLICY guard_looks_up ON app.clients FOR SELECT TO keepline_guard USING (true);
CREATE POLICY operator_maintains ON app.clients TO keepline_maint USING (true) WITH CHECK (true);
