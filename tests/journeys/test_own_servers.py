"""A Postgres of one's own: one role does everything, until `roles` makes one that owns nothing."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from config import env
from tests.support import servers

pytestmark = pytest.mark.slow

ONE, APPLICATION = "cairn_test_one", "cairn_test_app"
MADE = f"CREATE ROLE {ONE} LOGIN CREATEROLE", f"GRANT {ONE} TO CURRENT_USER"
PROGRAM = ("-m", "tests.support.crash_program")
WALLED = "SELECT count(*) FROM accounts_organization"
# Nobody embeds in this test.
UNTOUCHED = {"rows": 0, "vectors": 2, "found": 0, "unasked": 0, "twice": 0}
SLUG = "own"


@pytest.fixture(scope="module")
def one_address() -> Iterator[str]:
    """The address of an empty database that a plain role owns."""
    servers.start()
    url = urlsplit(os.environ["DATABASE_OWNER_URL"])
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as line:
        _drop(line)
        for statement in (*MADE, f"CREATE DATABASE {ONE} OWNER {ONE}"):
            line.execute(statement)
        host = url.netloc.rpartition("@")[2]
        yield urlunsplit(url._replace(netloc=f"{ONE}@{host}", path=f"/{ONE}"))
        _drop(line)


def _drop(line: psycopg.Connection[tuple[object, ...]]) -> None:
    line.execute(f"DROP DATABASE IF EXISTS {ONE} WITH (FORCE)")
    for role in (APPLICATION, ONE):
        line.execute(f"DROP ROLE IF EXISTS {role}")


def run(addresses: Mapping[str, str], *command: str, given: str = "") -> str:
    """Run a program with these addresses of the database; return what it printed."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DATABASE_")}
    told = {**kept, "DJANGO_SETTINGS_MODULE": "config.settings.production", **addresses}
    secrets = {"CAIRN_SECRET_KEY": "s" * 40, "CAIRN_TOKEN_PEPPER": "p" * 40}
    embedder = {"CAIRN_EMBEDDER": "hashing/words-384", "CAIRN_EMBED_INLINE": "0"}
    done = subprocess.run(
        [sys.executable, *command],
        env={**told, **secrets, **embedder},
        cwd=env.ROOT,
        input=given,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_one_role_serves_and_a_second_one_is_made_for_the_wall(one_address: str) -> None:
    alone = {"DATABASE_URL": one_address}
    run(alone, "manage.py", "migrate", "-v", "0")
    run(alone, *PROGRAM, "found", SLUG)
    written = run(alone, *PROGRAM, "write", SLUG, "2")

    said = run(alone, "manage.py", "roles", "--name", APPLICATION)
    address = re.search(r"DATABASE_URL=(\S+)", said.splitlines()[-2])
    assert address is not None
    two = {"DATABASE_URL": address[1], "DATABASE_OWNER_URL": one_address}
    run(two, "manage.py", "migrate", "-v", "0")

    assert json.loads(run(two, *PROGRAM, "missing", SLUG, given=written)) == UNTOUCHED
    with psycopg.connect(address[1]) as line:
        assert line.execute(WALLED).fetchone() == (0,)
    assert "owns nothing" in run(two, "manage.py", "roles")
