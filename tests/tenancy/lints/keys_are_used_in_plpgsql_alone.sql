-- tenancy.peek() reads the signing keys
CREATE FUNCTION tenancy.peek() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM tenancy.signing_keys';

-- tenancy.peek() reads the signing keys
CREATE FUNCTION tenancy.peek() RETURNS bigint LANGUAGE sql
  BEGIN ATOMIC SELECT count(*) FROM tenancy.signing_keys; END;
