"""Sessions in groups: who is given nothing, that it stays so, and that nobody is told."""

from typing import Any

import pytest

from accounts import tenancy
from memory.sessions.models import GivenOut, Session
from tests.support.api import STATEMENT, Api

FILE = "src/cart/prices.py"
WARNING = "Rounding in this file is half to even, so totals differ from invoices by a cent."
TRIES = 80  # sessions that are begun until one is in a group that half of them are in


def switched(api: Api, **fields: Any) -> Any:
    """Change what the project `shop` compares; return the answer."""
    return api.patch("projects/shop/experiments", fields)


def asked(api: Api, session: str) -> str:
    """Send the first prompt of a session; return what is given."""
    body = {"session": session, "event": "prompt", "prompt": "Why are prices stale in tests?"}
    found: str = api.post("hooks/generic", {**body, "project": "shop"}).json().get("context", "")
    return found


def touched(api: Api, session: str) -> str:
    """Tell of a file that was read; return what is given."""
    body = {"session": session, "event": "result", "tool": "read", "arguments": {"path": FILE}}
    found: str = api.post("hooks/generic", {**body, "project": "shop"}).json().get("context", "")
    return found


def row_of(session: str) -> Session:
    """Return the row of a program's session."""
    with tenancy.unit():
        return Session.objects.get(external_id=f"generic/{session}")


def begun_in(api: Api, group: str) -> tuple[str, str]:
    """Begin sessions until one is in a group; return its name and what its first prompt brought."""
    for place in range(TRIES):
        given = asked(api, f"run-{place}")
        if row_of(f"run-{place}").experiment_group == group:
            return f"run-{place}", given
    raise AssertionError(f"none of {TRIES} sessions is in {group}")


def known(api: Api) -> None:
    """Remember what a first prompt and the touch of a file would bring."""
    api.remember(STATEMENT)
    api.remember(WARNING, related_files=[FILE])


def test_nothing_is_compared_as_long_as_nobody_switches_it_on(
    api: Api, in_organization: object
) -> None:
    known(api)

    given = asked(api, "r")

    assert STATEMENT in given
    assert row_of("r").experiment_group == "none"
    assert api.get("projects/shop/experiments").json() == {
        "enabled": False, "control_percent": 5.0, "passive_percent": 10.0, "withheld_percent": 0.0,
    }  # fmt: skip


def test_the_control_group_is_given_nothing_and_its_ledger_is_empty(
    api: Api, in_organization: object
) -> None:
    known(api)
    switched(api, enabled=True, control_percent=50, passive_percent=0)

    session, given = begun_in(api, "control")

    assert (given, touched(api, session)) == ("", "")
    row = row_of(session)
    step = api.post(f"sessions/{row.id}/step", {"step": 6, "files": [FILE]}).json()
    assert (step["text"], step["memories"]) == ("", [])
    with tenancy.unit():
        assert not GivenOut.all_rows.filter(session_id=row.id).exists()


def test_the_passive_group_is_given_its_brief_and_no_warning(
    api: Api, in_organization: object
) -> None:
    known(api)
    switched(api, enabled=True, control_percent=0, passive_percent=50)

    session, given = begun_in(api, "passive")

    assert STATEMENT in given
    assert touched(api, session) == ""


def test_a_session_keeps_its_group_when_the_shares_change(
    api: Api, in_organization: object
) -> None:
    known(api)
    switched(api, enabled=True, control_percent=50, passive_percent=0)
    session, _ = begun_in(api, "control")

    switched(api, control_percent=0)

    assert touched(api, session) == ""
    assert row_of(session).experiment_group == "control"


def test_a_session_that_was_given_something_before_takes_no_part(
    api: Api, in_organization: object
) -> None:
    api.remember(STATEMENT)
    asked(api, "early")
    api.remember(WARNING, related_files=[FILE])

    switched(api, enabled=True, control_percent=50, passive_percent=40)

    assert row_of("early").experiment_group == "none"
    assert WARNING in touched(api, "early")


def test_off_gives_everybody_everything_at_once(api: Api, in_organization: object) -> None:
    known(api)
    switched(api, enabled=True, control_percent=50, passive_percent=0)
    session, _ = begun_in(api, "control")

    switched(api, enabled=False)

    assert STATEMENT in touched(api, session)  # the brief that it did not have
    assert row_of(session).experiment_group == "control"


def test_what_is_paused_settles_no_group(api: Api, in_organization: object) -> None:
    known(api)
    switched(api, enabled=True)
    api.post("projects/shop/pause", {"paused": True})

    given = asked(api, "r")

    assert (given, row_of("r").experiment_group) == ("", "")


def test_what_an_agent_searches_for_is_never_withheld(api: Api, in_organization: object) -> None:
    known(api)
    switched(api, enabled=True, control_percent=50, passive_percent=0)
    begun_in(api, "control")

    found = api.post("search", {"query": "stale prices in tests", "project": "shop"}).json()

    assert STATEMENT in [one["memory"]["content"] for one in found["results"]]


def test_a_memory_is_withheld_from_some_sessions_and_both_stand_in_the_ledger(
    api: Api, in_organization: object
) -> None:
    memory = api.remember(WARNING, related_files=[FILE])
    switched(api, enabled=True, control_percent=0, passive_percent=0, withheld_percent=50)

    given = {name: touched(api, name) for name in (f"run-{place}" for place in range(30))}

    with tenancy.unit():
        rows = GivenOut.all_rows.filter(memory_id=memory["id"], session_id__isnull=False)
        held = {row.session_id: row for row in rows if row.withheld}
        told = {row.session_id for row in rows if not row.withheld}
    silent = {row_of(name).id for name, text in given.items() if not text}
    assert silent == set(held)
    assert told == {row_of(name).id for name, text in given.items() if WARNING in text}
    assert len(told) + len(held) == 30
    assert min(len(told), len(held)) > 0
    assert {(row.person, row.token, row.tokens) for row in held.values()} == {(None, None, 0)}


def test_what_was_withheld_stays_withheld_in_that_session_and_is_no_part_of_its_ledger(
    api: Api, in_organization: object
) -> None:
    api.remember(WARNING, related_files=[FILE])
    switched(api, enabled=True, control_percent=0, passive_percent=0, withheld_percent=50)
    silent = next(name for name in map(str, range(TRIES)) if not touched(api, name))

    again = touched(api, silent)

    row = row_of(silent)
    assert again == ""
    assert api.get(f"sessions/{row.id}/injections").json()["items"] == []
    with tenancy.unit():
        assert GivenOut.all_rows.filter(session_id=row.id).count() == 1


def test_what_is_pinned_is_given_to_everybody(api: Api) -> None:
    memory = api.remember(WARNING, related_files=[FILE])
    api.post(f"memories/{memory['id']}/pin", {"pinned": True})
    switched(api, enabled=True, control_percent=0, passive_percent=0, withheld_percent=50)

    given = [touched(api, f"run-{place}") for place in range(12)]

    assert all(WARNING in text for text in given)


@pytest.mark.parametrize(
    ("sent", "pointer"),
    [
        ({"control_percent": -1}, "/control_percent"),
        ({"passive_percent": 51}, "/passive_percent"),
        ({"withheld_percent": "10"}, "/withheld_percent"),
        ({"enabled": 1}, "/enabled"),
        ({"control_percent": 50, "passive_percent": 45}, "/passive_percent"),
        ({"shares": 3}, "/shares"),
    ],
)
def test_wrong_shares_are_refused_by_name(api: Api, sent: dict[str, Any], pointer: str) -> None:
    answer = switched(api, **sent)

    assert answer.status_code == 422
    assert [one["pointer"] for one in answer.json()["errors"]] == [pointer]
    assert api.get("projects/shop/experiments").json()["control_percent"] == 5.0


def test_nothing_to_change_is_refused(api: Api) -> None:
    assert switched(api).status_code == 422


def test_only_who_manages_projects_compares_and_strangers_see_nothing(
    api: Api, member_api: Api, other_api: Api
) -> None:
    api.post("projects", {"slug": "vault", "open_to_all": False})

    refused = switched(member_api, enabled=True)
    hidden = member_api.get("projects/vault/experiments")
    elsewhere = other_api.get("projects/vault/experiments")
    switched(other_api, enabled=True)

    assert refused.status_code == 403
    assert (hidden.status_code, elsewhere.status_code) == (404, 404)
    assert member_api.get("projects/shop/experiments").json()["enabled"] is False


def test_the_group_of_a_session_is_told_once_it_has_ended(
    api: Api, in_organization: object
) -> None:
    known(api)
    switched(api, enabled=True, control_percent=50, passive_percent=0)
    session, _ = begun_in(api, "control")
    address = f"sessions/{row_of(session).id}"

    running = api.get(address).json()["group"]
    api.post(f"{address}/end")
    ended = api.get(address).json()["group"]

    assert (running, ended) == ("", "control")


def test_a_session_that_takes_no_part_has_no_group(api: Api, in_organization: object) -> None:
    asked(api, "r")
    address = f"sessions/{row_of('r').id}"
    api.post(f"{address}/end")

    assert api.get(address).json()["group"] == ""
