"""Any order of edits and moves leaves what models of memories and scopes say."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import pytest
from django.test import Client
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from accounts import tenancy
from accounts.caller import Role
from accounts.models import Organization, User
from teams.models import Project, ProjectMember
from tests.support import people
from tests.support.api import Api, agent
from tests.support.goals import Scale
from tests.support.statements import STATEMENTS, numbered

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
    is_confirmed: bool = False
    kept: list[tuple[int, str]] = field(default_factory=list)


class MemoryMachine(RuleBasedStateMachine):
    """Steps on memories of one project; `api` and `steps` are set by the test.

    The model knows contents, pins, confirmations, states and versions. A step is sent to the
    product and to the model; status, body and ETag must be the model's, and in the end so must
    every list.
    """

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
        again = "known" if twin is not None and twin.is_confirmed else "confirmed"
        assert said["outcome"] == ("added" if twin is None else again)
        if twin is None:
            twin = Known(id=said["memory"]["id"], content=content)
            self.all.append(twin)
        else:
            self.confirmed(twin)
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
        if known.status != "active":
            self.refused(known, answer, 409)
            return
        self.confirmed(known)
        self.agreed(known, answer, answer.json())

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
            self.confirmed(twin)
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

    def confirmed(self, known: Known) -> None:
        """Count a confirmation; who says it again within the hour adds nothing."""
        if not known.is_confirmed:
            self.changed(known, confirmations=known.confirmations + 1, is_confirmed=True)

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


def taken(machine: type[RuleBasedStateMachine], scale: Scale, **given: Any) -> int:
    """Let a machine take its steps; return how many answers were the model's.

    Few steps in every run, many by name, always the same in short. Every step is a request, so
    shrinking would take minutes.
    """
    steps: list[int] = []
    effort = settings(
        max_examples=scale.of(short=8, long=200),
        stateful_step_count=scale.of(short=25, long=50),
        derandomize=not scale.is_long,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate,),
    )
    of_test = type("Machine", (machine,), {**given, "steps": steps})
    run_state_machine_as_test(of_test, settings=effort)
    return sum(steps)


@pytest.mark.goal(name="machines")
def test_memories_are_what_the_model_says_after_any_order_of_edits(
    api: Api, scale: Scale, figure: Callable[[str], None]
) -> None:
    steps = taken(MemoryMachine, scale, api=api)

    figure(f"memories and versions: {steps:,} answers were the model's")
    assert steps > 0


OWNER: Final = "owner"
NAMES: Final = st.sampled_from((OWNER, "ada", "bob"))
MEMBERS: Final = st.sampled_from(("ada", "bob"))
SCOPES: Final = st.sampled_from(("personal", "project", "organization"))
PLACES: Final = st.sampled_from(("open", "closed", None))
IN_PERSON: Final = st.booleans()


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody with a browser and an agent."""

    user: User
    browser: Api
    agent: Api

    def api(self, in_person: bool) -> Api:
        """Return what this person calls with."""
        return self.browser if in_person else self.agent


@dataclass(slots=True, kw_only=True, eq=False)
class Placed:
    """A memory as the model knows it; an audience is a person, a project or everybody."""

    id: str
    content: str
    author: str
    place: str | None
    scope: str
    earlier: list[str] = field(default_factory=list)

    @property
    def audience(self) -> str:
        """Return who may see it."""
        return {"personal": self.author, "project": str(self.place)}.get(self.scope, "everybody")


class ScopeMachine(RuleBasedStateMachine):
    """Steps of three people; the class attributes are set by the test.

    Each works in person and as an agent with a token, in one open and one closed project. The model
    knows audiences; the product is asked by id, in lists, in histories and by search.
    """

    people: ClassVar[dict[str, Person]]
    organization: ClassVar[Organization]
    steps: ClassVar[list[int]]
    memories: Bundle[Placed] = Bundle("memories")

    def __init__(self) -> None:
        super().__init__()
        self.all: list[Placed] = []
        self.members: set[str] = set()
        self.slugs: dict[str, str] = {}

    @initialize()
    def found_projects(self) -> None:
        self.steps.append(0)
        for place in ("open", "closed"):
            slug = self.slugs[place] = f"{place}-{len(self.steps)}"
            sent = {"slug": slug, "open_to_all": place == "open"}
            assert self.people[OWNER].agent.post("projects", sent).status_code == 201

    @rule(target=memories, name=NAMES, scope=SCOPES, place=PLACES, in_person=IN_PERSON)
    def write(self, name: str, scope: str, place: str | None, in_person: bool) -> Placed | None:
        self.steps.append(1)
        content = numbered(number=len(self.steps))
        sent = {"content": content, "type": "fact", "scope": scope, "project": self.slug(place)}
        answer = self.people[name].api(in_person).post("memories", sent)
        expected = self.placing(name, scope, place, in_person) or 201
        assert answer.status_code == expected, (answer.content, sent)
        if expected != 201:
            return None
        id = answer.json()["memory"]["id"]
        known = Placed(id=id, content=content, author=name, place=place, scope=scope)
        self.all.append(known)
        return known

    @rule(known=memories, name=NAMES, scope=SCOPES, in_person=IN_PERSON)
    def move(self, known: Placed | None, name: str, scope: str, in_person: bool) -> None:
        if known is None:
            return
        self.steps.append(1)
        api = self.people[name].api(in_person)
        answer = api.patch(f"memories/{known.id}", {"scope": scope}, If_Match="*")
        expected = self.moving(known, name, scope, in_person) or 200
        assert answer.status_code == expected, (answer.content, known, name, scope, in_person)
        if expected == 200:
            known.earlier.append(known.audience)
            known.scope = scope

    @rule(name=MEMBERS, joins=st.booleans())
    def join_or_leave(self, name: str, joins: bool) -> None:
        """Change who belongs to the closed project; there is no call for it yet."""
        with people.entered(organization=self.organization), tenancy.unit():
            row = Project.objects.get(slug=self.slugs["closed"])
            place = {"project": row, "user_id": self.people[name].user.id}
            if joins:
                ProjectMember.objects.get_or_create(**place)
            else:
                ProjectMember.objects.filter(**place).delete()
        (self.members.add if joins else self.members.discard)(name)

    @rule(known=memories, name=NAMES, in_person=IN_PERSON)
    def look(self, known: Placed | None, name: str, in_person: bool) -> None:
        if known is None:
            return
        self.steps.append(1)
        api = self.people[name].api(in_person)
        answer = api.get(f"memories/{known.id}")
        history = api.get(f"memories/{known.id}/history")
        if not self.sees(name, known.audience):
            assert (answer.status_code, history.status_code) == (404, 404)
            return
        earlier = sum(self.sees(name, audience) for audience in known.earlier)
        assert answer.json()["scope"] == known.scope
        assert len(history.json()["items"]) == 1 + earlier

    @rule(name=NAMES, in_person=IN_PERSON)
    def list_all(self, name: str, in_person: bool) -> None:
        self.steps.append(1)
        items = self.people[name].api(in_person).get("memories?limit=200").json()["items"]
        self.shows_what_is_seen(name, {one["id"] for one in items}, self.all)

    @rule(known=memories, name=NAMES, in_person=IN_PERSON)
    def search(self, known: Placed | None, name: str, in_person: bool) -> None:
        if known is None:
            return
        self.steps.append(1)
        sent = {"query": known.content, "threshold": 0, "limit": 100}
        results = self.people[name].api(in_person).post("search", sent).json()["results"]
        found = {one["memory"]["id"] for one in results}
        self.shows_what_is_seen(name, found, [known])
        assert not found & {one.id for one in self.all if not self.sees(name, one.audience)}

    def teardown(self) -> None:
        for name in self.people:
            self.list_all(name, in_person=True)
            for known in self.all:
                self.look(known, name, in_person=False)

    def shows_what_is_seen(self, name: str, shown: set[str], asked: list[Placed]) -> None:
        expected = {one.id for one in asked if self.sees(name, one.audience)}
        assert shown & {one.id for one in asked} == expected

    def sees(self, name: str, audience: str) -> bool:
        """Say whether someone belongs to an audience now."""
        if audience == "closed":
            return name == OWNER or name in self.members
        return audience in {"everybody", "open", name}

    def placing(self, name: str, scope: str, place: str | None, in_person: bool) -> int | None:
        """Return the status that refuses a place, None for a good one."""
        if place is not None and not self.sees(name, place):
            return 404
        is_too_wide = scope == "organization" and place == "closed"
        is_nowhere = scope == "project" and place is None
        is_not_theirs = scope == "organization" and not (in_person and name == OWNER)
        return 422 if is_too_wide or is_nowhere or is_not_theirs else None

    def moving(self, known: Placed, name: str, scope: str, in_person: bool) -> int | None:
        """Return the status that refuses a move, None for a good one."""
        if not self.sees(name, known.audience):
            return 404
        if scope == known.scope:
            return None
        if scope == "personal" and name != known.author:
            return 403
        if known.scope == "personal" and not in_person:
            return 403
        return self.placing(name, scope, known.place, in_person)

    def slug(self, place: str | None) -> str | None:
        return None if place is None else self.slugs[place]


class Browser(Api):
    """Calls with the session of somebody signed in."""

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Send one call for the organization `acme`."""
        return Api.call(self, method, path, body, X_Cairn_Organization="acme", **headers)


def _person(organization: Organization, user: User, role: Role) -> Person:
    client = Client(raise_request_exception=False)
    client.force_login(user)
    caller = people.as_caller(organization=organization, user=user, role=role)
    return Person(user=user, browser=Browser(client=client), agent=agent(caller))


@pytest.fixture
def three(organization: Organization, owner: User, clean_cache: None) -> dict[str, Person]:
    """The owner and two members."""
    members = {
        name: people.make_person(
            organization=organization, email=f"{name}@acme.test", role=Role.MEMBER
        )
        for name in ("ada", "bob")
    }
    return {
        OWNER: _person(organization, owner, Role.OWNER),
        **{name: _person(organization, user, Role.MEMBER) for name, user in members.items()},
    }


@pytest.mark.goal(name="machines")
def test_people_see_what_the_model_says_after_any_order_of_moves(
    organization: Organization,
    three: dict[str, Person],
    scale: Scale,
    figure: Callable[[str], None],
) -> None:
    steps = taken(ScopeMachine, scale, people=three, organization=organization)

    figure(f"scopes: {steps:,} answers were the model's")
    assert steps > 0
