"""Which functions of schema tenancy each role may call; what else the roles may do, the lints of `sql/lints` say."""

import pytest

from tests.world import World

# Reviewed: everything of schema tenancy that each role may call.
ACCESSORS = {"org_id", "user_id", "roles", "team_ids", "led_team_ids", "stored_time"}
TRAIL = {"append_audit", "remove_audit_details", "expire_audit_details", "readiness"}
LOOK_UPS = {
    "admit", "begin_renewal", "connect_provider", "disconnect_provider", "end_session", "find_client", "find_provider",
    "find_session",
    "start_session", "find_sign_in_provider", "find_token_providers", "forget_refresh_token", "keep_sign_in",
    "reconnect_provider", "renew_session", "resolve_user", "sign_out_by_provider", "sign_out_everywhere",
    "take_sign_in",
}  # fmt: skip
MAY_CALL: dict[str, set[str]] = {
    "keepline_app": ACCESSORS | TRAIL | LOOK_UPS,
    "keepline_worker": ACCESSORS | TRAIL,
    "keepline_owner": ACCESSORS,
    "keepline_maint": {"stored_time"},
    "keepline_purge": set(),
    "keepline_migrate": set(),
}


@pytest.mark.parametrize("role", MAY_CALL)
def test_a_role_calls_the_functions_it_needs(world: World, role: str) -> None:
    callable_ = world.rows(
        "SELECT proname FROM pg_proc WHERE pronamespace = 'tenancy'::regnamespace "
        "AND has_function_privilege(%s, oid, 'EXECUTE')",
        role,
    )
    assert {name for (name,) in callable_} == MAY_CALL[role]
