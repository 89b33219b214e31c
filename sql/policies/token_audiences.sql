-- How the tokens of one issuer and audience are told apart; spans orgs, so only the operator and the guard reach it.
REVOKE ALL ON app.token_audiences FROM keepline_app, keepline_worker, keepline_guard, keepline_maint;
GRANT SELECT, INSERT ON app.token_audiences TO keepline_guard;
GRANT SELECT, INSERT, DELETE ON app.token_audiences TO keepline_maint;

CREATE POLICY guard_connects ON app.token_audiences TO keepline_guard USING (true) WITH CHECK (true);
CREATE POLICY operator_maintains ON app.token_audiences TO keepline_maint USING (true) WITH CHECK (true);
