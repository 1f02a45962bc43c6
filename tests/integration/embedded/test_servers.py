"""Postgres and Valkey as the command serves them: kills, restarts, refusals."""

import os
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
import redis

from config import env
from config.embedded import home as homes
from config.embedded import servers
from config.embedded.home import Identity

MODULE = (sys.executable, "-m", "config.embedded")
END_SECONDS = 30
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can hand over to another user")


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A running `servers` command and what it printed."""

    process: subprocess.Popen[str]
    home: Path
    database_url: str
    redis_url: str
    database_owner_url: str

    @property
    def database_pid(self) -> int:
        pid_file = self.home / "postgres" / "postmaster.pid"
        return int(pid_file.read_text().splitlines()[0])

    def await_said(self, words: str) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if words in line:
                return
        raise AssertionError(f"it never said {words!r}")

    def stop(self) -> None:
        self.process.terminate()
        self.process.communicate(timeout=END_SECONDS)


def clean_environment(home: Path, more: Mapping[str, str]) -> dict[str, str]:
    given = {"CAIRN_HOME": str(home), "PYTHONPATH": str(env.ROOT), **more}
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {**kept, **given}


def serve(home: Path, **more: str) -> Served:
    process = subprocess.Popen(
        [*MODULE, "servers"],
        env=clean_environment(home, more),
        cwd=env.ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(3)]
    values = [shlex.split(line)[1].partition("=")[2] for line in lines]
    return Served(
        process=process,
        home=home,
        database_url=values[0],
        redis_url=values[1],
        database_owner_url=values[2],
    )


@contextmanager
def serving(home: Path, **more: str) -> Iterator[Served]:
    served = serve(home, **more)
    try:
        yield served
    finally:
        served.stop()


def write_row(served: Served) -> None:
    with psycopg.connect(served.database_owner_url) as connection:
        connection.execute("create table if not exists kept (word text)")
        connection.execute("insert into kept values ('stone')")


def count_rows(served: Served) -> int:
    with psycopg.connect(served.database_owner_url) as connection:
        return len(connection.execute("select word from kept").fetchall())


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One data folder for the module: making a cluster is the slow part."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def passable_folder() -> Iterator[Path]:
    """A data folder below nothing private, unlike pytest's own."""
    with tempfile.TemporaryDirectory(prefix="cairn-test-") as folder:
        yield Path(folder)


def test_servers_offer_what_is_needed_to_a_role_that_owns_nothing_until_their_input_ends(
    home: Path,
) -> None:
    with serving(home) as served:
        with psycopg.connect(served.database_url) as connection:
            vector = connection.execute("select '[1,2]'::halfvec(2)::text").fetchone()
            settings = connection.execute(
                "select current_setting('fsync'), current_setting('max_locks_per_transaction'),"
                " current_setting('listen_addresses')"
            ).fetchone()
            powers = connection.execute(
                "select rolsuper, rolbypassrls, rolcreatedb, rolcreaterole, rolreplication"
                " from pg_roles where rolname = current_user"
            ).fetchone()
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("create table mine (word text)")
        assert vector == ("[1,2]",)
        assert settings == ("on", "512", "")
        assert powers == (False, False, False, False, False)
        assert redis.from_url(served.redis_url).ping()

        pid = served.database_pid
        served.process.communicate(input="", timeout=END_SECONDS)

    assert served.process.returncode == 0
    assert not servers.works_in(pid=pid, folder=home / "postgres")


def test_killed_servers_come_back_with_their_rows_and_a_second_start_is_refused(home: Path) -> None:
    with serving(home) as served:
        write_row(served)
        before = count_rows(served)

        os.kill(served.database_pid, signal.SIGKILL)
        served.await_said("postgres is back")
        os.kill(int((home / "redis" / "valkey.pid").read_text()), signal.SIGKILL)
        served.await_said("redis is back")
        refused = subprocess.run(
            [*MODULE, "servers"],
            env=clean_environment(home, {}),
            cwd=env.ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=END_SECONDS,
        )

        assert count_rows(served) == before
        assert redis.from_url(served.redis_url).ping()
    assert refused.returncode == 1
    assert "already runs over" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_what_is_killed_leaves_nothing_behind_and_loses_nothing(home: Path) -> None:
    with serving(home) as served:
        write_row(served)
        before = count_rows(served)
        served.process.kill()
        served.process.communicate(timeout=END_SECONDS)

    with serving(home) as again:
        assert count_rows(again) == before
        write_row(again)
        again.process.send_signal(signal.SIGSTOP)  # everything is killed at once
        os.kill(again.database_pid, signal.SIGKILL)
        again.process.kill()
        again.process.communicate(timeout=END_SECONDS)

    with serving(home) as last:
        assert count_rows(last) == before + 1


def test_given_addresses_start_no_server(tmp_path: Path) -> None:
    with serving(tmp_path, DATABASE_URL="postgresql://elsewhere/cairn") as served:
        assert served.database_url == "postgresql://elsewhere/cairn"
        assert not (tmp_path / "postgres").exists()


@as_root
def test_folder_made_by_root_is_handed_to_another_user_and_taken_back(
    passable_folder: Path,
) -> None:
    with serving(passable_folder) as served:
        write_row(served)

    with serving(passable_folder, CAIRN_PG_AS_USER="nobody") as switched:
        assert count_rows(switched) == 1
        assert Path(f"/proc/{switched.database_pid}").stat().st_uid != 0

    with serving(passable_folder) as back:
        assert count_rows(back) == 1


@as_root
def test_data_moves_out_of_a_folder_the_other_user_cannot_enter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o700)
    monkeypatch.setattr(homes, "OUTSIDE", tmp_path / "outside")

    data = homes.data_folder(home=tmp_path, owner=Identity(user="nobody"))

    assert data.is_relative_to(tmp_path / "outside")
