"""The spine: orgs, providers, clients, users, web sessions, the block and its lines, the audit trail."""

from pathlib import Path

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_FUNCTIONS = Path(__file__).resolve().parents[2] / "functions"

GUARD_TABLES = """
CREATE TABLE tenancy.signing_keys (
  key_id text PRIMARY KEY CHECK (key_id ~ '^[0-9a-z]{2}$'),
  inner_pad bytea NOT NULL CHECK (length(inner_pad) = 64),
  outer_pad bytea NOT NULL CHECK (length(outer_pad) = 64),
  not_after timestamptz NOT NULL DEFAULT 'infinity'
);
CREATE TABLE tenancy.sign_ins (
  state_digest bytea PRIMARY KEY,
  browser_digest bytea NOT NULL,
  sealed bytea NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX sign_ins_expiry ON tenancy.sign_ins (expires_at);
CREATE TABLE tenancy.clock_shift (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  shift interval NOT NULL
);
CREATE TABLE tenancy.applied (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  revision text NOT NULL,
  fingerprint text NOT NULL,
  applied_at timestamptz NOT NULL
);
"""

TABLES = """
CREATE TABLE app.orgs (
  org_id uuid PRIMARY KEY DEFAULT uuidv7(),
  slug text NOT NULL UNIQUE CHECK (slug ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  name text NOT NULL CHECK (name <> ''),
  created_at timestamptz NOT NULL
);

-- One issuer and audience is told apart in one way only: by nothing (then it belongs to one org), or by one claim.
-- With the unique constraint of providers below, a token can never belong to two orgs.
CREATE TABLE app.token_audiences (
  issuer text NOT NULL,
  audience text NOT NULL,
  claim_name text NOT NULL,
  PRIMARY KEY (issuer, audience),
  UNIQUE (issuer, audience, claim_name)
);

CREATE TABLE app.providers (
  org_id uuid NOT NULL REFERENCES app.orgs ON DELETE CASCADE,
  id uuid NOT NULL DEFAULT uuidv7(),
  issuer text NOT NULL,
  audience text NOT NULL CHECK (audience <> ''),
  claim_name text NOT NULL DEFAULT '',
  claim_value text NOT NULL DEFAULT '',
  client_id text NOT NULL CHECK (client_id <> ''),
  client_secret bytea,
  scopes text NOT NULL DEFAULT 'openid profile email',
  created_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, id),
  FOREIGN KEY (issuer, audience, claim_name) REFERENCES app.token_audiences (issuer, audience, claim_name),
  CONSTRAINT providers_belong_to_one_org UNIQUE (issuer, audience, claim_value),
  CHECK ((claim_name = '') = (claim_value = ''))
);

CREATE TABLE app.clients (
  org_id uuid NOT NULL REFERENCES app.orgs ON DELETE CASCADE,
  client_id text NOT NULL CHECK (client_id <> ''),
  name text NOT NULL CHECK (name <> ''),
  kind text NOT NULL CHECK (kind IN ('assistant', 'user')),
  scopes text[] NOT NULL,
  created_at timestamptz NOT NULL,
  revoked_at timestamptz,
  PRIMARY KEY (org_id, client_id)
);

CREATE TABLE app.users (
  org_id uuid NOT NULL REFERENCES app.orgs ON DELETE CASCADE,
  id uuid NOT NULL DEFAULT uuidv7(),
  provider_id uuid NOT NULL,
  issuer text NOT NULL,
  subject text NOT NULL CHECK (subject <> ''),
  name text,
  email text,
  memory_on boolean NOT NULL DEFAULT true,
  line_key bytea NOT NULL DEFAULT uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()),
  created_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, id),
  UNIQUE (org_id, provider_id, issuer, subject),
  FOREIGN KEY (org_id, provider_id) REFERENCES app.providers (org_id, id)
);

CREATE TABLE app.web_sessions (
  org_id uuid NOT NULL DEFAULT tenancy.org_id(),
  user_id uuid NOT NULL DEFAULT tenancy.user_id(),
  id uuid NOT NULL DEFAULT uuidv7(),
  digest bytea NOT NULL UNIQUE CHECK (length(digest) = 32),
  roles integer NOT NULL DEFAULT tenancy.roles(),
  team_ids uuid[] NOT NULL DEFAULT tenancy.team_ids(),
  led_team_ids uuid[] NOT NULL DEFAULT tenancy.led_team_ids(),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  last_seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (org_id, user_id, id),
  FOREIGN KEY (org_id, user_id) REFERENCES app.users (org_id, id) ON DELETE CASCADE
);

CREATE TABLE app.blocks (
  org_id uuid NOT NULL DEFAULT tenancy.org_id(),
  user_id uuid NOT NULL DEFAULT tenancy.user_id(),
  text text NOT NULL CHECK (text <> '' AND char_length(text) <= 4000),
  updated_at timestamptz NOT NULL,
  updated_by_writer text NOT NULL CHECK (updated_by_writer IN ('model', 'user', 'system')),
  updated_by_client text NOT NULL,
  PRIMARY KEY (org_id, user_id),
  FOREIGN KEY (org_id, user_id) REFERENCES app.users (org_id, id) ON DELETE CASCADE
);
ALTER TABLE app.users ALTER COLUMN subject SET STATISTICS 0, ALTER COLUMN name SET STATISTICS 0,
  ALTER COLUMN email SET STATISTICS 0, ALTER COLUMN line_key SET STATISTICS 0;
ALTER TABLE app.blocks ALTER COLUMN text SET STATISTICS 0;

CREATE TABLE app.block_lines (
  org_id uuid NOT NULL DEFAULT tenancy.org_id(),
  user_id uuid NOT NULL DEFAULT tenancy.user_id(),
  id uuid NOT NULL DEFAULT uuidv7(),
  digest bytea NOT NULL CHECK (length(digest) = 32),
  occurrence integer NOT NULL CHECK (occurrence >= 1),
  category text CHECK (category IN ('preference', 'role', 'instruction', 'account')),
  source text NOT NULL
    CHECK (source IN ('user_edit', 'model_write', 'explicit_request', 'confirmed_suggestion', 'import')),
  provenance text NOT NULL
    CHECK (provenance IN ('stated', 'chosen', 'inferred', 'unverified', 'not_the_users_words')),
  confirmed_by text CHECK (confirmed_by IN ('current_user_call', 'login_lookup')),
  conversation_id text,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz,
  PRIMARY KEY (org_id, user_id, id),
  UNIQUE (org_id, user_id, digest, occurrence),
  FOREIGN KEY (org_id, user_id) REFERENCES app.blocks (org_id, user_id) ON DELETE CASCADE
);
ALTER TABLE app.block_lines ALTER COLUMN digest SET STATISTICS 0, ALTER COLUMN conversation_id SET STATISTICS 0;

-- `user_id` is the person concerned, `actor_id` who acted. `commitments` holds one salted hash for each detail,
-- in order: it proves a detail that is still there and says nothing about one that was removed.
CREATE TABLE app.audit_events (
  org_id uuid NOT NULL REFERENCES app.orgs ON DELETE CASCADE,
  id uuid NOT NULL DEFAULT uuidv7(),
  at timestamptz NOT NULL,
  user_id uuid,
  actor_id uuid,
  client text,
  writer text NOT NULL CHECK (writer IN ('model', 'user', 'system')),
  action text NOT NULL CHECK (action ~ '^[a-z_]+\\.[a-z_]+$'),
  target_kind text NOT NULL,
  target_id text,
  outcome text NOT NULL CHECK (outcome IN ('done', 'refused')),
  counts jsonb NOT NULL DEFAULT '{}',
  request_id text,
  commitments bytea[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (org_id, id),
  UNIQUE (org_id, user_id, id)
);

CREATE TABLE app.audit_details (
  org_id uuid NOT NULL,
  user_id uuid NOT NULL,
  event_id uuid NOT NULL,
  place integer NOT NULL CHECK (place >= 1),
  change text NOT NULL CHECK (change IN ('removed', 'added')),
  text text NOT NULL,
  digest bytea NOT NULL CHECK (length(digest) = 32),
  salt bytea NOT NULL CHECK (length(salt) = 32),
  expires_at timestamptz,
  PRIMARY KEY (org_id, user_id, event_id, place),
  FOREIGN KEY (org_id, user_id, event_id) REFERENCES app.audit_events (org_id, user_id, id) ON DELETE CASCADE
);
ALTER TABLE app.audit_details ALTER COLUMN text SET STATISTICS 0;
ALTER TABLE app.audit_details ALTER COLUMN digest SET STATISTICS 0;
ALTER TABLE app.audit_details ALTER COLUMN salt SET STATISTICS 0;
CREATE INDEX audit_details_by_digest ON app.audit_details (org_id, user_id, digest);
CREATE INDEX audit_details_by_expiry ON app.audit_details (expires_at) WHERE expires_at IS NOT NULL;
"""


def upgrade() -> None:
    """Create the guard's tables and accessors first: the tables' defaults call them."""
    op.execute("SET LOCAL check_function_bodies = off")
    op.execute("SET LOCAL ROLE keepline_guard")
    op.get_bind().exec_driver_sql(GUARD_TABLES)
    op.get_bind().exec_driver_sql((_FUNCTIONS / "10_identity.sql").read_text("utf-8").replace("%", "%%"))
    op.execute("SET LOCAL ROLE keepline_owner")
    op.get_bind().exec_driver_sql(TABLES)
