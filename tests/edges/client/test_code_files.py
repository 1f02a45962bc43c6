"""The files of a folder that may be sent: git says which, and no link, pipe or size misleads."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from graph.code import languages
from memory.client import code_files
from tests.edges.client.conftest import Cairn


def test_the_languages_are_those_that_the_server_reads() -> None:
    assert languages.EXTENSIONS.keys() == code_files.READ


def test_a_file_with_a_private_key_stays_here(code: Path) -> None:
    name = "PRIVATE KEY"
    body = "\n".join("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" for _ in range(3))
    (code / "keys.py").write_text(
        f'KEY = """-----BEGIN {name}-----\n{body}\n-----END {name}-----"""'
    )

    assert code_files.read(source=code / "keys.py") == "holds a private key"


def test_no_link_is_followed_to_a_folder(code: Path, tmp_path: Path) -> None:
    subprocess.run(("git", "-C", code, "add", "."), check=True)
    (code / "shop").rename(tmp_path / "moved")
    (code / "shop").symlink_to(tmp_path / "moved")
    (code / "main.py").write_text("x = 1\n")

    found = code_files.find(folder=code)

    assert [file.path for file in found.files] == ["main.py"]
    assert found.left == {"no file": 2, "in no language that is read": 1}


def test_of_a_large_file_no_more_is_read_than_may_be_sent(code: Path) -> None:
    with (code / "large.py").open("wb") as file:
        file.truncate(1 << 40)

    assert code_files.read(source=code / "large.py") == "too large"


def test_what_took_the_place_of_a_file_is_not_read(code: Path) -> None:
    (code / "link.py").symlink_to(code / "shop" / "cart.py")
    os.mkfifo(code / "pipe.py")

    assert code_files.read(source=code / "link.py") == "unreadable"
    assert code_files.read(source=code / "pipe.py") == "no file"


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
