"""GET /v1/prompt: what an assistant loads on every turn."""

from flask import Blueprint, Response, jsonify, make_response, request
from marshmallow import fields

from memory.prompt.store import Prompt, PromptStore
from tenancy.errors import NotFoundError
from tenancy.guards import call, current_caller, guarded
from tenancy.services import current_services
from web.shapes import Shape, Text, UtcTime, gives, takes_query, utc, with_validator

doors = Blueprint("prompt", __name__)


class PromptQuery(Shape):
    """What the prompt may be asked to include."""

    library_id = fields.UUID(load_default=None)


class SegmentShape(Shape):
    """One section of the prompt."""

    name = Text()
    text = Text()
    volatility = Text()


class PromptMemory(Shape):
    """What the prompt says about personal memory beside its text."""

    on = fields.Boolean()
    characters = fields.Integer()
    limit = fields.Integer()
    withheld_lines = fields.Integer()
    stale_lines = fields.Integer()
    suggestions_pending = fields.Integer()
    ask_still_true = fields.List(fields.Dict())


class PromptReply(Shape):
    """The prompt, whole and in sections."""

    text = Text()
    segments = fields.List(fields.Nested(SegmentShape))
    memory = fields.Nested(PromptMemory)
    as_of = UtcTime()


@doors.get("/v1/prompt")
@guarded(call("memory:read"))
@takes_query(PromptQuery)
@gives(PromptReply)
def show_prompt(query: dict[str, object]) -> Response:
    """Return the system prompt of the caller's user."""
    if query["library_id"] is not None:
        raise NotFoundError
    services = current_services()
    prompt = PromptStore(services.tags, services.clock).build(services.binder, current_caller().identity)
    if _wants_plain_text():
        reply = make_response(prompt.text)
        reply.content_type = "text/plain; charset=utf-8"
        validator = f"{prompt.validator}-text"  # one for each form of the reply
    else:
        reply = jsonify(_in_shape(prompt))
        validator = prompt.validator
    reply.vary.add("Accept")
    return with_validator(reply, validator)


def _in_shape(prompt: Prompt) -> dict[str, object]:
    """Return the reply in the shape of PromptReply, built by hand: this is asked for on every turn."""
    return {
        "text": prompt.text,
        "segments": [
            {"name": segment.name, "text": segment.text, "volatility": segment.volatility}
            for segment in prompt.segments
        ],
        "memory": prompt.memory_summary(),
        "as_of": utc(prompt.as_of),
    }


def _wants_plain_text() -> bool:
    if "text/" not in request.headers.get("Accept", "").lower():
        return False
    return request.accept_mimetypes.best_match(("application/json", "text/plain")) == "text/plain"
