-- tenancy.lent() is not owned
CREATE FUNCTION tenancy.lent() RETURNS int LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  AS 'SELECT 1';
REVOKE ALL ON FUNCTION tenancy.lent() FROM PUBLIC;

-- public.lent() is not owned
CREATE FUNCTION public.lent() RETURNS int LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  AS 'SELECT 1';

-- tenancy.org_id() does not run as its owner
ALTER FUNCTION tenancy.org_id() SECURITY INVOKER;

-- tenancy.org_id() does not set search_path
ALTER FUNCTION tenancy.org_id() RESET search_path;

-- tenancy.org_id() does not set search_path
ALTER FUNCTION tenancy.org_id() SET search_path = pg_temp, pg_catalog;

-- tenancy.org_id() does not set search_path
ALTER FUNCTION tenancy.org_id() SET row_security = off;

-- tenancy.open_ticket(text,text) may be called by PUBLIC
GRANT EXECUTE ON FUNCTION tenancy.open_ticket(text, text) TO PUBLIC;

-- tenancy.sum(integer) is neither
CREATE FUNCTION tenancy.sum(integer) RETURNS int LANGUAGE internal STRICT IMMUTABLE AS 'int4um';
