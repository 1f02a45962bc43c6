"""A real server on loopback over committed data, which is taken away again afterwards."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

import uvicorn
from django.db import connection

from accounts.actions.tokens import NewToken, create_token
from accounts.caller import Caller, Role, TokenScope
from accounts.models import Organization, User
from config.asgi import application
from memory.secrets import scanner
from teams.actions import create_project
from tests.support import people

STARTS_WITHIN = 20.0  # seconds
READ = frozenset({TokenScope.READ})
WRITE = frozenset({TokenScope.READ, TokenScope.WRITE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """An organization that other processes and threads can see, and tokens of its owner."""

    caller: Caller
    token: str
    reading_token: str


@contextmanager
def running() -> Iterator[str]:
    """Serve the whole application; yield its address. The rules about secrets have been read."""
    scanner.prepare()
    settings = uvicorn.Config(application, port=0, lifespan="on", log_level="warning")
    server = uvicorn.Server(settings)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    ends_at = time.monotonic() + STARTS_WITHIN
    while not server.started and time.monotonic() < ends_at:
        thread.join(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(STARTS_WITHIN)


@contextmanager
def committed(*, slug: str) -> Iterator[Place]:
    """Make an organization with a project `shop` and two tokens; drop all of it afterwards."""
    name = f"{slug}-{uuid4().hex[:6]}"
    organization = people.make_organization(slug=name)
    user = people.make_person(
        organization=organization, email=f"owner@{name}.test", role=Role.OWNER
    )
    caller = people.as_caller(organization=organization, user=user, role=Role.OWNER)
    with people.entered(organization=organization):
        create_project(caller=caller, slug="shop", name="Shop", now=datetime.now(UTC))
    yield Place(caller=caller, token=_token(caller, WRITE), reading_token=_token(caller, READ))
    _drop(organization, user)


def _token(caller: Caller, scopes: frozenset[TokenScope]) -> str:
    new = NewToken(name="agent", scopes=scopes)
    return create_token(caller=caller, new=new, now=datetime.now(UTC)).text


def _drop(organization: Organization, user: User) -> None:
    with connection.as_owner():
        with connection.cursor() as cursor:
            cursor.execute(f'DROP SCHEMA IF EXISTS "{organization.schema_name}" CASCADE')
        organization.delete()
        user.delete()
