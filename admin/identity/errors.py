"""Why an identity provider was not connected, changed or disconnected."""

from collections.abc import Sequence

from tenancy.errors import ConflictError, InvalidError
from tenancy.oidc import Finding


class ProviderTakenError(ConflictError):
    """Tokens of this issuer and audience are not this org's to claim; whose they are is not said."""

    code = "provider_taken"
    title = "This provider can't be connected here"

    def __init__(self) -> None:
        super().__init__("This issuer can't be connected here. If it is your organisation's, ask the operator.")


class TooManyProvidersError(ConflictError):
    """The org has connected as many providers as it may, disconnected ones included."""

    code = "too_many_providers"
    title = "There are too many providers"

    def __init__(self) -> None:
        super().__init__(
            "Your organisation has 20 identity providers, disconnected ones included, and can't have more. Nothing was "
            "changed. Connect one of them again, or ask the operator."
        )


class ProviderUnusableError(InvalidError):
    """Nobody could sign in through this provider as it is; nothing was connected."""

    code = "provider_unusable"
    title = "Nobody could sign in through this provider"

    def __init__(self, findings: Sequence[Finding]) -> None:
        failed = " ".join(finding.sentence for finding in findings if not finding.ok)
        super().__init__(
            f"Nothing was changed. {failed}",
            findings=[{"ok": found.ok, "subject": found.subject, "sentence": found.sentence} for found in findings],
        )


class ProviderInUseError(ConflictError):
    """The provider is how people, or the caller, sign in."""

    code = "provider_in_use"
    title = "This provider is in use"


class WouldLockOutError(ConflictError):
    """Under the new claim rules the caller would not be an admin any more."""

    code = "would_lock_you_out"
    title = "You would not be an admin any more"

    def __init__(self, *, known: bool) -> None:
        reason = (
            "Under these claim rules your own claims do not give you the role admin."
            if known
            else "Your own claims are not known, so it can't be told whether these claim rules leave you an admin."
        )
        super().__init__(
            f"{reason} Nothing was changed. Add a rule that gives you admin, or confirm that somebody else is one."
        )


class ClaimsUnknownError(ConflictError):
    """What the provider said of the caller is not kept, so nothing can be tried on it."""

    code = "claims_unknown"
    title = "Your own claims are not known"

    def __init__(self) -> None:
        super().__init__("Sign in again, then try the rules on what your identity provider says of you.")
