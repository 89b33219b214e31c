-- A user sees the own org. Orgs are made and changed by the operator.
REVOKE ALL ON app.orgs FROM keepline_app, keepline_worker, keepline_guard, keepline_maint;
GRANT SELECT ON app.orgs TO keepline_app, keepline_worker, keepline_guard;
GRANT SELECT, INSERT, UPDATE ON app.orgs TO keepline_maint;

CREATE POLICY own_org ON app.orgs FOR SELECT TO keepline_app, keepline_worker
  USING (org_id = (SELECT tenancy.org_id()));
CREATE POLICY guard_looks_up ON app.orgs FOR SELECT TO keepline_guard USING (true);
CREATE POLICY operator_maintains ON app.orgs TO keepline_maint USING (true) WITH CHECK (true);
