-- loose its primary key
CREATE TABLE app.loose (org_id uuid NOT NULL, user_id uuid NOT NULL, id uuid NOT NULL, PRIMARY KEY (org_id, id));

-- loose its primary key
CREATE TABLE app.loose (org_id uuid NOT NULL, user_id uuid NOT NULL);

-- loose its primary key
CREATE TABLE app.loose (org_id uuid NOT NULL, user_id uuid NOT NULL, PRIMARY KEY (user_id, org_id));
