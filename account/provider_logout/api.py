"""Back-channel logout (OpenID Connect Back-Channel Logout 1.0): a provider says that somebody signed out there.

The request carries no credential but the logout token, whose signature is the provider's.
"""

from flask import Blueprint, Response, g, make_response, request

from tenancy.bearer import TOKEN_CHARACTERS_AT_MOST, unverified_claims
from tenancy.errors import NotSignedInError
from tenancy.guards import PUBLIC, guarded
from tenancy.oidc import LogoutRefusedError, LogoutToken
from tenancy.providers import Provider
from tenancy.services import current_services
from web.limits import count_refusal

doors = Blueprint("provider_logout", __name__)


@doors.post("/logout/backchannel")
@guarded(PUBLIC)
def end_sessions_of_subject() -> Response:
    """End the sessions that the logout token names, and refuse its subject's older tokens."""
    try:
        _end_sessions()
    except LogoutRefusedError:
        count_refusal()
        raise
    return make_response("", 200)


def _end_sessions() -> None:
    token = request.form.get("logout_token", "")
    if not token or len(token) > TOKEN_CHARACTERS_AT_MOST:
        raise LogoutRefusedError("The form field logout_token must hold a logout token. Nobody was signed out.")
    providers = _providers_of(token)
    if not providers:
        raise LogoutRefusedError("The logout token is not of an identity provider connected here.")
    verified, refusal = _verified(token, providers)
    if not verified and refusal is not None:
        raise refusal
    done = [_sign_out(provider, logout) for provider, logout in verified]
    if not any(done):
        raise LogoutRefusedError("The logout token was used before. What it asked was done then.")


def _providers_of(token: str) -> list[Provider]:
    """Return the providers, possibly of several orgs, by whose web client the token is addressed."""
    try:
        claims = unverified_claims(token)
    except NotSignedInError as error:
        raise LogoutRefusedError("The logout token can't be read. Nobody was signed out.") from error
    issuer, named = claims.get("iss"), claims.get("aud")
    audiences = [named] if isinstance(named, str) else named if isinstance(named, list) else []
    if not isinstance(issuer, str) or not issuer or "\0" in issuer:
        return []
    known = current_services().directory.find_token_providers(issuer)
    return [provider for provider in known if provider.client_id in audiences]


def _verified(
    token: str, providers: list[Provider]
) -> tuple[list[tuple[Provider, LogoutToken]], LogoutRefusedError | None]:
    """Return the orgs for which the token is right; another org of the same issuer may tell its tokens apart."""
    right, refusal = [], None
    for provider in providers:
        try:
            right.append((provider, current_services().providers.verify_logout_token(token, provider)))
        except LogoutRefusedError as error:
            refusal = error
    return right, refusal


def _sign_out(provider: Provider, logout: LogoutToken) -> bool:
    """Do what the token asks in one org; return whether it had not been done before."""
    rows = current_services().binder.look_up(
        "sign_out_by_provider",
        org_id=str(provider.org_id),
        provider_id=str(provider.id),
        issuer=provider.issuer,
        subject=logout.subject,
        provider_session=logout.provider_session,
        token_id=logout.token_id,
        issued_at=logout.issued_at,
        remembered_until=logout.expires_at,
        request_id=g.request_id,
    )
    return rows[0][0] is not None
