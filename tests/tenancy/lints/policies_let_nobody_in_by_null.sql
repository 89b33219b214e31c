-- own_block on blocks has a branch for NULL
ALTER POLICY own_block ON app.blocks
  USING (org_id = tenancy.org_id() AND (user_id = tenancy.user_id() OR tenancy.user_id() IS NULL));

-- own_org on orgs has a branch for NULL
ALTER POLICY own_org ON app.orgs USING (org_id = (SELECT tenancy.org_id()) OR (SELECT tenancy.org_id()) IS NULL);

-- own_org on orgs has a branch for NULL
ALTER POLICY own_org ON app.orgs USING (org_id = coalesce(tenancy.org_id(), org_id));

-- own_org on orgs has a branch for NULL
ALTER POLICY own_org ON app.orgs USING (org_id IS NOT DISTINCT FROM nullif(tenancy.org_id()::text, '')::uuid);
