-- Identity providers hold sealed secrets: the app reaches them only through the guard's look-ups.
REVOKE ALL ON app.providers FROM keepline_app, keepline_worker, keepline_guard, keepline_maint;
GRANT SELECT ON app.providers TO keepline_guard;
GRANT SELECT, INSERT, UPDATE ON app.providers TO keepline_maint;

CREATE POLICY guard_looks_up ON app.providers FOR SELECT TO keepline_guard USING (true);
CREATE POLICY operator_maintains ON app.providers TO keepline_maint USING (true) WITH CHECK (true);
