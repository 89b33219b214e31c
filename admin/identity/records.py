"""An org's identity provider as admins see it, and what they may change of one."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from admin.identity.rules import client_id_fault, rules_faults, scopes_fault
from admin.rules import faults_of
from tenancy.roles import ClaimRule


@dataclass(frozen=True)
class ConnectedProvider:
    """One identity provider of the org; `secret` says where its client secret is: `stored`, `server` or `none`."""

    id: UUID
    issuer: str
    audience: str
    claim_name: str
    claim_value: str
    client_id: str
    scopes: str
    claim_rules: tuple[ClaimRule, ...]
    for_sign_in: bool
    created_at: datetime
    disconnected_at: datetime | None
    secret: str


@dataclass(frozen=True)
class NewSecret:
    """A client secret to store, sealed; None takes the stored one away."""

    sealed: bytes | None = field(repr=False)


@dataclass(frozen=True)
class ProviderChanges:
    """What to set; None leaves a field as it is, and a new provider gets the plain default."""

    client_id: str | None = None
    scopes: str | None = None
    claim_rules: tuple[ClaimRule, ...] | None = None
    for_sign_in: bool | None = None
    secret: NewSecret | None = None

    def faults(self) -> dict[str, Any]:
        """Return what does not fit."""
        return {
            **faults_of(
                client_id=None if self.client_id is None else client_id_fault(self.client_id),
                scopes=None if self.scopes is None else scopes_fault(self.scopes),
            ),
            **rules_faults(self.claim_rules or ()),
        }
