-- app.blocks is owned by keepline_maint
ALTER TABLE app.blocks OWNER TO keepline_maint;

-- tenancy.signing_keys is owned by keepline_owner
ALTER TABLE tenancy.signing_keys OWNER TO keepline_owner;

-- tenancy is owned by keepline_owner
ALTER SCHEMA tenancy OWNER TO keepline_owner;
