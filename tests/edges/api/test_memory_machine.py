"""Any order of edits over REST leaves what a small model of memories says.

The model knows contents, pins, confirmations, states and versions. A step is sent to the product
and to the model; status, body and ETag must be the model's, and in the end so must every list.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.support import machines
from tests.support.api import Api
from tests.support.goals import Scale
from tests.support.statements import STATEMENTS

TEXTS: Final = st.sampled_from(STATEMENTS)
TAGS: Final = st.sampled_from((["cart"], ["cart", "cache"], []))


@dataclass(slots=True, kw_only=True, eq=False)
class Known:
    """A memory as the model knows it; `kept` holds number and content of versions before."""

    id: str
    content: str
    tags: list[str] = field(default_factory=list)
    pinned: bool = False
    status: str = "active"
    version: int = 1
    confirmations: int = 0
    superseded_by: str | None = None
    kept: list[tuple[int, str]] = field(default_factory=list)


class Machine(RuleBasedStateMachine):
    """Steps on memories of one project; `api` and `steps` are set by the test."""

    api: ClassVar[Api]
    steps: ClassVar[list[int]]
    memories: Bundle[Known] = Bundle("memories")

    def __init__(self) -> None:
        super().__init__()
        self.all: list[Known] = []
        self.project = f"p{len(self.steps)}"

    @initialize()
    def place(self) -> None:
        self.steps.append(0)
        assert self.api.post("projects", {"slug": self.project}).status_code == 201

    @rule(target=memories, content=TEXTS)
    def remember(self, content: str) -> Known:
        answer = self.api.post("memories", {"project": self.project, "content": content})
        twin = self.active(content)
        said = answer.json()
        assert answer.status_code == 201
        assert said["outcome"] == ("added" if twin is None else "confirmed")
        if twin is None:
            twin = Known(id=said["memory"]["id"], content=content)
            self.all.append(twin)
        else:
            self.changed(twin, confirmations=twin.confirmations + 1)
        return self.agreed(twin, answer, said["memory"])

    @rule(known=memories, content=TEXTS, tags=TAGS, named=st.sampled_from(("this", "*")))
    def revise(self, known: Known, content: str, tags: list[str], named: str) -> None:
        named = f'"v{known.version}"' if named == "this" else named
        sent = {"content": content, "tags": tags, "reason": "better"}
        answer = self.api.patch(f"memories/{known.id}", sent, If_Match=named)
        twin = self.active(content)
        if known.status != "active" or twin not in {None, known}:
            self.refused(known, answer, 409)
            return
        known.kept.insert(0, (known.version, known.content))
        self.changed(known, content=content, tags=tags)
        self.agreed(known, answer, answer.json())

    @rule(known=memories, ahead=st.sampled_from((-1, 1, 100)), verb=st.sampled_from("PD"))
    def edit_another_version(self, known: Known, ahead: int, verb: str) -> None:
        tag = f'"v{max(0, known.version + ahead)}"'
        path = f"memories/{known.id}"
        answer = (
            self.api.patch(path, {"tags": ["lost"]}, If_Match=tag)
            if verb == "P"
            else self.api.delete(path, If_Match=tag)
        )
        self.refused(known, answer, 412)

    @rule(known=memories)
    def edit_no_version(self, known: Known) -> None:
        self.refused(known, self.api.patch(f"memories/{known.id}", {"tags": ["lost"]}), 428)

    @rule(known=memories)
    def confirm(self, known: Known) -> None:
        answer = self.api.post(f"memories/{known.id}/confirm")
        self.done(known, answer, confirmations=known.confirmations + 1)

    @rule(known=memories, pinned=st.booleans())
    def pin(self, known: Known, pinned: bool) -> None:
        answer = self.api.post(f"memories/{known.id}/pin", {"pinned": pinned})
        self.done(known, answer, pinned=pinned)

    @rule(known=memories, named=st.booleans())
    def archive(self, known: Known, named: bool) -> None:
        tag = {"If_Match": f'"v{known.version}"'} if named else {}
        self.done(known, self.api.delete(f"memories/{known.id}", **tag), status="archived")

    @rule(known=memories)
    def restore(self, known: Known) -> None:
        answer = self.api.post(f"memories/{known.id}/restore")
        if known.status != "archived" or self.active(known.content):
            self.refused(known, answer, 409)
            return
        self.changed(known, status="active")
        self.agreed(known, answer, answer.json())

    @rule(target=memories, known=memories, content=TEXTS)
    def correct(self, known: Known, content: str) -> Known:
        answer = self.api.post(f"memories/{known.id}/correct", {"content": content})
        if known.status != "active":
            return self.refused(known, answer, 409)
        if content == known.content:
            return self.refused(known, answer, 422)
        successor = self.successor(known, content, answer.json()["memory"])
        self.changed(known, status="superseded", superseded_by=successor.id)
        self.agreed(known, self.api.get(f"memories/{known.id}"), None)
        return self.agreed(successor, answer, answer.json()["memory"])

    @rule(known=memories)
    def look_back(self, known: Known) -> None:
        items = self.api.get(f"memories/{known.id}/history").json()["items"]
        shown = [(one["number"], one["content"]) for one in items]
        assert shown == [(known.version, known.content), *known.kept]

    @precondition(lambda self: self.all)
    @rule(status=st.sampled_from(("active", "archived", "superseded")))
    def list_them(self, status: str) -> None:
        items = self.api.get(f"memories?project={self.project}&status={status}").json()["items"]
        expected = {one.id for one in self.all if one.status == status}
        assert {one["id"] for one in items} == expected

    def teardown(self) -> None:
        for known in self.all:
            self.agreed(known, self.api.get(f"memories/{known.id}"), None)
            self.look_back(known)

    def active(self, content: str) -> Known | None:
        mine = (one for one in self.all if one.content == content and one.status == "active")
        return next(mine, None)

    def successor(self, known: Known, content: str, said: dict[str, Any]) -> Known:
        twin = self.active(content)
        if twin is not None:
            self.changed(twin, confirmations=twin.confirmations + 1)
            return twin
        fresh = Known(id=said["id"], content=content, tags=known.tags, pinned=known.pinned)
        self.all.append(fresh)
        return fresh

    def done(self, known: Known, answer: Any, **changes: Any) -> None:
        if known.status != "active":
            self.refused(known, answer, 409)
            return
        self.changed(known, **changes)
        self.agreed(known, answer, answer.json())

    def changed(self, known: Known, **changes: Any) -> None:
        known.version += 1
        for name, value in changes.items():
            setattr(known, name, value)

    def refused(self, known: Known, answer: Any, status: int) -> Known:
        assert answer.status_code == status, answer.content
        return self.agreed(known, self.api.get(f"memories/{known.id}"), None)

    def agreed(self, known: Known, answer: Any, said: dict[str, Any] | None) -> Known:
        self.steps.append(1)
        shown = answer.json() if said is None else said
        assert answer.status_code < 300, answer.content
        assert answer["ETag"] == f'"v{known.version}"'
        names = ("id", "content", "tags", "pinned", "status", "version", "confirmations")
        for name in (*names, "superseded_by"):
            assert shown[name] == getattr(known, name), (name, shown)
        return known


@pytest.mark.goal(name="machines")
def test_memories_are_what_the_model_says_after_any_order_of_edits(
    api: Api, scale: Scale, figure: Callable[[str], None]
) -> None:
    steps: list[int] = []

    machine = type("Machine", (Machine,), {"api": api, "steps": steps})
    run_state_machine_as_test(machine, settings=machines.effort(scale=scale))

    figure(f"memories and versions: {sum(steps):,} answers were the model's")
    assert sum(steps) > 0
