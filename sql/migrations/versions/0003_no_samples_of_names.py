"""No more samples of names: what the planner knows about a column shows in what a plan costs, to everybody."""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

# By the cost of a plan, whoever runs SQL as the app can find out what the planner has sampled over all orgs: even names
# of customers, letter by letter. Setting the target does not remove what was sampled before.
NOT_SAMPLED = {
    "orgs": ("slug", "name"),
    "users": ("issuer",),
    "providers": (
        "issuer",
        "audience",
        "claim_name",
        "claim_value",
        "client_id",
        "scopes",
        "claim_rules",
        "secret_name",
    ),
    "clients": ("client_id", "name", "scopes", "replaced_by"),
    "web_sessions": ("digest",),
    "token_audiences": ("issuer", "audience", "claim_name"),
    "org_policies": ("allowed_domains",),
    "blocks": ("updated_by_client",),
    "audit_events": ("client", "request_id", "target_id", "commitments", "counts"),
}
STOP_SAMPLING = """ALTER TABLE app.{0} ALTER COLUMN {1} SET STATISTICS 0;
SELECT pg_clear_attribute_stats('app', '{0}', '{1}', false)"""


def upgrade() -> None:
    """Stop sampling these columns, and remove the samples that there are; no row is touched."""
    op.execute("SET LOCAL ROLE keepline_owner")
    for table, columns in NOT_SAMPLED.items():
        for column in columns:
            op.get_bind().exec_driver_sql(STOP_SAMPLING.format(table, column))
