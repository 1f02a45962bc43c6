"""Sessions in groups: who is given nothing, that it stays so, and that nobody is told."""

from typing import Any

import pytest

from accounts import tenancy
from memory.sessions.models import GivenOut, Session
from tests.support.api import STATEMENT, Api

FILE = "src/cart/prices.py"
WARNING = "Rounding in this file is half to even, so totals differ from invoices by a cent."
TRIES = 80  # sessions that are begun until one is in a group that half of them are in
TO_ALL: Any = {"enabled": True, "control_percent": 0, "passive_percent": 0}


class Programs:
    """Programs whose sessions are compared in the project `shop`."""

    def __init__(self, api: Api) -> None:
        self.api = api

    def switch(self, **fields: Any) -> Any:
        """Change what the project compares; return the answer."""
        return self.api.patch("projects/shop/experiments", fields)

    def know(self) -> None:
        """Remember what a first prompt and the touch of a file would bring."""
        self.api.remember(STATEMENT)
        self.api.remember(WARNING, related_files=[FILE])

    def tell(self, session: str, **event: Any) -> str:
        """Send an event of a session; return what is given."""
        body = {"session": session, "project": "shop", **event}
        found: str = self.api.post("hooks/generic", body).json().get("context", "")
        return found

    def asks(self, session: str) -> str:
        """Send the first prompt of a session; return what is given."""
        return self.tell(session, event="prompt", prompt="Why are prices stale in tests?")

    def touches(self, session: str) -> str:
        """Tell of a file that was read; return what is given."""
        return self.tell(session, event="result", tool="read", arguments={"path": FILE})

    def begin_in(self, group: str) -> tuple[str, str]:
        """Begin sessions until one is in a group; return its name and what its prompt brought."""
        self.know()
        self.switch(**{**TO_ALL, f"{group}_percent": 50})
        for place in range(TRIES):
            given = self.asks(f"run-{place}")
            if row_of(f"run-{place}").experiment_group == group:
                return f"run-{place}", given
        raise AssertionError(f"none of {TRIES} sessions is in {group}")


@pytest.fixture
def programs(api: Api, in_organization: object) -> Programs:
    """Programs that have told nothing yet."""
    return Programs(api)


def row_of(session: str) -> Session:
    """Return the row of a program's session."""
    with tenancy.unit():
        return Session.objects.get(external_id=f"generic/{session}")


def group_of(session: str) -> str:
    """Return the group of a program's session."""
    return row_of(session).experiment_group


def test_nothing_is_compared_where_nobody_switched_it_on_and_what_is_paused_settles_no_group(
    programs: Programs,
) -> None:
    programs.know()

    given = programs.asks("r")

    assert STATEMENT in given
    assert group_of("r") == "none"
    assert programs.api.get("projects/shop/experiments").json() == {
        "enabled": False, "control_percent": 5.0, "passive_percent": 10.0, "withheld_percent": 0.0,
    }  # fmt: skip
    programs.switch(enabled=True)
    programs.api.post("projects/shop/pause", {"paused": True})
    assert (programs.asks("paused"), group_of("paused")) == ("", "")


def test_the_control_group_is_given_nothing_but_what_it_searches_and_keeps_to_its_group(
    programs: Programs,
) -> None:
    session, given = programs.begin_in("control")
    programs.switch(control_percent=0)

    assert (given, programs.touches(session), group_of(session)) == ("", "", "control")
    row = row_of(session)
    step = programs.api.post(f"sessions/{row.id}/step", {"step": 6, "files": [FILE]}).json()
    assert (step["text"], step["memories"]) == ("", [])
    with tenancy.unit():
        assert not GivenOut.all_rows.filter(session_id=row.id).exists()
    asked = {"query": "stale prices in tests", "project": "shop"}
    found = programs.api.post("search", asked).json()
    assert STATEMENT in [one["memory"]["content"] for one in found["results"]]


def test_the_passive_group_is_given_its_brief_no_warning_and_its_name_once_it_has_ended(
    programs: Programs,
) -> None:
    programs.asks("apart")
    session, given = programs.begin_in("passive")

    assert STATEMENT in given
    assert programs.touches(session) == ""
    groups = []
    for name in ("apart", session):
        address = f"sessions/{row_of(name).id}"
        running = programs.api.get(address).json()["group"]
        programs.api.post(f"{address}/end")
        groups.append((running, programs.api.get(address).json()["group"]))
    assert groups == [("", ""), ("", "passive")]


def test_a_session_that_was_given_something_before_takes_no_part(programs: Programs) -> None:
    programs.know()
    programs.asks("early")

    programs.switch(enabled=True, control_percent=50, passive_percent=40)

    assert group_of("early") == "none"
    assert WARNING in programs.touches("early")


def test_off_gives_everybody_everything_at_once(programs: Programs) -> None:
    session, _ = programs.begin_in("control")

    programs.switch(enabled=False)

    assert STATEMENT in programs.touches(session)  # the brief that it did not have
    assert group_of(session) == "control"


def test_a_memory_is_withheld_from_some_sessions_which_the_log_tells_until_it_is_pinned(
    programs: Programs,
) -> None:
    memory = programs.api.remember(WARNING, related_files=[FILE])
    programs.switch(**TO_ALL, withheld_percent=50)

    given = {f"run-{place}": programs.touches(f"run-{place}") for place in range(30)}

    with tenancy.unit():
        rows = GivenOut.all_rows.filter(memory_id=memory["id"], session_id__isnull=False)
        held = {row.session_id: row for row in rows if row.withheld}
        told = {row.session_id for row in rows if not row.withheld}
    assert {row_of(name).id for name, text in given.items() if not text} == set(held)
    assert told == {row_of(name).id for name, text in given.items() if WARNING in text}
    assert len(told) + len(held) == 30
    assert min(len(told), len(held)) > 0
    assert {(row.person, row.token, row.tokens) for row in held.values()} == {(None, None, 0)}
    silent = row_of(next(name for name, text in given.items() if not text))
    assert programs.touches(silent.external_id.removeprefix("generic/")) == ""
    assert programs.api.get(f"sessions/{silent.id}/injections").json()["items"] == []
    with tenancy.unit():
        assert GivenOut.all_rows.filter(session_id=silent.id).count() == 1
    programs.api.post(f"memories/{memory['id']}/pin", {"pinned": True})
    assert all(WARNING in programs.touches(f"pinned-{place}") for place in range(12))


def test_wrong_shares_are_refused_by_name(programs: Programs) -> None:
    wrong: tuple[tuple[dict[str, Any], list[str]], ...] = (
        ({}, []),
        ({"control_percent": -1}, ["/control_percent"]),
        ({"passive_percent": 51}, ["/passive_percent"]),
        ({"withheld_percent": "10"}, ["/withheld_percent"]),
        ({"enabled": 1}, ["/enabled"]),
        ({"control_percent": 50, "passive_percent": 45}, ["/passive_percent"]),
        ({"shares": 3}, ["/shares"]),
    )
    for sent, pointers in wrong:
        answer = programs.switch(**sent)
        assert answer.status_code == 422
        assert [one["pointer"] for one in answer.json().get("errors", ())] == pointers
    assert programs.api.get("projects/shop/experiments").json()["control_percent"] == 5.0


def test_only_who_manages_projects_compares_and_strangers_see_nothing(
    api: Api, member_api: Api, other_api: Api
) -> None:
    api.post("projects", {"slug": "vault", "open_to_all": False})

    refused = Programs(member_api).switch(enabled=True)
    hidden = [one.get("projects/vault/experiments") for one in (member_api, other_api)]
    Programs(other_api).switch(enabled=True)

    assert refused.status_code == 403
    assert [one.status_code for one in hidden] == [404, 404]
    assert member_api.get("projects/shop/experiments").json()["enabled"] is False
