-- Admins see and change the own org's identity providers; which issuer and audience one stands for never changes, and
-- a sealed secret is written and never read back. Connecting, disconnecting and connecting again go through the guard,
-- which ends what began there. Only the operator names a secret of the environment: an admin who could would send another org's to a provider of their own.
REVOKE ALL ON app.providers FROM keepline_app, keepline_worker, keepline_guard, keepline_maint;
GRANT SELECT (org_id, id, issuer, audience, claim_name, claim_value, client_id, secret_name, has_secret, scopes,
  claim_rules, for_sign_in, created_at, disconnected_at),
  UPDATE (client_id, client_secret, scopes, claim_rules, for_sign_in)
  ON app.providers TO keepline_app;
GRANT SELECT, INSERT, UPDATE (for_sign_in, disconnected_at) ON app.providers TO keepline_guard;
GRANT SELECT, INSERT, UPDATE ON app.providers TO keepline_maint;

CREATE POLICY admin_sees ON app.providers FOR SELECT TO keepline_app
  USING (org_id = (SELECT tenancy.org_id()) AND (SELECT tenancy.roles()) & 2 = 2);
CREATE POLICY admin_changes ON app.providers FOR UPDATE TO keepline_app
  USING (org_id = (SELECT tenancy.org_id()) AND (SELECT tenancy.roles()) & 2 = 2)
  WITH CHECK (org_id = (SELECT tenancy.org_id()) AND (SELECT tenancy.roles()) & 2 = 2);
CREATE POLICY guard_looks_up ON app.providers FOR SELECT TO keepline_guard USING (true);
CREATE POLICY guard_connects ON app.providers FOR INSERT TO keepline_guard WITH CHECK (true);
CREATE POLICY guard_disconnects ON app.providers FOR UPDATE TO keepline_guard USING (true) WITH CHECK (true);
CREATE POLICY operator_maintains ON app.providers TO keepline_maint USING (true) WITH CHECK (true);
