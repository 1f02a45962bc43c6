"""Two organizations full of marked texts, and everybody who may try to read them.

Each text says where it is from by a canary, `canary-<organization>-<place>`. `SEES` says whose
canaries a role may ever meet; it is written down here, not taken from the code.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.test import Client

from accounts import jobs, tenancy
from accounts.actions.members import invite, revoke_invitation
from accounts.actions.tokens import NewToken, create_token
from accounts.authentication import entered
from accounts.caller import Caller, Role, TokenScope, scopes_of
from accounts.models import Job, Organization, User
from accounts.token_format import TokenKind
from graph.code.values import Layer, NodeKind, NodeSource
from graph.models import Edge, Node
from memory.customization.actions import Course, define_methodology, put_style
from memory.customization.custom_type_rules import OwnType
from memory.customization.phases import Transition
from memory.customization.style import NewStyle
from memory.documents.actions.import_batches import begin_import
from memory.documents.actions.note_push import NewNote, push_note
from memory.documents.actions.uploads import Upload
from memory.index import queries as index_queries
from memory.intake.actions.revise import revise
from memory.records.models import Conflict, Memory, MemoryLink
from memory.sessions.actions.append_events import append_events
from memory.sessions.actions.append_turns import NewTurn, append_turns
from memory.sessions.actions.lifecycle import NewSession, open_session
from memory.sessions.models import Session
from memory.taxonomy import MemoryType
from memory.topics.models import Topic, TopicMember
from teams.actions import create_project, remove_member
from teams.models import Change, ProjectMember, Team, TeamMember
from tests.support import people
from tests.support.live import Place, committed
from tests.support.memories import correct, stored

BACKEND = "allauth.account.auth_backends.AuthenticationBackend"
NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
# What everyone of an organization sees.
ALL = frozenset({"organization", "people", "open", "everyone", "house"})
MANAGED = ALL | {"closed", "vault", "token", "invited", "job", "coreteam", "opsteam"}
SEES = {  # places of acme; the stranger owns globex and sees what is there
    "anonymous": frozenset(),
    "outsider": frozenset(),
    "invited": frozenset({"invited"}),
    "stranger": frozenset(),
    "removed": frozenset(),
    "inactive": frozenset(),
    "viewer": ALL,
    "member": ALL | {"closed", "core", "coreteam", "personal", "job", "way"},
    "elsewhere": ALL | {"vault", "ops", "opsteam"},
    "steward": ALL,
    "admin": MANAGED,
    "owner": MANAGED | {"private", "habit"},
    "reading": ALL | {"closed", "core", "coreteam", "personal", "job", "way"},
    "writing": ALL | {"closed", "core", "coreteam", "personal", "job", "way"},
    "bound": frozenset({"open", "private", "house"}),
    "service": ALL,
}
ROLES = tuple(SEES)
STRANGERS = frozenset({"organization", "people", "open", "everyone", "closed", "core", "coreteam",
                       "opsteam", "personal", "token", "invited", "job", "house",
                       "way"})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """Something that has an address; `parts` fill the parameters of addresses."""

    kind: str
    label: str
    parts: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Someone who asks: a browser, and a token where the role has one."""

    name: str
    sees: frozenset[str]
    home: str
    client: Client
    token: str = ""


@dataclass(slots=True, kw_only=True)
class World:
    """Who asks, and what there is."""

    askers: dict[str, Asker] = field(default_factory=dict)
    things: list[Thing] = field(default_factory=list)
    organizations: dict[str, str] = field(default_factory=dict)
    invitations: dict[str, str] = field(default_factory=dict)
    kept_key: str = "isolation-key"
    cursor: str = ""
    callers: dict[str, Caller] = field(default_factory=dict)

    def thing(self, kind: str, label: str) -> Thing:
        """Return the thing of a kind in a place."""
        return next(one for one in self.things if (one.kind, one.label) == (kind, label))


def canary(label: str) -> str:
    """Return the mark of a place, `acme/open` for instance."""
    return f"canary-{label.replace('/', '-')}"


def fill(world: World, tenant: str, place: Place, persons: dict[str, User]) -> None:
    """Fill an organization with marked texts in every place."""
    owner = place.caller
    for name in ("owner", "member", "elsewhere"):
        world.callers.setdefault(f"{tenant}/{name}", owner)
    world.organizations[tenant] = owner.organization_slug
    Organization.objects.filter(pk=owner.organization_id).update(
        name=canary(f"{tenant}/organization")
    )
    _add(world, "organization", f"{tenant}/organization")
    with entered(owner):
        _projects(world, tenant, owner, persons)
        _teams(world, tenant, persons)
        _memories(world, tenant)
        _sessions(world, tenant)
        _imports(world, tenant)
        _styles(world, tenant)
        _methodology(world, tenant)
        _job(world, tenant, persons["member"].id)
    _credentials(world, tenant, owner, persons)


def _add(world: World, kind: str, label: str, id: UUID | None = None, **parts: Any) -> None:
    """Note a thing; addresses call its id `id` or by its kind."""
    named = {} if id is None else {"id": id, f"{kind}_id": id}
    given = {name: str(part) for name, part in {**named, **parts}.items()}
    org = {"org": world.organizations[label.partition("/")[0]]}
    world.things.append(Thing(kind=kind, label=label, parts={**org, **given}))


def _projects(world: World, tenant: str, owner: Caller, persons: dict[str, User]) -> None:
    """Make projects with a person each, and with a file of code."""
    for name, belongs in (("open", "member"), ("closed", "member"), ("vault", "elsewhere")):
        mark = canary(f"{tenant}/{name}")
        made = create_project(
            caller=owner, slug=mark, name=f"Name {mark}", description=f"About {mark}",
            open_to_all=name == "open", now=NOW,
        )  # fmt: skip
        about = {"project_id": made.id, "layer": Layer.STRUCTURAL, "source": NodeSource.AST}
        node = {**about, "label": mark, "indexed_at": NOW}
        with tenancy.unit():
            ProjectMember.objects.get_or_create(project_id=made.id, user_id=persons[belongs].id)
            file = Node.objects.create(
                kind=NodeKind.FILE, qualified=f"src/{mark}.py", hash="a" * 64, **node
            )
            symbol = Node.objects.create(
                kind=NodeKind.FUNCTION, qualified=f"{mark}.open", file=file, **node
            )
            Edge.objects.create(from_node=file, to_node=symbol, type="defines", **about)
        _add(world, "project", f"{tenant}/{name}", project=mark, ref=made.id, slug=mark)


def _teams(world: World, tenant: str, persons: dict[str, User]) -> None:
    for name, belongs in (("core", "member"), ("ops", "elsewhere")):
        mark = canary(f"{tenant}/{name}team")  # who manages it need not see what it shares
        with tenancy.unit():
            team = Team.objects.create(slug=mark, name=f"Name {mark}")
            TeamMember.objects.create(team=team, user_id=persons[belongs].id)
        _add(world, "team", f"{tenant}/{name}team", team.id, ref=team.id, slug=mark)


def _memories(world: World, tenant: str) -> None:
    shared = canary(f"{tenant}/open")
    team = {name: canary(f"{tenant}/{name}team") for name in ("core", "ops")}
    for place, who, given in (
        ("open", "owner", {"project": shared}),
        ("closed", "owner", {"project": canary(f"{tenant}/closed")}),
        ("vault", "owner", {"project": canary(f"{tenant}/vault")}),
        ("personal", "member", {"project": shared, "scope": "personal"}),
        ("private", "owner", {"project": shared, "scope": "personal"}),
        ("core", "member", {"project": shared, "scope": "team", "team": team["core"]}),
        ("ops", "elsewhere", {"project": shared, "scope": "team", "team": team["ops"]}),
        ("everyone", "owner", {"scope": "organization"}),
        ("deleted", "owner", {"project": shared}),
    ):
        if tenant == "globex" and place in {"private", "ops"}:
            continue  # its owner is alone
        memory_id = _memory(world.callers[f"{tenant}/{who}"], f"{tenant}/{place}", given)
        project = given.get("project", "no-project")
        _add(world, "memory", f"{tenant}/{place}", memory_id, project=project, number=1)
        topic_id = _topic(world.callers[f"{tenant}/{who}"], f"{tenant}/{place}", memory_id, given)
        _add(world, "topic", f"{tenant}/{place}", topic_id, project=project)
        conflict_id = _conflict(memory_id, topic_id)
        _add(world, "conflict", f"{tenant}/{place}", conflict_id, project=project)


def _memory(caller: Caller, label: str, given: dict[str, Any]) -> UUID:
    """Store a memory with a mark in every text, a version, a predecessor and a link."""
    mark = canary(label)
    old = stored(
        caller, NOW, f"{mark} was kept under the first stone of the northern warehouse.",
        type="fact", tags=(mark,), related_files=(f"{mark}/store.py",), related_modules=(mark,),
        external_id=mark, source_uri=f"https://wiki.test/{mark}", methodology=mark, **given,
    )  # fmt: skip
    fixed = f"{mark} is kept under the third stone of the northern warehouse now."
    outcome = correct(
        caller=caller, memory_id=old.id, content=fixed, kind="wrong", reason=mark, now=NOW
    )
    assert outcome.memory is not None
    changed = {"tags": [mark, "key"], "reason": mark}
    new = revise(
        caller=caller, memory_id=outcome.memory.id, changes=changed, if_version=None, now=NOW
    )
    if label.endswith("/deleted"):
        with tenancy.unit():
            Memory.objects.filter(pk__in=(old.id, new.id)).update(status="deleted")
            Change.objects.filter(object_id__in=(old.id, new.id)).delete()
    return new.id


def _three_places(world: World, tenant: str) -> Iterator[tuple[str, Caller, dict[str, Any]]]:
    """Yield an open, a closed and a personal place: whose, and in which project."""
    for place, who, project in (
        ("open", "owner", "open"), ("closed", "owner", "closed"), ("personal", "member", "open"),
    ):  # fmt: skip
        yield place, world.callers[f"{tenant}/{who}"], {"project": canary(f"{tenant}/{project}")}


def _imports(world: World, tenant: str) -> None:
    """Begin an import with a mark in its name and its text, in places of each kind."""
    for place, caller, given in _three_places(world, tenant):
        mark = canary(f"{tenant}/{place}")
        where = {**given, "scope": "personal"} if place == "personal" else given
        text = f"The {mark} is locked with the second key of the northern warehouse.\n"
        upload = Upload(files=((f"{mark}.md", text.encode()),), **where)
        view = begin_import(caller=caller, upload=upload, now=NOW)
        _add(world, "import", f"{tenant}/{place}", view.id, project=given["project"])
        new = NewNote(path=f"{mark}.txt", text=text, **where)
        note = push_note(caller=caller, new=new, now=NOW).note
        _add(world, "note", f"{tenant}/{place}", note.id, project=given["project"])


def _styles(world: World, tenant: str) -> None:
    """Define a style with a mark in every text: the organization's, and two persons' own."""
    for place, who, scope, is_default in (
        ("house", "owner", "organization", True),
        ("way", "member", "personal", True),
        ("habit", "owner", "personal", False),
    ):
        if tenant == "globex" and place == "habit":
            continue  # its owner is alone
        mark = canary(f"{tenant}/{place}")
        new = NewStyle(
            name=mark,
            text=f"Write as {mark} does.",
            scope=scope,
            topics=(mark, "stones", "canary"),
            is_default=is_default,
        )
        kept = put_style(caller=world.callers[f"{tenant}/{who}"], new=new, now=NOW)
        _add(world, "style", f"{tenant}/{place}", kept.id)


def _methodology(world: World, tenant: str) -> None:
    """Define a methodology with a mark in every text: it is the organization's."""
    mark = canary(f"{tenant}/house")
    own = OwnType(name=f"{mark}-type", base=MemoryType.FACT, says=f"What {mark} calls so.")
    way = Transition(before=mark[:20], after="review", types=frozenset({own.name}))
    define_methodology(
        caller=world.callers[f"{tenant}/owner"],
        name=mark,
        phases={mark: "implement"},
        course=Course(relays=(way,), types=(own,)),
        now=NOW,
    )


def _sessions(world: World, tenant: str) -> None:
    """Open a session with a mark in all that it holds, shared and personal ones."""
    for place, caller, given in _three_places(world, tenant):
        mark, is_shared = canary(f"{tenant}/{place}"), place != "personal"
        new = NewSession(external_id=mark, thread=mark, agent=mark, shared=is_shared, **given)
        view = open_session(caller=caller, new=new, now=NOW).session
        turn = NewTurn(role="user", text=f"We decided that {mark} stays under the third stone.")
        append_turns(caller=caller, session_id=view.id, turns=(turn,), now=NOW)
        event = {"sequence": 1, "kind": "reasoning", "text": f"I was wrong about {mark}."}
        append_events(caller=caller, session_id=view.id, events=(event,), now=NOW)
        with tenancy.unit():
            Session.objects.filter(pk=view.id).update(observed={"task": f"Mend {mark}"})
        _add(world, "session", f"{tenant}/{place}", view.id, project=given["project"])


def _topic(caller: Caller, label: str, memory_id: UUID, given: dict[str, Any]) -> UUID:
    """Make a topic of a memory and another one, called by its mark."""
    mark = canary(label)
    text = f"{mark} has a lamp that the watchman carries along the quay each night."
    other = stored(caller, NOW, text, type="fact", **given)
    with tenancy.unit():
        row = Memory.objects.get(pk=memory_id)
        topic = Topic.objects.create(
            audience=row.audience, project_id=row.project_id, words=[mark], sorted_at=NOW
        )
        for id in (memory_id, other.id):
            TopicMember.objects.create(memory_id=id, topic=topic, holds=1)
        if label.endswith("/deleted"):
            Memory.objects.filter(pk=other.id).update(status="deleted")
            Change.objects.filter(object_id=other.id).delete()
            index_queries.sync_filters(memory_ids=(memory_id, other.id))
    return topic.id


def _conflict(memory_id: UUID, topic_id: UUID) -> UUID:
    """Let a memory and the other one of its topic contradict each other."""
    with tenancy.unit():
        other = TopicMember.objects.filter(topic_id=topic_id).exclude(memory_id=memory_id).get()
        row = Memory.objects.get(pk=memory_id)
        MemoryLink.objects.create(
            source_id=other.memory_id, target_id=memory_id, kind="contradicts"
        )
        conflict = Conflict.objects.create(
            project_id=row.project_id, audience=row.audience, older_id=memory_id,
            newer_id=other.memory_id, kind="contradict", cause="equal", found_at=NOW,
        )  # fmt: skip
    return conflict.id


def _job(world: World, tenant: str, created_by: UUID) -> None:
    memory = world.thing("memory", f"{tenant}/personal")
    with tenancy.unit():
        payload = {"ids": [memory.parts["id"]]}
        job_id = jobs.enqueue(
            "memory.embed", payload=payload, key=f"isolation-{tenant}", created_by=created_by
        )
    mark = canary(f"{tenant}/job")
    Job.objects.filter(pk=job_id).update(error=mark, state=Job.State.FAILED)
    _add(world, "job", f"{tenant}/job", job_id)


def _credentials(world: World, tenant: str, owner: Caller, persons: dict[str, User]) -> None:
    new = NewToken(name=canary(f"{tenant}/token"))
    token = create_token(caller=owner, new=new, now=datetime.now(UTC)).token
    _add(world, "token", f"{tenant}/token", token.id)
    for name in ("invited", "withdrawn"):
        sent = invite(
            caller=owner, email=f"{canary(f'{tenant}/{name}')}@x.test", role=Role.MEMBER,
            now=datetime.now(UTC),
        )  # fmt: skip
        _add(world, "invitation", f"{tenant}/{name}", invitation_id=sent.invitation.id)
        world.invitations[f"{tenant}/{name}"] = sent.link.rpartition("/")[2]
    revoke_invitation(caller=owner, invitation_id=sent.invitation.id, now=NOW)
    _add(world, "user", f"{tenant}/people", user_id=persons["member"].id)


@contextmanager
def built() -> Iterator[World]:
    """Build the world in committed rows; take it away afterwards."""
    with ExitStack() as stack:
        acme, globex, solo, guest = (
            stack.enter_context(committed(slug=name))
            for name in ("acme", "globex", "solo", "guest")
        )
        world = World()
        stack.callback(_remove_people)
        User.objects.filter(pk=guest.caller.user_id).update(
            email=f"{canary('acme/invited')}@x.test"
        )
        persons = _people(world, acme)
        fill(world, "acme", acme, persons)
        owner = User.objects.get(pk=globex.caller.user_id)
        fill(world, "globex", globex, dict.fromkeys(("owner", "member", "elsewhere"), owner))
        _askers(world, persons, acme)
        _others(world, globex, solo, guest)
        _kept_answer(world)
        yield world


def _people(world: World, acme: Place) -> dict[str, User]:
    organization = Organization.objects.get(pk=acme.caller.organization_id)
    roles = {
        "viewer": Role.VIEWER, "member": Role.MEMBER, "elsewhere": Role.MEMBER,
        "steward": Role.STEWARD, "admin": Role.ADMIN, "removed": Role.MEMBER,
        "inactive": Role.MEMBER,
    }  # fmt: skip
    mark = canary("acme/people")
    persons = {
        name: people.make_person(
            organization=organization, email=f"{name}-{mark}@isolation.test", role=role
        )
        for name, role in roles.items()
    }
    for name in ("removed", "inactive"):  # what they see of themselves is no leak
        User.objects.filter(pk=persons[name].id).update(email=f"{name}@isolation.test", name=name)
    for name, role in roles.items():
        user = persons[name]
        world.callers[f"acme/{name}"] = people.as_caller(
            organization=organization, user=user, role=role
        )
    return {**persons, "owner": User.objects.get(pk=acme.caller.user_id)}


def _askers(world: World, persons: dict[str, User], acme: Place) -> None:
    home = world.organizations["acme"]
    world.askers["anonymous"] = Asker(
        name="anonymous", sees=frozenset(), home=home, client=Client(raise_request_exception=False)
    )
    for name in ("viewer", "member", "elsewhere", "steward", "admin", "owner", "removed"):
        world.askers[name] = _asker(name, home, persons[name])
    world.askers["inactive"] = _asker("inactive", home, persons["inactive"])
    _tokens(world, acme, home)
    with entered(acme.caller):
        remove_member(caller=acme.caller, user_id=persons["removed"].id, now=NOW)
    User.objects.filter(pk=persons["inactive"].id).update(is_active=False)


def _tokens(world: World, acme: Place, home: str) -> None:
    read, both = frozenset({TokenScope.READ}), scopes_of(role=Role.MEMBER)
    inside = (UUID(world.thing("project", "acme/open").parts["ref"]),)
    member = world.callers["acme/member"]
    for name, caller, new in (
        ("reading", member, NewToken(name="reading", scopes=read)),
        ("writing", member, NewToken(name="writing", scopes=both)),
        ("bound", acme.caller, NewToken(name="bound", scopes=both, projects=inside)),
        ("service", member, NewToken(name="service", scopes=both, kind=TokenKind.SERVICE)),
        ("removed", world.callers["acme/removed"], NewToken(name="removed", scopes=both)),
        ("inactive", world.callers["acme/inactive"], NewToken(name="inactive", scopes=both)),
    ):
        text = create_token(caller=caller, new=new, now=datetime.now(UTC)).text
        known = world.askers.get(name)
        client = known.client if known else Client(raise_request_exception=False)
        world.askers[name] = Asker(
            name=name, sees=_seen(name), home=home, client=client, token=text
        )


def _others(world: World, globex: Place, solo: Place, guest: Place) -> None:
    for name, place in (("stranger", globex), ("outsider", solo), ("invited", guest)):
        user = User.objects.get(pk=place.caller.user_id)
        new = NewToken(name="working", scopes=scopes_of(role=Role.MEMBER))
        token = create_token(caller=place.caller, new=new, now=datetime.now(UTC)).text
        world.askers[name] = _asker(name, place.caller.organization_slug, user, token=token)


def _kept_answer(world: World) -> None:
    """Keep an answer under a key of the owner's, and take a cursor of the stranger's."""
    owner, stranger = world.askers["owner"], world.askers["stranger"]
    mark = canary("acme/private")
    kept = owner.client.post(
        "/api/v1/memories",
        {"content": f"{mark} has a key that was used before.", "scope": "personal"},
        "application/json",
        headers={"X-Cairn-Organization": owner.home, "Idempotency-Key": world.kept_key},
    )
    assert kept.status_code == 201, kept.content
    page = stranger.client.get(
        "/api/v1/memories?limit=1", headers={"X-Cairn-Organization": stranger.home}
    )
    world.cursor = page.json()["next_cursor"]


def _asker(name: str, home: str, user: User, *, token: str = "") -> Asker:
    client = Client(raise_request_exception=False)
    client.force_login(user, backend=BACKEND)
    return Asker(name=name, sees=_seen(name), home=home, client=client, token=token)


def _seen(name: str) -> frozenset[str]:
    if name == "stranger":
        return frozenset(f"globex/{place}" for place in STRANGERS | {"vault"})
    return frozenset(f"acme/{place}" for place in SEES[name])


def _remove_people() -> None:
    User.objects.filter(email__endswith="@isolation.test").delete()
