"""Organizations read and written at once: nobody reads another's row, with a pooler and without.

Coroutines, threads and worker processes at once; askers that stop waiting; and both behind a real
PgBouncer in transaction pooling.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote, urlsplit, urlunsplit

import psycopg
import pytest

from config.embedded import processes
from config.embedded.home import choose
from tests.support import servers, site
from tests.support.canaries import CanarySite, environment_of, plant_all
from tests.support.crashing import await_that
from tests.support.goals import Scale
from tests.support.programs import PROGRAMS
from tests.support.site import free_port

CONNECTIONS = 2  # to Postgres, for all processes together

pytestmark = [pytest.mark.slow, pytest.mark.timeout(5_000)]
DATABASE = "cairn_canaries"
IN_ORDER = {"undone": 0, "gone": 0, "without_vector": 0}  # jobs
KINDS = 3  # of what is given up: cached values, requests, announcements

ADDRESS = "127.0.0.1"
POSTGRES_PORT = 5432
DATABASE_VARIABLES = ("DATABASE_URL", "DATABASE_OWNER_URL")
CONSOLE = "pgbouncer"  # its database and its user
KEPT_APART = (  # what PgBouncer itself sets anew for each client
    *("application_name", "client_encoding", "DateStyle", "standard_conforming_strings"),
    "TimeZone",
)
LEFT_BEHIND = """
SELECT name, setting FROM pg_settings WHERE source = 'session' AND name <> ALL(%s)
UNION ALL SELECT name, current_setting(name, true)
FROM unnest(ARRAY['cairn.tenant', 'cairn.operator']) AS name WHERE current_setting(name, true) <> ''
UNION ALL SELECT 'prepared', name FROM pg_prepared_statements
UNION ALL SELECT 'cursor', name FROM pg_cursors WHERE is_holdable
UNION ALL SELECT 'lock', mode FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
UNION ALL SELECT 'channel', pg_listening_channels()
"""


@contextmanager
def in_front(*, home: Path, of: Mapping[str, str], size: int) -> Iterator[Mapping[str, str]]:
    """Pool the connections to a database until the block ends; yield the environment behind it.

    `size` connections of each role reach Postgres, however many clients there are. What PgBouncer
    says goes to a file in `home`.
    """
    port = free_port()
    pooled = {name: _behind(of[name], port) for name in DATABASE_VARIABLES if of.get(name)}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="cairn-pooler-")))
        log = stack.enter_context((home / "pgbouncer.log").open("ab"))
        described = _described(folder, _files(folder, of, port, size))
        child = processes.start_program(program=described, output=log.fileno())
        stack.callback(child.wait)
        stack.callback(child.terminate)
        await_that(lambda: _answers(pooled["DATABASE_URL"]))
        yield {**of, **pooled}


def connections(*, pooled: str) -> int:
    """Return how many connections PgBouncer has to Postgres for the role of an address."""
    role = urlsplit(pooled).username
    console = urlunsplit(urlsplit(_behind(pooled, urlsplit(pooled).port))._replace(path=CONSOLE))
    with psycopg.connect(
        console, user=CONSOLE, autocommit=True, cursor_factory=psycopg.ClientCursor
    ) as line:
        cursor = line.execute("SHOW SERVERS")
        names = [column.name for column in cursor.description or ()]
        return [row[names.index("user")] for row in cursor].count(role)


def left_behind(*, pooled: str, size: int) -> list[tuple[str, str]]:
    """Return what clients that have gone have left on the connections to Postgres."""
    with ExitStack() as stack:
        lines = [stack.enter_context(_connected(pooled)) for _ in range(size)]
        for line in lines:  # open transactions at once are on connections of their own
            line.execute("BEGIN")
        return [row for line in lines for row in line.execute(LEFT_BEHIND, [list(KEPT_APART)])]


def _described(folder: Path, files: Mapping[str, str]) -> processes.Program:
    """Write the files where the user that PgBouncer runs as can read them; describe it."""
    owner = choose(environment=os.environ)
    os.chown(folder, owner.uid, owner.gid)
    for name, text in files.items():
        (folder / name).write_text(text)
        os.chown(folder / name, owner.uid, owner.gid)
    return processes.Program(
        name="pgbouncer",
        command=(str(PROGRAMS["pooler"].require()), str(folder / "pgbouncer.ini")),
        environment=os.environ,
        folder=Path("/"),
        identity=owner,
    )


def _files(folder: Path, of: Mapping[str, str], port: int, size: int) -> dict[str, str]:
    addresses = [urlsplit(of[name]) for name in DATABASE_VARIABLES if of.get(name)]
    people = folder / "people.txt"
    host = f"host={unquote(addresses[0].hostname or '')} port={addresses[0].port or POSTGRES_PORT}"
    lines = (
        *("[databases]", f"* = {host}", "[pgbouncer]", "pool_mode = transaction"),
        *(f"default_pool_size = {size}", "max_client_conn = 500"),
        *(f"listen_addr = {ADDRESS}", f"listen_port = {port}", "unix_socket_dir ="),
        *("auth_type = trust", f"auth_file = {people}", f"stats_users = {CONSOLE}"),
    )
    known = [(parts.username or "", unquote(parts.password or "")) for parts in addresses]
    known.append((CONSOLE, ""))
    return {
        "pgbouncer.ini": "\n".join((*lines, "")),
        people.name: "".join(f'"{name}" "{password}"\n' for name, password in known),
    }


def _behind(database_url: str, port: int | None) -> str:
    parts = urlsplit(database_url)
    return f"postgresql://{parts.username}@{ADDRESS}:{port}{parts.path}"


def _connected(url: str) -> psycopg.Connection:
    return psycopg.connect(url, autocommit=True, prepare_threshold=None)


def _answers(pooled: str) -> bool:
    try:
        with _connected(pooled) as line:
            return line.execute("SELECT 1").fetchone() == (1,)
    except psycopg.OperationalError:
        return False


@pytest.fixture(scope="module")
def canaries(scale: Scale, tmp_path_factory: pytest.TempPathFactory) -> CanarySite:
    """The organizations."""
    servers.start()
    told = environment_of(database_url=site.new_database(DATABASE))
    home = tmp_path_factory.mktemp("canaries")
    return plant_all(home=home, told=told, organizations=scale.of(short=8, long=20))


@pytest.mark.goal(name="G2")
def test_no_read_of_anything_at_once_is_wrong(
    canaries: CanarySite, scale: Scale, figure: Callable[[str], None]
) -> None:
    told = canaries.at_once(reads=scale.of(short=1_200, long=103_000))

    reads, wrong = (sum(part[name] for part in told) for name in ("reads", "wrong"))
    figure(f"{wrong} of {reads:,} reads wrong, from 50 coroutines, 8 threads and 2 workers")
    assert [part["examples"] for part in told] == [[], [], []]
    assert wrong == 0
    assert reads >= scale.of(short=1_000, long=100_000)


@pytest.mark.goal(name="G2")
def test_every_job_found_what_its_own_organization_holds(canaries: CanarySite) -> None:
    left = canaries.ask("check")

    assert left.pop("jobs") > 0
    assert left == IN_ORDER


@pytest.mark.goal(name="G2")
def test_answers_that_nobody_waits_for_reach_nobody_else(
    canaries: CanarySite, scale: Scale, figure: Callable[[str], None]
) -> None:
    each = scale.of(short=100, long=2_000)

    told = canaries.ask("storm", each)

    figure(f"{told['wrong']} of {told['reads']:,} wrong after {told['given_up']:,} were given up")
    assert told["examples"] == []
    assert told["wrong"] == 0
    assert told["given_up"] > KINDS * each // 3
    assert (told["lent_by_postgres"], told["lent_by_redis"]) == (0, 0)


@pytest.mark.pooler
@pytest.mark.goal(name="G2")
def test_no_read_through_the_pooler_is_wrong_and_nothing_is_left_on_its_few_connections(
    canaries: CanarySite, scale: Scale, tmp_path: Path, figure: Callable[[str], None]
) -> None:
    with in_front(home=tmp_path, of=canaries.told, size=CONNECTIONS) as told:
        behind, url = replace(canaries, told=told), told["DATABASE_URL"]
        parts = behind.at_once(reads=scale.of(short=600, long=11_000))
        shared = connections(pooled=url)
        left = left_behind(pooled=url, size=CONNECTIONS)

    reads, writes, wrong = (
        sum(part[name] for part in parts) for name in ("reads", "writes", "wrong")
    )
    figure(f"{wrong} of {reads:,} reads wrong through PgBouncer, with {writes:,} writes")
    assert [part["examples"] for part in parts] == [[], [], []]
    assert wrong == 0
    assert reads >= scale.of(short=500, long=10_000)
    assert writes > 0
    assert 1 <= shared <= CONNECTIONS
    assert left == []


@pytest.mark.pooler
def test_database_is_migrated_and_filled_through_the_pooler(tmp_path: Path) -> None:
    servers.start()
    direct = environment_of(database_url=site.new_database("cairn_pooled"))

    with in_front(home=tmp_path, of=direct, size=1) as told:
        made = plant_all(home=tmp_path, told=told, organizations=2)
        seen = made.ask("work", 0, 45)
        left = left_behind(pooled=told["DATABASE_URL"], size=1)

    assert seen == {"reads": 43, "writes": 2, "wrong": 0, "examples": []}
    assert left == []
