"""OpenID Connect as a relying party: sign-in with PKCE, refresh and logout tokens, with nothing left to defaults.

The issuer is pinned from configuration and compared in the discovery document, in the ID token and in the callback
(RFC 9207). What a person is comes from the ID token alone; the userinfo endpoint is not asked.
"""

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tenancy.breaker import Breaker
from tenancy.clock import Clock
from tenancy.discovery import Discovery
from tenancy.examination import Finding, examine_provider
from tenancy.exchange import SignIn, TokenExchange, refresh_token_of
from tenancy.fetch import Fetcher, Resolver
from tenancy.keys import SecretBox
from tenancy.logout import LogoutRefusedError, LogoutToken, check_logout_token
from tenancy.providers import Provider
from tenancy.refreshed import ProviderUnavailableError
from tenancy.verification import (
    FRESH_SECONDS,
    SignInRefusedError,
    TokenVerifier,
    VerifiedClaims,
    authorized_party_is,
    is_name,
    is_well_formed,
)

__all__ = [
    "Finding",
    "LogoutRefusedError",
    "LogoutToken",
    "NoIdTokenError",
    "OpenIDProviders",
    "ProviderUnavailableError",
    "SignIn",
    "SignInRefusedError",
    "SignedIn",
    "VerifiedClaims",
    "is_well_formed",
]

_ID_TOKEN_TYPES = ("", "jwt")


class NoIdTokenError(ProviderUnavailableError):
    """A refresh brought no ID token, which OpenID Connect Core 12.2 allows: nothing is known about the person."""

    def __init__(self) -> None:
        super().__init__(
            "The identity provider renewed the sign-in and did not say whose it is, so roles and teams can't be "
            "confirmed this way."
        )


@dataclass(frozen=True)
class SignedIn:
    """What a provider says of a person, and what it takes to ask again later, where it offers that."""

    claims: VerifiedClaims
    refresh_token: str | None


class OpenIDProviders:
    """Talks to identity providers; discovery documents and keys are kept per process."""

    def __init__(self, clock: Clock, box: SecretBox, *, allow_loopback: bool, resolve: Resolver | None = None) -> None:
        self._fetcher = Fetcher(allow_loopback=allow_loopback, resolve=resolve)
        self._tokens = TokenExchange(self._fetcher, box, Breaker(clock))
        self._discovery = Discovery(clock, self._fetcher)
        self._verifier = TokenVerifier(clock, self._discovery)

    def begin(self, provider: Provider, redirect_uri: str, return_to: str) -> tuple[str, SignIn]:
        """Return the address to send the browser to, and what to keep until the callback.

        Raises:
            ProviderUnavailableError: the provider does not answer.

        """
        metadata = self._discovery.metadata(provider.issuer)
        state, nonce, code_verifier = (secrets.token_urlsafe(32) for _ in range(3))
        sign_in = SignIn(state, nonce, code_verifier, str(provider.org_id), str(provider.id), return_to)
        address = self._tokens.authorization_address(provider, metadata, redirect_uri, sign_in)
        return address, sign_in

    def finish(self, provider: Provider, redirect_uri: str, sign_in: SignIn, answer: Mapping[str, str]) -> SignedIn:
        """Exchange the code of a callback and return what the ID token says.

        Raises:
            SignInRefusedError: the answer, the exchange or the ID token is not right.
            ProviderUnavailableError: the provider does not answer.

        """
        metadata = self._discovery.metadata(provider.issuer)
        named = answer.get("iss")
        if (named is None and metadata.sends_issuer) or (named is not None and named != provider.issuer):
            raise SignInRefusedError("The answer comes from another identity provider than the one you went to.")
        if "error" in answer or not answer.get("code"):
            raise SignInRefusedError("The identity provider did not sign you in. You can try again.")
        reply = self._tokens.redeem_code(provider, metadata, redirect_uri, answer["code"], sign_in.code_verifier)
        claims = self._claims_of_reply(reply, provider)
        if not hmac.compare_digest(str(claims.get("nonce") or "").encode(), sign_in.nonce.encode()):
            raise SignInRefusedError("The ID token belongs to another sign-in.")
        return SignedIn(claims, refresh_token_of(reply))

    def refresh(self, provider: Provider, refresh_token: str, subject: str) -> SignedIn:
        """Ask again who a signed-in person is: a new ID token of the same subject (OpenID Connect Core 12.2).

        Raises:
            SignInRefusedError: the provider refuses, or its answer is not right: the person is not signed in there.
            ProviderUnavailableError: the provider does not answer, which says nothing about the person.
            NoIdTokenError: it answers without an ID token; the refresh token may be used up.

        """
        metadata = self._discovery.metadata(provider.issuer)
        reply = self._tokens.redeem_refresh_token(provider, metadata, refresh_token)
        if reply.get("id_token") is None:
            raise NoIdTokenError
        claims = self._claims_of_reply(reply, provider)
        if claims["sub"] != subject:
            raise SignInRefusedError("The ID token is another person's.")
        return SignedIn(claims, refresh_token_of(reply) or refresh_token)

    def verify(
        self, token: str, provider: Provider, *, audience: str, types: tuple[str, ...] | None = None
    ) -> VerifiedClaims:
        """Check a JWT of the provider and return its claims.

        Raises:
            SignInRefusedError: signature, type, issuer, audience, times, subject or the org's claim is not right.
            ProviderUnavailableError: the provider's keys can't be read.

        """
        claims = self._verifier.check(token, provider.issuer, audience=audience, types=types, required=("sub", "exp"))
        if not is_name(claims.get("sub")) or not provider.claims_belong(claims):
            raise SignInRefusedError("The token does not say whose it is.")
        return claims

    def verify_logout_token(self, token: str, provider: Provider) -> LogoutToken:
        """Check a logout token of the provider; whether its id was used before is the caller's to remember.

        Raises:
            LogoutRefusedError: it is not a logout token for this client.
            ProviderUnavailableError: the provider's keys can't be read.

        """
        return check_logout_token(token, provider, self._verifier)

    def examine(self, issuer: str) -> list[Finding]:
        """Read what a provider publishes now and say, point by point, whether Keepline can work with it.

        Raises:
            NotAskedError: another provider is being read or examined.

        """
        with self._discovery.places.taken():
            return examine_provider(issuer, self._fetcher)

    def _claims_of_reply(self, reply: Mapping[str, Any], provider: Provider) -> VerifiedClaims:
        """Return the claims of the ID token in a token reply, checked all but for what only the caller knows."""
        id_token = reply.get("id_token")
        if not isinstance(id_token, str):
            raise SignInRefusedError("The identity provider sent no ID token.")
        claims = self.verify(id_token, provider, audience=provider.client_id, types=_ID_TOKEN_TYPES)
        if not authorized_party_is(claims, provider.client_id):
            raise SignInRefusedError("The ID token was issued to another client.")
        if self._verifier.age_of(claims) > FRESH_SECONDS:
            raise SignInRefusedError("The ID token is over five minutes old.")
        return claims
