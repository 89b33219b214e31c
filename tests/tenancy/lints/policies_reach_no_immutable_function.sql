-- tenancy.org_id() is IMMUTABLE and a policy reaches it
ALTER FUNCTION tenancy.org_id() IMMUTABLE;

-- public.inner_one() is IMMUTABLE and a policy reaches it
CREATE FUNCTION public.inner_one() RETURNS uuid LANGUAGE sql IMMUTABLE AS 'SELECT NULL::uuid';
CREATE FUNCTION public.outer_one() RETURNS uuid LANGUAGE sql STABLE AS 'SELECT public.inner_one ()';
CREATE POLICY nested ON app.blocks TO keepline_app USING (org_id = public.outer_one());

-- tenancy.unused() is IMMUTABLE in a schema of accessors
CREATE FUNCTION tenancy.unused() RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1';
