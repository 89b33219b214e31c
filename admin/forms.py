"""What the admin pages do with a form: numbers in it, what was wrong with it, and the way back to a page."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from flask import Response, make_response, redirect, render_template, url_for

from tenancy.errors import DomainError
from web.problems import status_of

_PLAIN_DIGITS = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True)
class FormProblem:
    """Why nothing was done: a title, and a sentence for the whole form or one for each field, by the field's id."""

    title: str
    sentence: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)


def problem_of(error: DomainError, title: str) -> FormProblem:
    """Return what a page says about an error: beside the fields that it names, or else of the whole form."""
    errors = error.fields.get("errors")
    if not isinstance(errors, Mapping) or not errors:
        return FormProblem(title, error.detail)
    return FormProblem(title, fields=dict(_flattened(errors)))


def number_or_text(text: str) -> int | str:
    """Return the whole number that a field holds, or the text itself, for whoever checks it to refuse."""
    stripped = text.strip()
    return int(stripped) if _PLAIN_DIGITS.fullmatch(stripped) else text


def show_problem(template: str, error: DomainError, *, here: str, **values: Any) -> Response:
    """Answer a form with its page, on which everything typed is kept and the problem is said.

    `here` is the page that can be opened by itself, where choosing a look leads.
    """
    return make_response(render_template(template, here=here, **values), status_of(error))


def to_page(endpoint: str, notice: str, **values: Any) -> Response:
    """Send the browser to a page, with what happened in the address, so that a reload repeats nothing."""
    return make_response(redirect(url_for(endpoint, notice=notice, **values), 303))


def _flattened(errors: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the first sentence of each field, by the path to it: `claim_rules-0-team`."""
    if isinstance(errors, Mapping):
        for name, inner in errors.items():
            yield from _flattened(inner, f"{path}-{name}" if path else str(name))
    elif isinstance(errors, str):
        yield path, errors
    elif errors:
        yield from _flattened(errors[0], path)
