-- own_block on blocks USING does not begin with the org: true
ALTER POLICY own_block ON app.blocks USING (true);

-- own_block on blocks WITH CHECK does not begin with the org: true
ALTER POLICY own_block ON app.blocks WITH CHECK (true);

-- own_block on blocks USING does not begin with the org
ALTER POLICY own_block ON app.blocks USING (org_id = tenancy.org_id() AND user_id = tenancy.user_id() OR text = '');

-- own_block on blocks USING does not begin with the org
ALTER POLICY own_block ON app.blocks USING (org_id = tenancy.org_id() OR user_id = tenancy.user_id());

-- own_block on blocks USING does not begin with the org
ALTER POLICY own_block ON app.blocks USING (user_id = tenancy.user_id());

-- own_block on blocks USING does not begin with the org
ALTER POLICY own_block ON app.blocks USING (org_id = current_setting('keepline.org')::uuid);

-- lax on blocks WITH CHECK does not begin with the org
CREATE POLICY lax ON app.blocks FOR INSERT TO keepline_worker WITH CHECK (text <> '');
