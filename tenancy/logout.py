"""Logout tokens: how a provider ends the sessions of a person here (OpenID Connect Back-Channel Logout 1.0)."""

import math
from dataclasses import dataclass

from tenancy.providers import Provider
from tenancy.verification import FRESH_SECONDS, LEEWAY_SECONDS, SignInRefusedError, TokenVerifier, is_name

_EVENT = "http://schemas.openid.net/event/backchannel-logout"
_TYPES = ("", "jwt", "logout+jwt", "application/logout+jwt")


class LogoutRefusedError(SignInRefusedError):
    """A logout token that is not one, so nobody is signed out."""

    code = "logout_refused"
    title = "This logout token is not accepted"


@dataclass(frozen=True)
class LogoutToken:
    """Whose sessions a provider ends: all of a subject, or the one that it names; at least one of them is there.

    Times are in seconds since 1970. From `expires_at` on the token is refused anyway, so that its id need be
    remembered no longer.
    """

    subject: str | None
    provider_session: str | None
    token_id: str
    issued_at: int
    expires_at: int


def check_logout_token(token: str, provider: Provider, verifier: TokenVerifier) -> LogoutToken:
    """Check a logout token of a provider as section 2.6 asks; it may be five minutes old.

    The claim that tells orgs of one issuer apart must be this org's where it is there; providers leave it out, as
    logout tokens hold few claims.

    Raises:
        LogoutRefusedError: it is not a logout token for this client.
        ProviderUnavailableError: the provider's keys can't be read.

    """
    try:
        claims = verifier.check(token, provider.issuer, audience=provider.client_id, types=_TYPES, required=("jti",))
    except SignInRefusedError as error:
        raise LogoutRefusedError(error.detail) from error
    events = claims.get("events")
    if not isinstance(events, dict) or not isinstance(events.get(_EVENT), dict) or "nonce" in claims:
        raise LogoutRefusedError("The token is not a logout token.")
    named = [claims[name] for name in ("sub", "sid", "jti") if name in claims]
    if not {"sub", "sid"} & set(claims) or not all(is_name(value) for value in named):
        raise LogoutRefusedError("The logout token does not say whose session ends.")
    if provider.claim_name in claims and not provider.claims_belong(claims):
        raise LogoutRefusedError("The logout token belongs to another organisation.")
    if verifier.age_of(claims) > FRESH_SECONDS + LEEWAY_SECONDS:
        raise LogoutRefusedError("The logout token is over five minutes old.")
    over = min(claims["iat"] + FRESH_SECONDS, claims.get("exp", math.inf))
    return LogoutToken(
        subject=claims.get("sub"),
        provider_session=claims.get("sid"),
        token_id=claims["jti"],
        issued_at=int(claims["iat"]),
        expires_at=math.ceil(over) + LEEWAY_SECONDS + 1,
    )
