"""Keys for one purpose each, derived from the two secrets of the settings, and what is made with them."""

import hashlib
import hmac
from base64 import urlsafe_b64encode
from uuid import UUID

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from tenancy.errors import SetupError
from tenancy.setting_values import KeyPair

_HMAC_BLOCK_BYTES = 64
_KEY_ID_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"


def derive_key(secret: bytes, purpose: str) -> bytes:
    """Return 32 bytes of key for one purpose (HKDF-SHA256, RFC 5869)."""
    return HKDF(algorithm=hashes.SHA256(), length=32, salt=None, info=f"keepline {purpose}".encode()).derive(secret)


class SigningKey:
    """The key by which the database recognises a signed identity, in the parts each side needs.

    `key_id` is two characters and follows from the key, so that both sides name it alike. `inner_pad` and
    `outer_pad` are the two 64-byte blocks of HMAC-SHA256 (RFC 2104) that the database keeps: with them it
    verifies without a crypto extension.
    """

    def __init__(self, secret: bytes) -> None:
        self.key = derive_key(secret, "identity")
        number = int.from_bytes(hashlib.sha256(self.key).digest()[:4], "big")
        size = len(_KEY_ID_ALPHABET)
        self.key_id = _KEY_ID_ALPHABET[number // size % size] + _KEY_ID_ALPHABET[number % size]
        padded = self.key.ljust(_HMAC_BLOCK_BYTES, b"\0")
        self.inner_pad = bytes(byte ^ 0x36 for byte in padded)
        self.outer_pad = bytes(byte ^ 0x5C for byte in padded)

    def sign(self, payload: str) -> str:
        """Return the payload behind its MAC, 64 hexadecimal characters."""
        return hmac.digest(self.key, payload.encode(), "sha256").hex() + payload


def signing_keys(identity_key: KeyPair) -> tuple[SigningKey, ...]:
    """Return the signing keys in force, the current one first.

    Raises:
        SetupError: both keys would be named alike (one pair in 1,296).

    """
    keys = tuple(SigningKey(secret) for secret in identity_key.accepted)
    if len({key.key_id for key in keys}) < len(keys):
        raise SetupError("KEEPLINE_IDENTITY_KEY and its _PREVIOUS share a key id by chance; choose another new key.")
    return keys


class SecretBox:
    """Seals what must rest in the database unreadable (Fernet); opens what the previous key sealed too."""

    def __init__(self, secret_key: KeyPair) -> None:
        self._fernet = MultiFernet(
            [Fernet(urlsafe_b64encode(derive_key(secret, "sealed values"))) for secret in secret_key.accepted]
        )

    def seal(self, value: bytes) -> bytes:
        """Return the value encrypted and authenticated."""
        return self._fernet.encrypt(value)

    def open(self, sealed: bytes) -> bytes | None:
        """Return the value, or None when it was not sealed with a key in force."""
        try:
            return self._fernet.decrypt(sealed)
        except InvalidToken:
            return None


def digest_line(line_key: bytes, text: str) -> bytes:
    """Return the 32-byte digest by which a line of a user is recognised without a second copy of its text.

    The key is the user's own, made with the user and gone with them: equal lines of two users differ, and a change
    of the secret key leaves what is known about lines in place.
    """
    return hmac.digest(line_key, text.encode(), "sha256")


class ClosingTags:
    """The word that closes the personal section of a user's prompt: constant, and not to be guessed."""

    def __init__(self, secret_key: KeyPair) -> None:
        self._key = derive_key(secret_key.current, "prompt closing tags")

    def tag(self, org_id: UUID, user_id: UUID) -> str:
        """Return 20 hexadecimal characters."""
        return hmac.digest(self._key, org_id.bytes + user_id.bytes, "sha256").hex()[:20]
