-- A user starts and ends the own sessions; roles and teams come from the bound identity alone, and what is secret in
-- a session is written and never read back.
REVOKE ALL ON app.web_sessions FROM keepline_app, keepline_worker, keepline_guard, keepline_maint;
GRANT SELECT (org_id, user_id, id, created_at, last_seen_at),
  INSERT (digest, provider_id, provider_session, refresh_token, claims), DELETE ON app.web_sessions TO keepline_app;
GRANT SELECT, DELETE,
  UPDATE (last_seen_at, roles, team_ids, led_team_ids, refresh_token, claims, rights_at, renewal_began_at)
  ON app.web_sessions TO keepline_guard;

CREATE POLICY own_sessions ON app.web_sessions TO keepline_app
  USING (org_id = tenancy.org_id() AND user_id = tenancy.user_id())
  WITH CHECK (org_id = tenancy.org_id() AND user_id = tenancy.user_id());
CREATE POLICY guard_keeps ON app.web_sessions TO keepline_guard USING (true) WITH CHECK (true);
