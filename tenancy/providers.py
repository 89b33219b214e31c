"""Identity providers as the database knows them, looked up before anybody is known."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from tenancy.binding import Binder
from tenancy.clients import Client, Kind
from tenancy.clock import Clock
from tenancy.errors import UnavailableError
from tenancy.keys import SecretBox
from tenancy.pipeline import Row
from tenancy.remembered import Remembered
from tenancy.roles import ClaimRule, read_rules

_REMEMBERED_SECONDS = 3.0


class SealedSecretError(UnavailableError):
    """The provider's client secret can't be read any more."""

    code = "secret_sealed"
    title = "Signing in is not set up"

    def __init__(self) -> None:
        super().__init__(
            "The secret of your identity provider was stored under a key that is no longer in force, so nobody can "
            "sign in. The operator can set KEEPLINE_SECRET_KEY_PREVIOUS to that key and run `keepline migrate`."
        )


class MissingSecretError(UnavailableError):
    """The provider's client secret is kept in the environment, and is not there."""

    code = "secret_missing"
    title = "Signing in is not set up"

    def __init__(self, name: str) -> None:
        super().__init__(
            "The secret of your identity provider is not set on this server, so nobody can sign in. The operator can "
            f"set KEEPLINE_CLIENT_SECRET_{name} or KEEPLINE_CLIENT_SECRET_{name}_FILE and start it again."
        )


@dataclass(frozen=True)
class Provider:
    """One identity provider of one org: whose tokens are believed, and how sign-in talks to it."""

    org_id: UUID
    org_slug: str
    org_name: str
    id: UUID
    issuer: str
    audience: str
    claim_name: str
    claim_value: str
    client_id: str
    client_secret: bytes | None
    secret_name: str | None
    scopes: str
    rules: tuple[ClaimRule, ...] = ()
    named_secret: str | None = field(default=None, repr=False)

    def claims_belong(self, claims: Mapping[str, Any]) -> bool:
        """Return whether the claim that tells this org's tokens apart has this org's value."""
        return not self.claim_name or claims.get(self.claim_name) == self.claim_value

    def opened_secret(self, box: SecretBox) -> str | None:
        """Return the client secret for the token endpoint, or None for a public client.

        Raises:
            SealedSecretError: it was sealed with a key that is no longer in force.
            MissingSecretError: it is kept in the environment, and this process was not given it.

        """
        if self.client_secret is None:
            if self.secret_name is not None and self.named_secret is None:
                raise MissingSecretError(self.secret_name)
            return self.named_secret
        opened = box.open(self.client_secret)
        if opened is None:
            raise SealedSecretError
        return opened.decode()


class Directory:
    """The look-ups before identity; what every call needs is remembered for 3 s per process."""

    def __init__(self, binder: Binder, clock: Clock, client_secrets: Mapping[str, str]) -> None:
        self._binder = binder
        self._client_secrets = client_secrets
        self._providers: Remembered[tuple[Provider, ...]] = Remembered(clock)
        self._clients: Remembered[list[Client]] = Remembered(clock)
        self._users: Remembered[UUID] = Remembered(clock)

    def find_sign_in_provider(self, slug: str) -> Provider | None:
        """Return the provider by which people of an org sign in."""
        rows = self._binder.look_up("find_sign_in_provider", slug=slug)
        return self._provider(rows[0]) if rows else None

    def find_provider(self, org_id: UUID, provider_id: UUID) -> Provider | None:
        """Return one provider of an org, to finish a sign-in or to renew a session."""
        rows = self._binder.look_up("find_provider", org_id=str(org_id), provider_id=str(provider_id))
        return self._provider(rows[0]) if rows else None

    def find_token_providers(self, issuer: str) -> tuple[Provider, ...]:
        """Return the providers, possibly of several orgs, that share an issuer."""
        known = self._providers.recall(issuer)
        if known is not None:
            return known
        rows = self._binder.look_up("find_token_providers", issuer=issuer)
        return self._providers.keep(issuer, tuple(map(self._provider, rows)), _REMEMBERED_SECONDS)

    def find_client(self, org_id: UUID, client_id: str) -> Client | None:
        """Return a client of the org's registry that is not revoked."""
        known = self._clients.recall((org_id, client_id))
        if known is None:
            rows = self._binder.look_up("find_client", org_id=str(org_id), client_id=client_id)
            clients = [Client(row[0], row[1], Kind(row[2]), frozenset(row[3])) for row in rows]
            known = self._clients.keep((org_id, client_id), clients, _REMEMBERED_SECONDS)
        return known[0] if known else None

    def resolve_user(
        self, provider: Provider, subject: str, claims: Mapping[str, Any], *, client: str, request_id: str
    ) -> UUID:
        """Return the user of (provider, issuer, subject), made at the first sign-in; claims are what is shown."""
        name, email = _text(claims, "name") or _text(claims, "preferred_username"), _text(claims, "email")
        key = (provider.org_id, provider.id, provider.issuer, subject, name, email)
        known = self._users.recall(key)
        if known is not None:
            return known
        rows = self._binder.look_up(
            "resolve_user",
            org_id=str(provider.org_id),
            provider_id=str(provider.id),
            issuer=provider.issuer,
            subject=subject,
            name=name,
            email=email,
            client=client,
            request_id=request_id,
        )
        return self._users.keep(key, rows[0][0], _REMEMBERED_SECONDS)

    def _provider(self, row: Row) -> Provider:
        (org_id, slug, org_name, provider_id, issuer, audience, claim_name, claim_value, client_id, client_secret,
         secret_name, scopes, rules) = row  # fmt: skip
        named_secret = self._client_secrets.get(secret_name or "")
        return Provider(
            org_id, slug, org_name, provider_id, issuer, audience, claim_name, claim_value, client_id, client_secret,
            secret_name, scopes, read_rules(rules), named_secret,
        )  # fmt: skip


def _text(claims: Mapping[str, Any], name: str) -> str | None:
    value = claims.get(name)
    return value.replace("\0", "")[:200] if isinstance(value, str) and value else None
