"""Connecting and changing an identity provider as one act, for the pages and the API alike.

What talks to the provider happens between two transactions, never inside one: it can take a minute.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from admin.identity import store
from admin.identity.errors import ClaimsUnknownError, ProviderUnusableError, WouldLockOutError
from admin.identity.records import ConnectedProvider, NewSecret, ProviderChanges
from admin.identity.rules import (
    Preview,
    ProviderKey,
    is_needed_for_sign_in,
    keeps_admin,
    key_faults,
    preview,
    rules_faults,
    secret_fault,
)
from admin.rules import faults_of, refuse_faults
from memory.audit.authors import author_of
from tenancy.guards import Caller
from tenancy.roles import ClaimRule
from tenancy.services import current_services


def save_provider(caller: Caller, key: ProviderKey, changes: ProviderChanges, *, confirm: bool) -> ConnectedProvider:
    """Connect the provider of these tokens, connect it again, or change the one that the org has for them.

    A new one, one that is connected again, and one that is to be used for signing in are examined first. `confirm`
    lets claim rules through that take the role admin from the caller.

    Raises:
        InvalidError: something does not fit.
        ProviderInUseError, ProviderTakenError, WouldLockOutError: see their texts.
        ProviderUnusableError: nobody could sign in through it.

    """
    refuse_faults({**key_faults(key), **changes.faults()})
    binder, identity, author = current_services().binder, caller.identity, author_of(caller)
    with binder.bound(identity) as connection:
        known = store.find_by_key(connection, identity, key)
    if known is None:
        refuse_faults({} if changes.client_id else faults_of(client_id="Missing data for required field."))
    else:
        _refuse_lock_out(caller, known, changes, confirm=confirm)
    if known is None or known.disconnected_at is not None or (changes.for_sign_in and not known.for_sign_in):
        _refuse_unusable(key.issuer)
    with binder.bound(identity) as connection:
        if known is None:
            return store.connect(connection, identity, author, key, changes)
        if known.disconnected_at is not None:
            return store.connect_again(connection, identity, author, known.id, changes)
        return store.change(connection, identity, author, known.id, changes)


def change_provider(
    caller: Caller, provider_id: UUID, changes: ProviderChanges, *, confirm: bool = False
) -> ConnectedProvider:
    """Change one provider that is connected; `confirm` is as in `save_provider`.

    One that is to be used for signing in is examined first. One that is disconnected stays so and as it is.

    Raises:
        NotFoundError: the org has none of this id.
        InvalidError, ProviderInUseError, ProviderUnusableError, WouldLockOutError: as in `save_provider`.

    """
    refuse_faults(changes.faults())
    binder, identity, author = current_services().binder, caller.identity, author_of(caller)
    with binder.bound(identity) as connection:
        known = store.find_provider(connection, identity, provider_id)
    store.refuse_disconnected(known)
    _refuse_lock_out(caller, known, changes, confirm=confirm)
    if changes.for_sign_in and not known.for_sign_in:
        _refuse_unusable(known.issuer)
    with binder.bound(identity) as connection:
        return store.change(connection, identity, author, provider_id, changes)


def sealed_secret(secret: str | None) -> NewSecret:
    """Return a client secret as it is stored, or what takes the stored one away.

    Raises:
        InvalidError: it does not fit; nothing of it is repeated.

    """
    if secret is None:
        return NewSecret(None)
    refuse_faults(faults_of(client_secret=secret_fault(secret)))
    return NewSecret(current_services().sessions.box.seal(secret.encode()))


def preview_for(caller: Caller, rules: tuple[ClaimRule, ...]) -> Preview:
    """Return what claim rules would make of the caller's own claims.

    Raises:
        InvalidError: a rule does not fit.
        ClaimsUnknownError: what the provider said of the caller is not kept.

    """
    refuse_faults(rules_faults(rules))
    return preview(caller.identity.org_id, _claims_of(caller), rules)


def _claims_of(caller: Caller) -> Mapping[str, Any]:
    if caller.claims is None:
        raise ClaimsUnknownError
    return caller.claims


def _refuse_lock_out(caller: Caller, known: ConnectedProvider, changes: ProviderChanges, *, confirm: bool) -> None:
    rules = changes.claim_rules
    if confirm or rules is None or rules == known.claim_rules or known.id != caller.provider_id:
        return
    if caller.claims is None or not keeps_admin(caller.identity.org_id, caller.claims, rules):
        raise WouldLockOutError(known=caller.claims is not None)


def _refuse_unusable(issuer: str) -> None:
    findings = current_services().providers.examine(issuer)
    if any(not finding.ok and is_needed_for_sign_in(finding.subject) for finding in findings):
        raise ProviderUnusableError([found for found in findings if is_needed_for_sign_in(found.subject)])
