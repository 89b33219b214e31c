"""Why a client was not registered, changed or replaced."""

from tenancy.clients import Kind
from tenancy.errors import ConflictError


class ClientKindError(ConflictError):
    """A client stays of the kind it was registered as: what it wrote is the model's or the user's for good."""

    code = "client_kind"
    title = "The client is of another kind"

    def __init__(self, kind: Kind) -> None:
        super().__init__(
            f"A client with this id is registered as the kind {kind}, and a kind never changes. Nothing was changed. "
            "Register the other program under an id of its own.",
            kind=kind.value,
        )


class ClientExistsError(ConflictError):
    """The id of the new client is taken in this org."""

    code = "client_exists"
    title = "This id is registered already"

    def __init__(self) -> None:
        super().__init__(
            "A client with the new id is registered already, in force or revoked. Nothing was changed. Give the "
            "replacement an id that was never used."
        )


class ClientRevokedError(ConflictError):
    """The client is revoked, or is being replaced already."""

    code = "client_revoked"
    title = "The client is not to be replaced"

    def __init__(self) -> None:
        super().__init__(
            "This client is revoked or is being replaced already. Nothing was changed. Register a new client, or "
            "replace the one that is in force."
        )
