"""Why a write to the block was refused, with what the writer needs to mend it."""

from typing import Any

from memory.block.rules import CHARACTER_LIMIT
from tenancy.errors import ForbiddenError, InvalidError, PreconditionError


class MemoryOffError(ForbiddenError):
    """The user switched memory off: nothing is added until it is on again."""

    code = "memory_off"
    title = "Memory is switched off"

    def __init__(self) -> None:
        super().__init__(
            "This user switched memory off, so nothing was added. What is stored stays as it is; "
            "only the user can switch memory on again."
        )


class MemoryNotReadError(MemoryOffError):
    """The user switched memory off: an assistant reads nothing of it either."""

    def __init__(self) -> None:
        ForbiddenError.__init__(
            self, "This user switched memory off, so an assistant reads nothing of it. What is stored stays as it is."
        )


class BlockEmptyError(InvalidError):
    """A rewrite without text is refused: it is how a mistake would delete everything."""

    code = "block_empty"
    title = "An empty text is not saved"

    def __init__(self) -> None:
        super().__init__("An empty text is not saved, and the saved memory stays. To remove all of it, clear it.")


class BlockTooLongError(InvalidError):
    """A rewrite over the limit is refused whole; nothing is cut."""

    code = "block_too_long"
    title = "The text is too long"

    def __init__(self, characters: int) -> None:
        super().__init__(
            f"The text has {characters:,} characters and the limit is {CHARACTER_LIMIT:,}. Nothing was saved or cut; "
            f"remove at least {characters - CHARACTER_LIMIT:,} and save again.",
            characters=characters,
            limit=CHARACTER_LIMIT,
        )


class LinesRejectedError(InvalidError):
    """Some lines may not be stored; nothing was saved."""

    code = "lines_rejected"
    title = "Some lines can't be stored"

    def __init__(self, rejected: list[dict[str, Any]]) -> None:
        count = "One line" if len(rejected) == 1 else f"{len(rejected)} lines"
        super().__init__(f"{count} can't be stored, so nothing was saved. Change or remove them.", rejected=rejected)


class BlockChangedError(PreconditionError):
    """The block is not what the caller last saw; nothing was saved."""

    code = "block_changed"
    title = "Memory was changed elsewhere"

    def __init__(self) -> None:
        super().__init__("Memory was changed since you read it. Nothing was saved; read it again, then decide.")
