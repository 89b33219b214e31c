"""Making orgs, connecting identity providers and registering clients: the operator's acts, across orgs."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg
from psycopg.types.json import Jsonb

from tenancy.clients import WEB_CLIENT, Kind, allowed_scopes
from tenancy.errors import SetupError
from tenancy.keys import SecretBox
from tenancy.roles import ClaimRule, stored_rules

Connection = psycopg.Connection[Any]


@dataclass(frozen=True)
class ProviderSettings:
    """How an org's people sign in and whose tokens are believed.

    `claim_name` and `claim_value` tell the org's tokens apart where several orgs share issuer and audience; both
    are empty where they don't. `sealed_secret` is the client secret, sealed; `secret_name` names one that the
    environment holds (KEEPLINE_CLIENT_SECRET_NAME). Without `claim_rules`, the plain claims `teams` and `roles` count.
    """

    issuer: str
    audience: str
    client_id: str
    sealed_secret: bytes | None
    claim_name: str = ""
    claim_value: str = ""
    scopes: str = "openid profile email"
    claim_rules: tuple[ClaimRule, ...] = ()
    secret_name: str | None = None


def remove_ended_sessions(connection: Connection) -> int:
    """Remove web sessions that are over by their age or idle time, with what they keep sealed; return how many."""
    return connection.execute("DELETE FROM app.web_sessions").rowcount  # the policy leaves those that go on


def record(connection: Connection, org_id: UUID, action: str, target_kind: str, target_id: str) -> None:
    """Write what the operator did in an org into its trail, in the transaction of the act."""
    connection.execute(
        "INSERT INTO app.audit_events (org_id, at, client, writer, action, target_kind, target_id, outcome) "
        "VALUES (%s, tenancy.stored_time(), 'operator', 'system', %s, %s, %s, 'done')",
        (org_id, action, target_kind, target_id),
    )


def find_org(connection: Connection, slug: str) -> UUID | None:
    """Return the id of an org by its short name."""
    row = connection.execute("SELECT org_id FROM app.orgs WHERE slug = %s", (slug,)).fetchone()
    return row[0] if row else None


def add_org(connection: Connection, slug: str, name: str, now: datetime) -> UUID:
    """Make an org and return its id.

    Raises:
        SetupError: the short name is taken or not allowed.

    """
    try:
        row = connection.execute(
            "INSERT INTO app.orgs (slug, name, created_at) VALUES (%s, %s, %s) RETURNING org_id",
            (slug, name, now),
        ).fetchone()
    except psycopg.errors.UniqueViolation as error:
        raise SetupError(f"There is an org with the short name {slug} already.") from error
    except psycopg.errors.CheckViolation as error:
        raise SetupError(
            "A short name has up to 63 small letters, digits, hyphens and underscores, and a name is not empty."
        ) from error
    org_id: UUID = row[0]  # type: ignore[index] # RETURNING answers one row or the insert raised
    record(connection, org_id, "org.create", "org", str(org_id))
    return org_id


def connect_provider(connection: Connection, org_id: UUID, settings: ProviderSettings, now: datetime) -> UUID:
    """Connect an identity provider to an org and return its id; people sign in by the first one that is connected.

    Raises:
        SetupError: tokens of this issuer, audience and claim belong to an org already, or are told apart otherwise.

    """
    connection.execute(
        "INSERT INTO app.token_audiences (issuer, audience, claim_name) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
        (settings.issuer, settings.audience, settings.claim_name),
    )
    try:
        row = connection.execute(
            "INSERT INTO app.providers (org_id, issuer, audience, claim_name, claim_value, client_id, client_secret, "
            "secret_name, scopes, claim_rules, for_sign_in, created_at) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, "
            "%s, NOT EXISTS (SELECT FROM app.providers WHERE org_id = %s AND for_sign_in AND disconnected_at IS NULL), "
            "%s) RETURNING id",
            (
                org_id, settings.issuer, settings.audience, settings.claim_name, settings.claim_value,
                settings.client_id, settings.sealed_secret, settings.secret_name, settings.scopes,
                Jsonb(stored_rules(settings.claim_rules)), org_id, now,
            ),
        ).fetchone()  # fmt: skip
    except psycopg.errors.UniqueViolation as error:
        raise SetupError(
            "Tokens of this issuer and audience, with this claim, belong to another org already."
        ) from error
    except psycopg.errors.ForeignKeyViolation as error:
        raise SetupError(
            "Another org uses this issuer and audience and is told apart by another claim, or by none. Use one claim "
            "for all orgs of an issuer and audience, or an audience of its own for each."
        ) from error
    except psycopg.errors.CheckViolation as error:
        raise SetupError(
            "Audience and client id can't be empty, a claim needs both a name and a value, and the name of a secret "
            "has up to 64 capital letters, digits and underscores."
        ) from error
    provider_id: UUID = row[0]  # type: ignore[index] # RETURNING answers one row or the insert raised
    record(connection, org_id, "provider.connect", "provider", str(provider_id))
    return provider_id


def register_client(
    connection: Connection,
    org_id: UUID,
    client_id: str,
    name: str,
    kind: Kind,
    scopes: Iterable[str],
    now: datetime,
) -> None:
    """Register a program of an org, change name and scopes of one, or revive one that was revoked.

    Raises:
        SetupError: a scope is not one that the kind may hold, the id is the settings page's own, or it is registered
            as the other kind.

    """
    if client_id == WEB_CLIENT:
        raise SetupError(f"{WEB_CLIENT} is what the settings page is called in the trail; choose another client id.")
    wanted = frozenset(scopes)
    refused = wanted - allowed_scopes(kind)
    if refused or not wanted:
        raise SetupError(
            f"A client of the kind {kind} can hold {', '.join(sorted(allowed_scopes(kind)))}"
            f"{'; not ' + ', '.join(sorted(refused)) if refused else ''}."
        )
    # One that is being replaced goes on ending: only what is revoked already is revived.
    registered = connection.execute(
        "INSERT INTO app.clients AS c (org_id, client_id, name, kind, scopes, created_at) "
        "VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (org_id, client_id) DO UPDATE "
        "SET name = excluded.name, scopes = excluded.scopes, "
        "revoked_at = CASE WHEN c.revoked_at > clock_timestamp() THEN c.revoked_at END, "
        "replaced_by = CASE WHEN c.revoked_at > clock_timestamp() THEN c.replaced_by END "
        "WHERE c.kind = excluded.kind",
        (org_id, client_id, name, kind.value, sorted(wanted), now),
    )
    if not registered.rowcount:
        raise SetupError(
            f"{client_id} is registered as another kind than {kind}, and a kind never changes. Nothing was changed; "
            "register the other program under an id of its own."
        )
    record(connection, org_id, "client.register", "client", client_id)


def reseal_client_secrets(connection: Connection, box: SecretBox) -> int:
    """Seal every client secret with the current key, so that the previous one can go; return how many there are.

    Raises:
        SetupError: a secret was sealed with a key that is not in force.

    """
    rows = connection.execute(
        "SELECT org_id, id, client_secret FROM app.providers WHERE client_secret IS NOT NULL"
    ).fetchall()
    for org_id, provider_id, sealed in rows:
        opened = box.open(sealed)
        if opened is None:
            raise SetupError(
                "A client secret can't be opened with KEEPLINE_SECRET_KEY or its _PREVIOUS. Nothing was changed; "
                "set _PREVIOUS to the key that was in force when the provider was connected."
            )
        connection.execute(
            "UPDATE app.providers SET client_secret = %s WHERE org_id = %s AND id = %s",
            (box.seal(opened), org_id, provider_id),
        )
    return len(rows)
