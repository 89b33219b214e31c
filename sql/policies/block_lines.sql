-- What is known about each line of the block: its user's alone.
REVOKE ALL ON app.block_lines FROM keepline_app, keepline_worker, keepline_guard, keepline_maint;
GRANT SELECT, DELETE,
  INSERT (digest, occurrence, category, source, provenance, confirmed_by, conversation_id, created_at, last_used_at),
  UPDATE (digest, occurrence, category, source, provenance, confirmed_by, conversation_id, last_used_at)
  ON app.block_lines TO keepline_app, keepline_worker;

CREATE POLICY own_lines ON app.block_lines TO keepline_app, keepline_worker
  USING (org_id = tenancy.org_id() AND user_id = tenancy.user_id())
  WITH CHECK (org_id = tenancy.org_id() AND user_id = tenancy.user_id());
