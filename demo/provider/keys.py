"""The keys that issuers sign with, kept on disk so that tokens outlive a restart."""

import json
import os
import tempfile
from pathlib import Path

from joserfc.jwk import RSAKey

ALGORITHM = "RS256"
_BITS = 2048


def load_signing_key(folder: Path, name: str) -> RSAKey:
    """Read the issuer's private key, or make it when there is none.

    The key is a JWK (RFC 7517) in `folder/name.json`, readable by its owner alone (0600); its `kid` is the
    thumbprint of RFC 7638. Two processes that start at once end up with the same key.
    Raises OSError when the folder cannot be used and ValueError when the file holds no key.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    if not path.exists():
        _write_once(path, RSAKey.generate_key(_BITS, {"use": "sig", "alg": ALGORITHM}, auto_kid=True))
    return RSAKey.import_key(json.loads(path.read_text("ascii")))


def _write_once(path: Path, key: RSAKey) -> None:
    # mkstemp creates with 0600. A link, unlike a rename, fails when another process was first.
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-")
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            json.dump(key.as_dict(private=True), file)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(temporary, path)
        except FileExistsError:
            return
    finally:
        os.unlink(temporary)
