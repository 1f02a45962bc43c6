"""Organizations whose every text names them, and the product's own ways to read what they hold.

A read returns all it saw as one text. It is right when the canary of its organization is in it and
no other: an empty answer is as wrong as a foreign one. `CanarySite` is a database of its own with
such organizations, and the processes that read them at the same time.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Any, Final
from uuid import UUID

from django.test import Client

from accounts import tenancy
from accounts.actions.organizations import create_organization
from accounts.actions.tokens import NewToken, create_token
from accounts.authentication import caller_from_session, entered
from accounts.caller import Caller, TokenScope
from accounts.models import User
from config import env
from frontend.presenters import activity_feed
from memory.records.filters import Filters
from memory.records.queries import memories
from memory.search.actions import search
from memory.search.request import SearchRequest
from teams.actions import create_project
from teams.changes import GROUP
from teams.queries import changes_since
from tests.support import people, site
from tests.support.api import Api
from tests.support.memories import sent, stored

PROGRAM: Final = ("-m", "tests.support.canary_program")
PATIENCE_S: Final = 5_000
WORD: Final = re.compile(r"canary[a-z]{3}")
LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
MEMORIES: Final = 3  # an organization's first ones
SEEN_AT_ONCE: Final = 10
EXAMPLES: Final = 5
CACHE_SECONDS: Final = 3_600
HOST: Final = "127.0.0.1"
SCOPES: Final = frozenset({TokenScope.READ, TokenScope.WRITE})


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """One organization: its canary, its owner, a token and a session of theirs."""

    word: str  # which is its short name, too
    user: str
    token: str
    session: str

    @property
    def caller(self) -> Caller:
        """The owner, as an edge finds out who calls."""
        return caller_from_session(user_id=UUID(self.user), organization_slug=self.word)


Read = Callable[[World, datetime], str]


def plant(*, number: int, now: datetime) -> World:
    """Make an organization with a project, memories and a cached value, all naming its canary."""
    word = f"canary{LETTERS[number // 26]}{LETTERS[number % 26]}x"
    user = User.objects.create_user(f"{word}@x.test", people.PASSWORD)
    create_organization(user_id=user.id, name=word, slug=word, now=now)
    caller = caller_from_session(user_id=user.id, organization_slug=word)
    token = create_token(caller=caller, new=NewToken(name=word, scopes=SCOPES), now=now)
    with entered(caller):
        create_project(caller=caller, slug="shop", name=word, now=now)
        for place in range(MEMORIES):
            stored(caller, now, _song(word, place), project="shop")
        tenancy.remember("song", value=word, seconds=CACHE_SECONDS)
    return World(word=word, user=str(user.pk), token=token.text, session=_session(user))


def write(*, world: World, number: int, now: datetime) -> str:
    """Store one more memory, and the cached value again; return what is said."""
    caller = world.caller
    with entered(caller):
        tenancy.remember("song", value=world.word, seconds=CACHE_SECONDS)
        return str(sent(caller, now, _song(world.word, MEMORIES + number), project="shop"))


def _song(word: str, place: int) -> str:
    tune = "".join(LETTERS[int(digit)] for digit in str(place))
    return f"The {word} sings verse tune{tune} when deployment number{tune} begins on monday."


def _session(user: User) -> str:
    client = Client()
    client.force_login(user)
    return client.cookies["cairn"].value


def _inside(look: Callable[[Caller, datetime], object]) -> Read:
    """Return a read that looks at something as the owner, inside of the organization."""

    def read(world: World, now: datetime) -> str:
        caller = world.caller
        with entered(caller):
            return str(look(caller, now))

    return read


def _rest_search(world: World, now: datetime) -> str:
    asked = {"query": "who sings a verse", "threshold": 0}
    api = Api(token=world.token, client=Client(SERVER_NAME=HOST))
    response = api.post("search", asked)
    return str(response.getvalue().decode()) if response.status_code == 200 else ""


def _own_group(caller: Caller) -> str:
    """Return the canary when the group of the changes is the organization's own."""
    is_own = tenancy.group(GROUP) == f"t.{caller.organization_id.hex}.changes"
    return caller.organization_slug if is_own else ""


_SUNG: Final = SearchRequest(query="who sings a verse when deployment begins", threshold=0.0)
_rows = _inside(
    lambda caller, now: memories.page(
        caller=caller, filters=Filters(), cursor=None, limit=SEEN_AT_ONCE, now=now
    )
)
_search = _inside(lambda caller, now: search(caller=caller, request=_SUNG, now=now))
_feed = _inside(lambda caller, _: changes_since(caller=caller, after=0, limit=SEEN_AT_ONCE))
_messages = _inside(
    lambda caller, _: activity_feed.messages(caller=caller, after=0, project="shop")[-SEEN_AT_ONCE:]
)
_cache = _inside(lambda *_: tenancy.cached("song"))
_group = _inside(lambda caller, _: _own_group(caller))
READS: Final[tuple[Read, ...]] = (
    *(_rows, _search, _feed, _cache, _rows, _group, _search, _feed, _cache, _rest_search),
    *(_rows, _search, _feed, _cache, _rows, _group, _search, _feed, _cache, _messages),
)


@dataclass(slots=True, kw_only=True)
class Tally:
    """What was seen: how often, and the first answers that were wrong."""

    worlds: tuple[World, ...]
    reads: int = 0
    writes: int = 0
    wrong: int = 0
    examples: list[str] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    def world(self, number: int) -> World:
        """Return the organization of a turn; neighbors in time are of different ones."""
        return self.worlds[(number * 7 + number // len(READS)) % len(self.worlds)]

    def add(self, *, world: World, seen: str, writes: int = 0) -> None:
        """Count an answer, which is right when it is of its own organization alone."""
        right = set(WORD.findall(seen)) == {world.word}
        with self.lock:
            self.reads += 1 - writes
            self.writes += writes
            self.wrong += not right
            if not right and len(self.examples) < EXAMPLES:
                self.examples.append(f"{world.word}: {seen[:300]}")

    def told(self) -> dict[str, Any]:
        """Return what the program prints."""
        return {name: getattr(self, name) for name in ("reads", "writes", "wrong", "examples")}


@dataclass(frozen=True, slots=True, kw_only=True)
class CanarySite:
    """Where the database is, and where it is written who is in it."""

    worlds: Path
    told: Mapping[str, str]

    def start(self, command: str, *given: object) -> subprocess.Popen[str]:
        """Start a command of the program."""
        return subprocess.Popen(
            [sys.executable, *PROGRAM, command, str(self.worlds), *map(str, given)],
            env={**os.environ, **self.told},
            cwd=env.ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ask(self, command: str, *given: object) -> dict[str, Any]:
        """Run a command to its end; return what it printed."""
        return _answer(self.start(command, *given))

    def at_once(self, *, reads: int) -> list[dict[str, Any]]:
        """Read from one process of coroutines and threads, and from two that do jobs."""
        share = reads // 4
        started = [
            self.start("mix", 0, reads - 2 * share),
            self.start("work", reads, share),
            self.start("work", 2 * reads, share),
        ]
        return [_answer(process) for process in started]


def _answer(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Return what a started command prints. Fails with what it said when it does."""
    printed, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, said
    found: dict[str, Any] = json.loads(printed)
    return found


def environment_of(*, database_url: str) -> dict[str, str]:
    """Return the environment of processes on a database; memories are embedded by jobs."""
    return {
        "DATABASE_URL": database_url,
        "DATABASE_OWNER_URL": os.environ.get("DATABASE_OWNER_URL", ""),
        "DJANGO_SETTINGS_MODULE": "config.settings.test",
        "CAIRN_EMBED_INLINE": "0",
    }


def plant_all(*, home: Path, told: Mapping[str, str], organizations: int) -> CanarySite:
    """Migrate a database and plant organizations in it."""
    made = CanarySite(worlds=home / "worlds.json", told=told)
    site.run("manage.py", "migrate", "-v", "0", environment={**os.environ, **told})
    made.ask("plant", organizations)
    return made
