"""The one error of the embedded server."""


class EmbeddedServerError(Exception):
    """The embedded server cannot do what was asked.

    Its text says what happened, what was kept and what to do; it holds no text of users.
    """
