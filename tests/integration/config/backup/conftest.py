"""Two organizations with memories and audit logs, committed, and databases to restore into."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest
from django.conf import settings
from django.db import connection
from pytest_django.plugin import DjangoDbBlocker

from accounts.authentication import caller_from_token, entered
from accounts.models import Organization
from config.backup import actions, archive
from config.backup.programs import Database
from memory.search.actions import search
from memory.search.request import SearchRequest
from tests.support import live, memories, people
from tests.support.live import Place

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
KEY = b"a key for the tests of backups"
TEXTS = (memories.REDIS, memories.CARTS, memories.PARSER)

MakeDatabase = Callable[[], Database]


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """What is backed up: two organizations, and the folder of the installation."""

    acme: Place
    globex: Place
    home: Path


@pytest.fixture
def _django_db_helper() -> None:
    """Open no transaction around a test, and empty no table after it: other programs look on."""


@pytest.fixture(scope="module")
def installation(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Installation]:
    """Two organizations that other processes see; settings and secrets of their own folder."""
    home = tmp_path_factory.mktemp("home")
    for name, text in (("credentials.json", "{}"), ("run/steps.json", '["demo"]')):
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text(text)
    with pytest.MonkeyPatch.context() as patch, django_db_blocker.unblock(), ExitStack() as stack:
        patch.setattr(settings, "CAIRN_HOME", home)
        places = [stack.enter_context(live.committed(slug=slug)) for slug in ("acme", "globex")]
        for number, place in enumerate(places):
            with people.entered(organization=organization_of(place)):
                for text in TEXTS:
                    memories.stored(place.caller, NOW, f"{text} Case {number}.", project="shop")
        yield Installation(acme=places[0], globex=places[1], home=home)


@pytest.fixture(scope="module")
def make_database(installation: Installation) -> Iterator[MakeDatabase]:
    """Make empty databases of the same owner; they are dropped afterwards."""
    names: list[str] = []

    def make() -> Database:
        names.append(f"cairn_restored_{uuid4().hex[:8]}")
        with actions.own_database().named("postgres").connect() as line:
            line.execute(f"CREATE DATABASE {names[-1]}")
        return actions.own_database().named(names[-1])

    yield make
    with actions.own_database().named("postgres").connect() as line:
        for name in names:
            line.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="module")
def kept(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one encrypted backup of the installation."""
    folder = tmp_path_factory.mktemp("backups")
    actions.back_up(address=str(folder), secret=KEY, keep=None, now=NOW)
    return folder


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    """The key of that backup, in a file."""
    path = tmp_path / "backup.key"
    path.write_bytes(KEY + b"\n")
    return path


@pytest.fixture
def backup(kept: Path) -> archive.Backup:
    """That backup, open."""
    return archive.open_backup(address=str(kept), secret=KEY)


def organization_of(place: Place) -> Organization:
    """Return the row of a place's organization."""
    found: Organization = Organization.objects.get(id=place.caller.organization_id)
    return found


@contextmanager
def inside(database: Database) -> Iterator[None]:
    """Let the product work in a restored database until the block ends."""
    with connection.as_owner_of(database=database.name):
        yield


def found_by(token: str) -> list[tuple[str, str, float]]:
    """Return what a token's owner finds: ids, texts and scores in their order."""
    caller = caller_from_token(text=token, agent="", ip="", now=NOW)
    with entered(caller):
        request = SearchRequest(query="lines without a tax code", threshold=0.0)
        answer = search(caller=caller, request=request, now=NOW)
    return [(str(hit.memory.id), hit.memory.content, hit.relevance) for hit in answer.hits]
