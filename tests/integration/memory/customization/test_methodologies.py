"""Methodologies of an organization's own: data, checked, and used in contexts."""

from datetime import datetime
from threading import Event
from time import monotonic
from typing import Any

import pytest
from django.db import connection

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import InvalidInput, NotFound, RoleNotSufficient
from accounts.models import Organization
from memory.customization import actions
from memory.customization.actions import Course, define_methodology, remove_methodology
from memory.customization.custom_type_rules import OwnType
from memory.customization.phases import Phase
from memory.customization.queries import list_methodologies, own_methodologies
from memory.search.context import Context, ContextRequest, context
from memory.search.request import SearchRequest
from memory.taxonomy import MemoryType
from teams.errors import NotBoundToProject
from tests.support.memories import as_agent
from tests.support.racing import race_inside

KANBAN = {"ready": "define", "doing": "implement"}


def _pack(caller: Caller, now: datetime, **given: Any) -> Context:
    request = ContextRequest(search=SearchRequest(query="anything"), **given)
    return context(caller=caller, request=request, now=now)


def test_contexts_go_by_the_organizations_own_names_which_cover_ours(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    define_methodology(caller=caller, name="kanban", phases=KANBAN, now=now)
    define_methodology(caller=caller, name="native", phases={"coding": "reflect"}, now=now)

    packed = _pack(member_caller, now, methodology="kanban", phase="ready")

    assert (packed.phase, packed.budget_tokens) == (Phase.DEFINE, 2500)
    assert _pack(caller, now, phase="coding").phase is Phase.REFLECT


def test_one_is_defined_anew_and_removed_and_there_is_room_for_so_many(
    caller: Caller, store: str, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "MOST_METHODOLOGIES", 1)
    define_methodology(caller=caller, name="kanban", phases=KANBAN, now=now)
    define_methodology(caller=caller, name="kanban", phases={"doing": "refine"}, now=now)
    found = {view.name: view for view in list_methodologies(caller=caller)}
    with pytest.raises(InvalidInput):
        define_methodology(caller=caller, name="one-more", phases=KANBAN, now=now)

    remove_methodology(caller=caller, name="kanban")

    assert found["kanban"].phases == {"doing": Phase.REFINE}
    assert [view.name for view in found.values() if view.is_own] == ["kanban"]
    assert own_methodologies(caller=caller) == {}
    with pytest.raises(NotFound):
        remove_methodology(caller=caller, name="kanban")


def test_what_is_no_methodology_is_refused(caller: Caller, store: str, now: datetime) -> None:
    faults: tuple[tuple[str, dict[str, Any], str], ...] = (
        ("Kanban!", KANBAN, "/name"),
        ("kanban", {}, "/phases"),
        ("kanban", {" ": "define"}, "/phases"),
        ("kanban", {"doing": "lunch"}, "/phases/doing"),
        ("kanban", {"doing": 7}, "/phases/doing"),
        ("kanban", {f"phase {n}": "define" for n in range(51)}, "/phases"),
    )
    for name, phases, pointer in faults:
        with pytest.raises(InvalidInput) as refused:
            define_methodology(caller=caller, name=name, phases=phases, now=now)
        assert refused.value.errors[0].pointer == pointer
    assert own_methodologies(caller=caller) == {}


def test_members_and_bound_tokens_do_not_define_them(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    bound = as_agent(caller, bound_projects=())

    with pytest.raises(NotBoundToProject):
        define_methodology(caller=bound, name="kanban", phases=KANBAN, now=now)
    with pytest.raises(RoleNotSufficient):
        define_methodology(caller=member_caller, name="kanban", phases=KANBAN, now=now)


LONGEST_WAIT = 20  # seconds until the other is seen to wait
STORY = OwnType(name="user-story", base=MemoryType.REQUIREMENT, says="What a user needs, and why.")


def refused(caller: Caller, name: str, now: datetime) -> str:
    """Define a methodology with the type; return the code of what is refused, empty for nothing."""
    course = Course(types=(STORY,))
    try:
        define_methodology(
            caller=caller, name=name, phases={"doing": "implement"}, course=course, now=now
        )
    except InvalidInput as error:
        return error.errors[0].code
    return ""


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("in_organization")
def test_a_type_has_one_owner(organization: Organization, caller: Caller, now: datetime) -> None:
    is_written, is_ended = Event(), Event()

    def work(number: int) -> str:
        if number:
            assert is_written.wait(LONGEST_WAIT)
            code = refused(caller, "kanban", now)
            is_ended.set()
            return code
        with tenancy.unit():
            code = refused(caller, "scrum", now)
            is_written.set()
            until_somebody_waits(is_ended)
        return code

    assert race_inside(organization, work, times=2, threads=2) == ["", "taken"]
    assert [one.name for one in list_methodologies(caller=caller) if one.types] == ["scrum"]


def until_somebody_waits(is_ended: Event) -> None:
    """Return once another transaction waits for a lock of ours, or did not and has ended."""
    until = monotonic() + LONGEST_WAIT
    with connection.cursor() as cursor:
        while monotonic() < until and not is_ended.is_set():
            cursor.execute(
                "SELECT count(*) FROM pg_locks AS l WHERE NOT granted"
                " AND pg_backend_pid() = ANY(pg_blocking_pids(l.pid))"
            )
            if cursor.fetchone()[0]:
                return
    assert is_ended.is_set(), "nobody waited"
