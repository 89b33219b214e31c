-- What an org decided for all its people: every member is bound by it and may see it, admins change it.
REVOKE ALL ON app.org_policies FROM keepline_app, keepline_worker, keepline_guard, keepline_maint;
GRANT SELECT ON app.org_policies TO keepline_app, keepline_worker;
GRANT INSERT (memory_default, model_writes, allowed_domains, extraction, retention_days, llm_consent, updated_at),
  UPDATE (memory_default, model_writes, allowed_domains, extraction, retention_days, llm_consent, updated_at)
  ON app.org_policies TO keepline_app;
GRANT SELECT (org_id, memory_default) ON app.org_policies TO keepline_guard;

CREATE POLICY own_org ON app.org_policies FOR SELECT TO keepline_app, keepline_worker
  USING (org_id = (SELECT tenancy.org_id()));
CREATE POLICY admin_decides ON app.org_policies FOR INSERT TO keepline_app
  WITH CHECK (org_id = (SELECT tenancy.org_id()) AND (SELECT tenancy.roles()) & 2 = 2);
CREATE POLICY admin_changes ON app.org_policies FOR UPDATE TO keepline_app
  USING (org_id = (SELECT tenancy.org_id()) AND (SELECT tenancy.roles()) & 2 = 2)
  WITH CHECK (org_id = (SELECT tenancy.org_id()) AND (SELECT tenancy.roles()) & 2 = 2);
CREATE POLICY guard_looks_up ON app.org_policies FOR SELECT TO keepline_guard USING (true);
