"""Builds the two organizations, and everybody who may try to read them."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from uuid import UUID

from django.test import Client

from accounts import rights
from accounts.actions.tokens import NewToken, create_token
from accounts.authentication import entered
from accounts.caller import Role, TokenScope
from accounts.models import Organization, User
from accounts.token_format import TokenKind
from teams.actions import remove_member
from tests.support import people
from tests.support.live import Place, committed
from tests.tenancy.isolation import contents
from tests.tenancy.isolation.world import NOW, SEES, STRANGERS, Asker, World, canary

BACKEND = "allauth.account.auth_backends.AuthenticationBackend"


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
        contents.fill(world, "acme", acme, persons)
        owner = User.objects.get(pk=globex.caller.user_id)
        contents.fill(
            world, "globex", globex, dict.fromkeys(("owner", "member", "elsewhere"), owner)
        )
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
    read, both = frozenset({TokenScope.READ}), rights.scopes_of(role=Role.MEMBER)
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
        new = NewToken(name="working", scopes=rights.scopes_of(role=Role.MEMBER))
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
