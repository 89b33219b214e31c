"""What can go wrong in the domain: each error carries its resource and says what happened and what to do.

Stores and guards raise these; `web/problems.py` is the one place that turns them into a reply.
"""

from collections.abc import Mapping
from typing import Any, ClassVar


class DomainError(Exception):
    """Something a caller can be told about: a stable code, a sentence, and fields that belong to it."""

    code: ClassVar[str]
    title: ClassVar[str]

    def __init__(self, detail: str, **fields: Any) -> None:
        super().__init__(detail)
        self.detail = detail
        self.fields: Mapping[str, Any] = fields


class NotSignedInError(DomainError):
    """The caller's credential is missing, expired or not ours.

    `challenge` holds the parameters that the reply's WWW-Authenticate adds (RFC 6750, section 3); without any, a
    refused bearer token is called `invalid_token`.
    """

    code = "not_signed_in"
    title = "Sign in first"
    challenge: ClassVar[str] = ""
    sign_in_path = "/login"


class SignedOutError(NotSignedInError):
    """The person signed out, here or at their provider, since the credential was issued."""

    def __init__(self) -> None:
        super().__init__(
            "Everything issued before the last sign-out is refused, and this credential is older. Sign in again."
        )


class TokenTooOldError(NotSignedInError):
    """The token was issued too long ago for what only a role allows (RFC 9470)."""

    code = "token_too_old"
    title = "A newer token is needed"
    challenge = 'error="insufficient_user_authentication", error_description="Get a newer token", max_age=900'

    def __init__(self, scope: str) -> None:
        super().__init__(
            f"This call needs the scope {scope}, which a role gives, so the token must have been issued in the last "
            "15 minutes. Get a new token and call again.",
            scope=scope,
        )


class ForbiddenError(DomainError):
    """The caller is known and may not do this."""

    code = "not_allowed"
    title = "Not allowed"


class MissingScopeError(ForbiddenError):
    """The credential does not hold the scope that the call needs."""

    code = "scope_missing"
    title = "The credential lacks a scope"

    def __init__(self, scope: str) -> None:
        super().__init__(f"This call needs the scope {scope}, which this credential does not hold.", scope=scope)


class UnknownClientError(ForbiddenError):
    """The token's client is not in the org's registry."""

    code = "client_unknown"
    title = "This client is not registered"

    def __init__(self, client_id: str) -> None:
        super().__init__(
            "The token's client is not registered in your organisation. An admin can register it.",
            client_id=client_id,
        )


class CrossSiteError(ForbiddenError):
    """A browser's request did not come from our own pages."""

    code = "cross_site"
    title = "The request did not come from this site"


class StaleFormError(CrossSiteError):
    """A form of our own that carries no token, or that of another session."""

    title = "The form is from an earlier sign-in"


class MalformedError(DomainError):
    """The request cannot be read at all."""

    code = "malformed"
    title = "The request cannot be read"


class MediaTypeError(DomainError):
    """The body is not of the type that the call takes."""

    code = "media_type"
    title = "The body must be JSON"


class InvalidError(DomainError):
    """The request can be read and does not fit."""

    code = "invalid_request"
    title = "The request does not fit"


class NotFoundError(DomainError):
    """There is nothing of this id that the caller may see; foreign and missing ids answer alike."""

    code = "not_found"
    title = "Not found"

    def __init__(self, detail: str = "There is nothing here that you can see.") -> None:
        super().__init__(detail)


class ConflictError(DomainError):
    """The state does not allow this act."""

    code = "conflict"
    title = "Conflict"


class PreconditionError(DomainError):
    """The state changed since the caller read it."""

    code = "changed"
    title = "Changed meanwhile"


class TooManyRequestsError(DomainError):
    """The caller, or the caller's org, made more requests in a minute than it may; nothing of this one was done."""

    code = "rate_limited"
    title = "Too many requests"

    def __init__(self, retry_after_seconds: int) -> None:
        unit = "second" if retry_after_seconds == 1 else "seconds"
        super().__init__(
            f"There were too many requests in the last minute, so nothing of this one was done. Try again in "
            f"{retry_after_seconds} {unit}."
        )
        self.retry_after_seconds = retry_after_seconds


class UnavailableError(DomainError):
    """Something Keepline needs does not answer; nothing was stored."""

    code = "unavailable"
    title = "Not available now"
    retry_after_seconds: ClassVar[int] = 5


class DatabaseUnavailableError(UnavailableError):
    """The database did not answer or gave the request up."""

    code = "database_unavailable"
    title = "The database does not answer"

    def __init__(self) -> None:
        super().__init__(
            "The database does not answer at the moment. Nothing of this request was stored; try again shortly."
        )


class IdentityRejectedError(UnavailableError):
    """The database does not know the key that this process signs identities with, or the clocks differ."""

    code = "identity_rejected"
    title = "The database does not accept this server"

    def __init__(self) -> None:
        super().__init__(
            "The database does not accept the identity that this server signed. Nothing was read or stored. The "
            "operator can run `keepline migrate` with the same KEEPLINE_IDENTITY_KEY, and compare the clocks."
        )


class OutcomeUnknownError(UnavailableError):
    """The connection broke while a transaction was being committed: it may or may not have been stored."""

    code = "outcome_unknown"
    title = "It is not known whether this was stored"

    def __init__(self) -> None:
        super().__init__(
            "The connection to the database broke at the last step, so this may or may not have been stored. "
            "Read the current state before you try again."
        )


class SetupError(Exception):
    """Keepline cannot start as it is set up; the sentence says which setting and what to do."""
