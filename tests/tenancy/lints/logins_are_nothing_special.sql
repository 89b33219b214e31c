-- keepline_app has an attribute
ALTER ROLE keepline_app BYPASSRLS;

-- keepline_worker has an attribute
ALTER ROLE keepline_worker CREATEROLE;

-- keepline_app inherits
ALTER ROLE keepline_app INHERIT;

-- keepline_app is a member of pg_read_all_data
GRANT pg_read_all_data TO keepline_app;

-- keepline_worker has keepline_app as a member
GRANT keepline_worker TO keepline_app;

-- keepline_app owns an object of pg_class
CREATE TABLE app.left_over (org_id uuid NOT NULL);
ALTER TABLE app.left_over OWNER TO keepline_app;
