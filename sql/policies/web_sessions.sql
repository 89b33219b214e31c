-- A user starts and ends the own sessions; roles and teams come from the bound identity alone, and the digest of
-- the cookie is written and never read back.
REVOKE ALL ON app.web_sessions FROM keepline_app, keepline_worker, keepline_guard, keepline_maint;
GRANT SELECT (org_id, user_id, id, created_at, last_seen_at), INSERT (digest), DELETE ON app.web_sessions
  TO keepline_app;
GRANT SELECT, UPDATE (last_seen_at) ON app.web_sessions TO keepline_guard;

CREATE POLICY own_sessions ON app.web_sessions TO keepline_app
  USING (org_id = tenancy.org_id() AND user_id = tenancy.user_id())
  WITH CHECK (org_id = tenancy.org_id() AND user_id = tenancy.user_id());
CREATE POLICY guard_looks_up ON app.web_sessions TO keepline_guard USING (true) WITH CHECK (true);
