-- loose does not begin with org_id
CREATE TABLE app.parents (org_id uuid NOT NULL, id uuid PRIMARY KEY);
CREATE TABLE app.children (org_id uuid NOT NULL, parent_id uuid CONSTRAINT loose REFERENCES app.parents (id));

-- loose does not carry the user
CREATE TABLE app.parents (org_id uuid NOT NULL, user_id uuid NOT NULL, id uuid NOT NULL, UNIQUE (org_id, id));
CREATE TABLE app.children (org_id uuid NOT NULL, user_id uuid NOT NULL, parent_id uuid,
  CONSTRAINT loose FOREIGN KEY (org_id, parent_id) REFERENCES app.parents (org_id, id));

-- loose does not carry the user
CREATE TABLE app.children (org_id uuid NOT NULL, friend_id uuid NOT NULL, user_id uuid NOT NULL,
  CONSTRAINT loose FOREIGN KEY (org_id, friend_id) REFERENCES app.users (org_id, id));
