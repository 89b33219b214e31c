-- own_block on blocks USING does not bind the user
ALTER POLICY own_block ON app.blocks USING (org_id = tenancy.org_id());

-- own_block on blocks WITH CHECK does not bind the user
ALTER POLICY own_block ON app.blocks WITH CHECK (org_id = tenancy.org_id());

-- own_block on blocks USING does not bind the user
ALTER POLICY own_block ON app.blocks
  USING (org_id = tenancy.org_id() AND (user_id = tenancy.user_id() OR tenancy.roles() = 2));

-- own_row on users USING does not bind the user
ALTER POLICY own_row ON app.users USING (org_id = (SELECT tenancy.org_id()));
