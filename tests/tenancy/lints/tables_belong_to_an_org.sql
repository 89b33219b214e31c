-- fresh has no org_id
CREATE TABLE app.fresh (id uuid PRIMARY KEY);

-- fresh has no org_id
CREATE TABLE app.fresh (org_id uuid);

-- fresh has no org_id
CREATE TABLE app.fresh (org_id text NOT NULL);
