"""Getting a token of a demo person the way any program would: through the identity provider."""

import secrets
from urllib.parse import parse_qs, urlsplit

import httpx2
from authlib.oauth2.rfc7636 import create_s256_code_challenge

from demo.people import find_person

# Nothing listens here: the redirect is read, not followed.
_REDIRECT_URI = "http://127.0.0.1/callback"
_TIMEOUT_SECONDS = 10.0


class TokenRefusedError(RuntimeError):
    """The identity provider gave no token; the message says what it answered."""


def fetch_token(base_url: str, person_name: str, client_id: str) -> str:
    """Sign a demo person in and return their access token, a JWT that is valid for an hour.

    `base_url` is the provider's address without an org; the org follows from the person. `client_id` is a
    public client of the demo. Raises UnknownPersonError and TokenRefusedError.
    """
    person = find_person(person_name)
    issuer = f"{base_url.rstrip('/')}/{person.org.slug}"
    # A proxy of the environment has no business between two programs of this machine.
    with httpx2.Client(timeout=_TIMEOUT_SECONDS, trust_env=False) as http:
        try:
            return _fetch(http, issuer, person.login_name, client_id)
        except httpx2.HTTPError as error:
            raise TokenRefusedError(
                f"The identity provider at {issuer} does not answer ({error}). "
                "Start the demo with make run, then try again."
            ) from error


def _fetch(http: httpx2.Client, issuer: str, login_name: str, client_id: str) -> str:
    verifier, state = secrets.token_urlsafe(48), secrets.token_urlsafe(16)
    metadata = _accept(http.get(f"{issuer}/.well-known/openid-configuration"), 200).json()
    address = httpx2.URL(
        metadata["authorization_endpoint"],
        params={
            "response_type": "code",
            "client_id": client_id,
            "redirect_uri": _REDIRECT_URI,
            "scope": "openid profile email",
            "state": state,
            "login_hint": login_name,
            "code_challenge": create_s256_code_challenge(verifier),
            "code_challenge_method": "S256",
        },
    )
    _accept(http.get(address), 200)
    code = _read_code(_accept(http.post(address, data={"person": login_name}), 302), issuer, state)
    answer = http.post(
        metadata["token_endpoint"],
        data={
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": _REDIRECT_URI,
            "client_id": client_id,
            "code_verifier": verifier,
        },
    )
    return str(_accept(answer, 200).json()["access_token"])


def _read_code(response: httpx2.Response, issuer: str, state: str) -> str:
    target = response.headers["Location"]
    answer = {name: values[0] for name, values in parse_qs(urlsplit(target).query).items()}
    if not target.startswith(f"{_REDIRECT_URI}?") or answer.get("state") != state or answer.get("iss") != issuer:
        raise TokenRefusedError("The identity provider answered something that was not asked.")
    if "code" not in answer:
        raise TokenRefusedError(f"The identity provider refused: {_explain(answer)}.")
    return answer["code"]


def _accept(response: httpx2.Response, status: int) -> httpx2.Response:
    if response.status_code == status:
        return response
    if 300 <= response.status_code < 400:
        query = parse_qs(urlsplit(response.headers["Location"]).query)
        reason = _explain({name: values[0] for name, values in query.items()})
    elif response.headers.get("Content-Type", "").startswith("application/json"):
        reason = _explain(response.json())
    else:
        reason = f"{response.request.method} {response.request.url.path} answered {response.status_code}"
    raise TokenRefusedError(f"The identity provider refused: {reason}.")


def _explain(answer: dict[str, str]) -> str:
    return " ".join(answer[name] for name in ("error", "error_description") if name in answer) or "no reason given"
