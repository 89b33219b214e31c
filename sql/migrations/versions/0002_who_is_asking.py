"""Who is asking, kept current: renewed sessions, sign-out everywhere, client rotation, claim rules, org policies."""

from alembic import op

from tenancy.backfill import backfill

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

# A logout token works once (OpenID Connect Back-Channel Logout 1.0, section 2.6).
GUARD_TABLES = """
CREATE TABLE tenancy.used_logout_tokens (
  digest bytea PRIMARY KEY,
  expires_at timestamptz NOT NULL
);
CREATE INDEX used_logout_tokens_expiry ON tenancy.used_logout_tokens (expires_at);
-- By these a migrate knows that functions and policies need not be applied again.
ALTER TABLE tenancy.applied ADD COLUMN files text NOT NULL DEFAULT '';
"""

TABLES = """
-- Tokens issued before this moment are refused: the person signed out everywhere, or the provider said so.
ALTER TABLE app.users ADD COLUMN signed_out_at timestamptz;

-- `claim_rules` says which claims give which roles and teams; empty is the plain claims `teams` and `roles`.
-- `secret_name` names a client secret that the operator keeps in the environment; one that is stored here goes first.
ALTER TABLE app.providers
  ADD COLUMN claim_rules jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(claim_rules) = 'array'
    AND jsonb_array_length(claim_rules) = jsonb_array_length(jsonb_path_query_array(claim_rules,
      '$[*] ? (@.type() == "object" && @.claim.type() == "string" && @.value.type() == "string"
        && @.team.type() == "string" && (@.grants == "member" || @.grants == "team" || @.grants == "lead"
        || @.grants == "reviewer" || @.grants == "admin"))'))),
  ADD COLUMN for_sign_in boolean NOT NULL DEFAULT true,
  ADD COLUMN secret_name text CHECK (secret_name ~ '^[A-Z0-9_]{1,64}$'),
  ADD COLUMN has_secret boolean NOT NULL GENERATED ALWAYS AS (client_secret IS NOT NULL) STORED,
  ADD COLUMN disconnected_at timestamptz;
ALTER TABLE app.providers ALTER COLUMN client_secret SET STATISTICS 0;
CREATE UNIQUE INDEX providers_for_sign_in ON app.providers (org_id) WHERE for_sign_in AND disconnected_at IS NULL;

-- `revoked_at` may lie ahead: until then a client that was replaced goes on beside the one that replaces it.
ALTER TABLE app.clients
  ADD COLUMN id uuid NOT NULL DEFAULT uuidv7(),
  ADD COLUMN last_used_at timestamptz,
  ADD COLUMN replaced_by text,
  ADD CONSTRAINT clients_by_id UNIQUE (org_id, id);
ALTER TABLE app.clients ALTER COLUMN org_id SET DEFAULT tenancy.org_id();

-- `rights_at` is when the provider last confirmed roles and teams; `claims` is kept, sealed, for admins alone, who
-- may want to see what other claim rules would make of their own.
ALTER TABLE app.web_sessions
  ADD COLUMN provider_id uuid,
  ADD COLUMN provider_session text,
  ADD COLUMN refresh_token bytea,
  ADD COLUMN claims bytea,
  ADD COLUMN rights_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ADD COLUMN renewal_began_at timestamptz,
  ADD CONSTRAINT web_sessions_of_provider FOREIGN KEY (org_id, provider_id) REFERENCES app.providers (org_id, id);
ALTER TABLE app.web_sessions ALTER COLUMN provider_session SET STATISTICS 0,
  ALTER COLUMN refresh_token SET STATISTICS 0, ALTER COLUMN claims SET STATISTICS 0;
CREATE INDEX web_sessions_by_provider_session ON app.web_sessions (org_id, provider_id, provider_session)
  WHERE provider_session IS NOT NULL;
CREATE TABLE app.org_policies (
  org_id uuid NOT NULL DEFAULT tenancy.org_id() PRIMARY KEY REFERENCES app.orgs ON DELETE CASCADE,
  memory_default boolean NOT NULL DEFAULT true,
  model_writes text NOT NULL DEFAULT 'direct' CHECK (model_writes IN ('direct', 'confirm')),
  allowed_domains text[] NOT NULL DEFAULT '{}' CHECK (cardinality(allowed_domains) <= 200),
  extraction boolean NOT NULL DEFAULT true,
  retention_days integer NOT NULL DEFAULT 365 CHECK (retention_days BETWEEN 1 AND 3650),
  llm_consent boolean NOT NULL DEFAULT false,
  updated_at timestamptz NOT NULL
);
"""


def upgrade() -> None:
    """Add what the guard and the admins need; nothing of users' memory is touched."""
    op.execute("SET LOCAL ROLE keepline_guard")
    op.get_bind().exec_driver_sql(GUARD_TABLES)
    op.execute("SET LOCAL ROLE keepline_owner")
    # Sessions of before can't be renewed, so their people sign in once more.
    sessions = "SELECT count(*) FROM app.web_sessions"
    backfill(op.get_bind(), "web_sessions", "DELETE FROM app.web_sessions", rows=sessions)
    op.get_bind().exec_driver_sql(TABLES)
