"""`cairn index`: what belongs to a project is sent once, what is secret or made by tools never."""

import json
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from pytest_django.plugin import DjangoDbBlocker

from accounts.actions.tokens import NewToken, create_token
from accounts.caller import TokenScope
from graph.code import languages
from graph.index import actions as indexing
from memory.client import code_files
from memory.client.commands import index
from memory.client.transcripts import parsers
from memory.sessions import event_parsing
from memory.sessions.events import Event
from tests.edges.client.conftest import Cairn
from tests.support.coding import CART
from tests.support.live import Place
from tests.support.scripted import Answer, Served

pytestmark = pytest.mark.django_db

PASSWORD = "Tractor!4711vio"
KNOWN: Answer = (200, {}, {"missing": [], "kept": 1, "gone": 0, "run": "r-1"})


@pytest.fixture(scope="module")
def token(place: Place, django_db_blocker: DjangoDbBlocker) -> str:
    """A token that may index."""
    new = NewToken(name="laptop", scopes=frozenset(TokenScope))
    with django_db_blocker.unblock():
        return create_token(caller=place.caller, new=new, now=datetime.now(UTC)).text


@pytest.fixture
def here(cairn: Cairn, address: str, token: str) -> Cairn:
    """The command line of somebody who has logged in, for a project without code."""
    slug = f"code-{uuid4().hex[:8]}"
    said = {"Authorization": f"Bearer {token}"}
    httpx.post(f"{address}/api/v1/projects", json={"slug": slug}, headers=said).raise_for_status()
    done = cairn("--token", token, "login", address, "--project", slug)
    assert done.code == 0, done.err
    return cairn


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Another repository, with one file."""
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "till.py").write_text("x = 1\n")
    subprocess.run(("git", "init", "-q", folder), check=True)
    return folder


def test_code_is_sent_once_and_of_what_changed_alone_the_text_travels(
    here: Cairn, code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "FILES_MOST", 2)  # so that three travel in two calls
    (code / "latin.py").write_bytes("# caf\u00e9\n".encode("latin-1"))
    first, again = here("index"), here("--json", "index")
    (code / "shop" / "cart.py").write_text(CART + "\nLIMIT = 3\n")
    (code / "shop" / "shop.py").unlink()
    changed = here("--json", "index")

    assert first.out == "3 files: 3 sent, 0 known, 0 gone; resolving\n"
    assert first.err.startswith("code-")
    assert first.err.endswith(f": {code}\n")
    counts = [
        (row["files"], row["sent"], row["kept"], row["gone"])
        for (row,) in (again.rows(), changed.rows())
    ]
    assert counts == [(3, 0, 3, 0), (2, 1, 1, 1)]


def test_what_is_ignored_secret_or_no_text_stays_here_and_a_secret_in_a_file_is_taken_out(
    here: Cairn, code: Path
) -> None:
    (code / ".gitignore").write_text("ignored.py\n")
    for name in ("ignored.py", ".env", "server.pem", "id_rsa", "app.min.js", "yarn.lock"):
        (code / name).write_text("x = 1\n")
    for name in ("prod.tfvars", ".vault-token", ".git-credentials", "kubeconfig", "a.md", "b.md"):
        (code / name).write_text("x = 1\n")
    (code / "logo.py").write_bytes(b"\x89PNG\0\1")
    (code / "large.py").write_bytes(b"#" * (code_files.LARGEST + 1))
    (code / "link.py").symlink_to("/etc/hostname")

    done = here("--json", "index", "--dry-run")

    assert [row["path"] for row in done.rows()] == ["shop/cart.py", "shop/shop.py"]
    assert here("index").err.splitlines()[1:] == [
        "left out: 7 may hold secrets, 3 in no language that is read, 2 made by a tool, "
        "1 too large, 1 no file, 1 no text"
    ]
    (code / "settings.py").write_text(f'DB_PASSWORD = "{PASSWORD}"\n\n\ndef connect():\n    pass\n')

    (row,) = here("--json", "index").rows()

    assert row["masked"] == {"assigned_secret": 1}
    content = code_files.read(source=code / "settings.py")
    assert isinstance(content, code_files.MaskedContent)
    assert PASSWORD.encode() not in content.data
    assert content.data.startswith(b'DB_PASSWORD = "redacted_assigned_secret"\n')


def test_another_repository_does_not_replace_the_index_of_a_project(
    here: Cairn, code: Path, other: Path
) -> None:
    here("index")

    done = here("--json", "index", str(other))

    told = json.loads(done.err)
    assert (done.code, told["command"]) == (2, "cairn index --replace")
    assert "would lose 2 of its 2 files" in told["detail"]
    assert str(other) in told["detail"]
    assert "shop/cart.py, shop/shop.py would go" in told["detail"]
    (again,) = here("--json", "index").rows()
    assert (again["sent"], again["kept"]) == (0, 2)
    (row,) = here("--json", "index", "--replace", str(other)).rows()
    assert (row["files"], row["sent"], row["gone"]) == (1, 1, 2)


def test_what_the_server_had_no_time_for_is_sent_again_but_not_for_ever(
    here: Cairn, code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Late(float):  # the first call has no time to read files, the others have
        def __radd__(self, now: float) -> float:
            monkeypatch.setattr(indexing, "SECONDS", 60)
            return now - 1

    monkeypatch.setattr(indexing, "SECONDS", -1)
    never = here("--json", "index")
    monkeypatch.setattr(indexing, "SECONDS", Late())
    late = here("--json", "index")

    (left,), (sent,) = never.rows(), late.rows()
    assert (never.code, left["sent"]) == (5, 0)
    assert left["waiting"] == ["shop/cart.py", "shop/shop.py"]
    assert "had no time to read 2 files" in json.loads(never.err)["detail"]
    assert (late.code, sent["sent"], sent["waiting"]) == (0, 2, [])


def test_files_are_left_out_as_long_as_the_server_names_some(
    here: Cairn, code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "PATHS_AT_ONCE", 1)
    monkeypatch.setattr(indexing, "MOST_FAULTS", 1)
    for number in range(5):
        (code / f"password={PASSWORD}{number}.py").write_text("x = 1\n")

    done = here("--json", "index")

    (row,) = done.rows()
    assert done.code == 0, done.err
    assert (row["files"], row["left"]) == (2, {"its path is not taken": 5})


@pytest.mark.parametrize(
    ("folder", "says"),
    [("", "holds all of your work"), ("empty", "no file to index"), ("secret", "no file to index")],
)
def test_a_folder_of_everything_or_nothing_is_refused(
    here: Cairn, home: Path, folder: str, says: str
) -> None:
    for name in ("empty", "secret"):
        (home / name).mkdir()
    (home / "secret" / f"password={PASSWORD}.py").write_text("x = 1\n")

    done = here("--json", "index", "--replace", str(home / folder))

    assert done.code == 2
    assert says in json.loads(done.err)["detail"]


def _standing(state: str, *, done: int = 0, reason: str = "") -> Answer:
    return (200, {}, {"state": state, "files_total": 0, "files_done": done, "reason": reason})


@pytest.mark.parametrize(
    ("standings", "code", "says"),
    [
        ([_standing("resolving"), _standing("done")], 0, ""),
        ([_standing("failed", reason="Too long.")], 1, "The edges could not be made: Too long."),
        ([_standing("resolving")], 1, "nothing moved"),
    ],
    ids=["until they are made", "until they failed", "while nothing moves"],
)
def test_it_waits_for_the_edges(
    cairn: Cairn,
    served: Served,
    other: Path,
    monkeypatch: pytest.MonkeyPatch,
    standings: list[Answer],
    code: int,
    says: str,
) -> None:
    monkeypatch.setattr(index, "POLL_SECONDS", 0)
    monkeypatch.setattr(index, "STUCK_SECONDS", 60 if len(standings) > 1 else 0)
    script = served(_standing("empty"), KNOWN, *standings)
    said = ("--url", script.url, "--token", "t-1", "--json")

    done = cairn(*said, "index", "--wait", "--project", "shop", str(other))

    assert done.code == code, done.err
    assert says in done.err


def test_the_languages_are_those_that_the_server_reads() -> None:
    assert languages.EXTENSIONS.keys() == code_files.READ


def test_lines_that_are_added_to_a_file_of_secrets_are_neither_sent_nor_kept() -> None:
    for name, lines in ((".npmrc", ""), ("a/.netrc", ""), (".env", ""), ("a.toml", "k = 1")):
        given = {"file_path": name, "old_string": "", "new_string": "k = 1"}
        row = {"sequence": 1, "kind": "tool_call", "name": "Edit", "args": given}
        kept = event_parsing.read(row=row)
        assert isinstance(kept, Event)
        assert (parsers._added(name, given), kept.arguments.added) == (lines, lines)


def test_no_link_is_followed_to_a_folder(code: Path, tmp_path: Path) -> None:
    subprocess.run(("git", "-C", code, "add", "."), check=True)
    (code / "shop").rename(tmp_path / "moved")
    (code / "shop").symlink_to(tmp_path / "moved")
    (code / "main.py").write_text("x = 1\n")

    found = code_files.find(folder=code)

    assert [file.path for file in found.files] == ["main.py"]
    assert found.left == {"no file": 2, "in no language that is read": 1}


def test_what_is_large_a_link_a_pipe_or_holds_a_private_key_is_not_read(code: Path) -> None:
    body = "\n".join("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" for _ in range(3))
    marks = [f"-----{mark} PRIVATE KEY-----" for mark in ("BEGIN", "END")]
    (code / "keys.py").write_text(f'KEY = """{marks[0]}\n{body}\n{marks[1]}"""')
    with (code / "large.py").open("wb") as file:
        file.truncate(1 << 40)
    (code / "link.py").symlink_to(code / "shop" / "cart.py")
    os.mkfifo(code / "pipe.py")

    reasons = {
        "keys.py": "holds a private key",
        "large.py": "too large",
        "link.py": "unreadable",
        "pipe.py": "no file",
    }
    assert {name: code_files.read(source=code / name) for name in reasons} == reasons


def test_a_folder_without_git_is_walked(cairn: Cairn, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    for name in ("a.py", "lib/b.py", "node_modules/c.js", ".venv/d.py", ".hidden/e.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x = 1\n")

    done = cairn("--json", "index", str(folder), "--dry-run")

    assert [row["path"] for row in done.rows()] == ["a.py", "lib/b.py"]


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [("config", "[core\n", "fatal: bad config line 1"), ("index", "broken", "nothing was read")],
)
def test_nothing_is_read_where_git_refuses_to_say_what_is_ignored(
    cairn: Cairn, code: Path, file: str, content: str, says: str
) -> None:
    (code / ".git" / file).write_text(content)

    done = cairn("--json", "index", ".", "--dry-run")

    told = json.loads(done.err)
    assert (done.code, done.out) == (1, "")
    assert says in told["detail"]
    assert told["command"] == f"git -C {code} status"
