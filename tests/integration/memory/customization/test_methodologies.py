"""Methodologies of an organization's own: data, checked, and used in contexts."""

from datetime import datetime
from typing import Any

import pytest

from accounts.caller import Caller
from accounts.errors import InvalidInput, NotFound
from memory.customization.actions import MOST_METHODOLOGIES, define_methodology, remove_methodology
from memory.customization.phases import Phase
from memory.customization.queries import list_methodologies, own_methodologies
from memory.search.context import Context, ContextRequest, context
from memory.search.request import SearchRequest
from teams.errors import NotBoundToProject, RoleNotSufficient
from tests.support.memories import as_agent

KANBAN = {"ready": "define", "doing": "implement"}


def _pack(caller: Caller, now: datetime, **given: Any) -> Context:
    request = ContextRequest(search=SearchRequest(query="anything"), **given)
    return context(caller=caller, request=request, now=now)


def test_contexts_go_by_the_organizations_own_names(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    define_methodology(caller=caller, name="kanban", phases=KANBAN, now=now)

    packed = _pack(member_caller, now, methodology="kanban", phase="ready")

    assert (packed.phase, packed.budget_tokens) == (Phase.DEFINE, 2500)


def test_an_own_one_covers_ours_of_the_same_name(caller: Caller, store: str, now: datetime) -> None:
    define_methodology(caller=caller, name="native", phases={"coding": "reflect"}, now=now)

    assert _pack(caller, now, phase="coding").phase is Phase.REFLECT


def test_one_is_defined_anew_and_removed(caller: Caller, store: str, now: datetime) -> None:
    define_methodology(caller=caller, name="kanban", phases=KANBAN, now=now)
    define_methodology(caller=caller, name="kanban", phases={"doing": "refine"}, now=now)
    found = {view.name: view for view in list_methodologies(caller=caller)}

    remove_methodology(caller=caller, name="kanban")

    assert found["kanban"].phases == {"doing": Phase.REFINE}
    assert [view.name for view in found.values() if view.is_own] == ["kanban"]
    assert own_methodologies(caller=caller) == {}
    with pytest.raises(NotFound):
        remove_methodology(caller=caller, name="kanban")


@pytest.mark.parametrize(
    ("name", "phases", "pointer"),
    [
        ("Kanban!", KANBAN, "/name"),
        ("", KANBAN, "/name"),
        ("kanban", {}, "/phases"),
        ("kanban", {" ": "define"}, "/phases"),
        ("kanban", {"doing": "lunch"}, "/phases/doing"),
        ("kanban", {"doing": 7}, "/phases/doing"),
        ("kanban", {f"phase {n}": "define" for n in range(51)}, "/phases"),
    ],
)
def test_what_is_no_methodology_is_refused(
    caller: Caller, store: str, now: datetime, name: str, phases: dict[str, Any], pointer: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        define_methodology(caller=caller, name=name, phases=phases, now=now)

    assert refused.value.errors[0].pointer == pointer
    assert own_methodologies(caller=caller) == {}


def test_there_is_room_for_so_many(caller: Caller, store: str, now: datetime) -> None:
    for number in range(MOST_METHODOLOGIES):
        define_methodology(caller=caller, name=f"way-{number}", phases=KANBAN, now=now)

    with pytest.raises(InvalidInput):
        define_methodology(caller=caller, name="one-more", phases=KANBAN, now=now)


def test_members_and_bound_tokens_do_not_define_them(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    bound = as_agent(caller, bound_projects=())

    with pytest.raises(NotBoundToProject):
        define_methodology(caller=bound, name="kanban", phases=KANBAN, now=now)
    with pytest.raises(RoleNotSufficient):
        define_methodology(caller=member_caller, name="kanban", phases=KANBAN, now=now)
