-- A user sees and ends the own sessions. They are started by the guard, for who holds the key: what the app's role could
-- insert, an injected statement could, and leave somebody a session with a secret of its own choice.
REVOKE ALL ON app.web_sessions FROM keepline_app, keepline_worker, keepline_guard, keepline_maint;
GRANT SELECT (org_id, user_id, id, created_at, last_seen_at), DELETE ON app.web_sessions TO keepline_app;
GRANT SELECT, INSERT, DELETE,
  UPDATE (last_seen_at, roles, team_ids, led_team_ids, refresh_token, claims, rights_at, renewal_began_at)
  ON app.web_sessions TO keepline_guard;
GRANT SELECT (created_at, last_seen_at), DELETE ON app.web_sessions TO keepline_maint;

CREATE POLICY own_sessions ON app.web_sessions FOR SELECT TO keepline_app
  USING (org_id = tenancy.org_id() AND user_id = tenancy.user_id());
CREATE POLICY own_sessions_end ON app.web_sessions FOR DELETE TO keepline_app
  USING (org_id = tenancy.org_id() AND user_id = tenancy.user_id());
CREATE POLICY retention_reads ON app.web_sessions FOR SELECT TO keepline_maint USING (true);
CREATE POLICY retention_removes ON app.web_sessions FOR DELETE TO keepline_maint
  USING (created_at < now() - interval '7 days' OR last_seen_at < now() - interval '8 hours');
CREATE POLICY guard_keeps ON app.web_sessions TO keepline_guard USING (true) WITH CHECK (true);
