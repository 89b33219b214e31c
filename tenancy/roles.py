"""Roles and teams: what two plain claims of a token say, and what rights follow from them.

`teams` lists the names of a person's teams; `roles` lists `reviewer`, `admin`, and `lead:<team>` for each team that
the person leads. Anything else in them grants nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

from tenancy.identity import Role

TEAMS_CLAIM = "teams"
ROLES_CLAIM = "roles"
TEAMS_AT_MOST = 100
_LEAD = "lead:"
_NAMED = {"reviewer": Role.REVIEWER, "admin": Role.ADMIN}


@dataclass(frozen=True)
class Rights:
    """A person's roles and teams, as the identity provider says."""

    roles: Role
    team_ids: tuple[UUID, ...]
    led_team_ids: tuple[UUID, ...]


def rights_from_claims(org_id: UUID, claims: Mapping[str, Any]) -> Rights:
    """Return the rights that the claims of one token give; claims of the wrong type give none."""
    names = _strings(claims.get(ROLES_CLAIM))
    roles = Role.NONE
    for name in names:
        roles |= _NAMED.get(name, Role.NONE)
    led = {name.removeprefix(_LEAD) for name in names if name.startswith(_LEAD)} - {""}
    teams = {*_strings(claims.get(TEAMS_CLAIM)), *led}
    return Rights(roles, _team_ids(org_id, teams), _team_ids(org_id, led))


def team_id(org_id: UUID, name: str) -> UUID:
    """Return the id of a team: it follows from org and name, so that a token alone is enough to know it."""
    return uuid5(org_id, f"team:{name}")


def _team_ids(org_id: UUID, names: set[str]) -> tuple[UUID, ...]:
    return tuple(sorted(team_id(org_id, name) for name in sorted(names)[:TEAMS_AT_MOST]))


def _strings(claim: Any) -> list[str]:
    values = [claim] if isinstance(claim, str) else claim
    return [value for value in values if isinstance(value, str) and value] if isinstance(values, list) else []
