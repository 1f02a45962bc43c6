"""Documents of a folder become memories, and a second run confirms them."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from accounts.actions.tokens import NewToken, create_token
from accounts.caller import Caller, TokenScope
from config import demo, env
from memory.documents import queries
from memory.documents.actions.import_batches import undo_import
from memory.records.filters import Filters
from memory.records.queries import memories
from memory.records.queries.views import MemoryView
from teams.actions import create_project
from tests.conftest import NOW

RULES = b"""\
# CLAUDE.md

- NEVER log a token
- Prefer small modules

## Gotchas

- CI runs no migrations
"""
CODE_PAGE = "# Über uns\n\nDer Schlüssel läuft nach einem Tag ab, weil er klein ist.\n".encode(
    "cp1252"
)
SECRET = b"# Setup\n\nThe key is AKIA" + b"Z7QK3MPL9WXV2RTD, keep it well.\n"

pytestmark = pytest.mark.usefixtures("in_organization")


@pytest.fixture
def credentials(caller: Caller, tmp_path: Path) -> Path:
    """The file of an installation with one project."""
    create_project(caller=caller, slug="shop", name="Shop", now=NOW)
    scopes = frozenset({TokenScope.READ, TokenScope.WRITE})
    token = create_token(caller=caller, new=NewToken(name="first", scopes=scopes), now=NOW).text
    path = tmp_path / "credentials.json"
    path.write_text(json.dumps({"url": "http://127.0.0.1:1", "token": token, "project": "shop"}))
    return path


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder as one finds them."""
    root = tmp_path / "tree"
    for path, data in {
        "CLAUDE.md": RULES,
        "docs/deep/er/über.md": CODE_PAGE,
        "docs/logo.md": b"\x89PNG\x00\x00",
        "docs/setup.md": SECRET,
        "notes.md": b"# Not a document of the project\n\nThis is not read at all.\n",
        "node_modules/x/README.md": b"# x\n\nSomebody else's words, not read.\n",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    return root


def _run(credentials: Path, *arguments: str) -> str:
    out = StringIO()
    call_command("demo", *arguments, f"--credentials={credentials}", stdout=out, skip_checks=True)
    return out.getvalue()


def _stored(caller: Caller) -> tuple[MemoryView, ...]:
    filters = Filters(project="shop")
    return memories.page(caller=caller, filters=filters, cursor=None, limit=100, now=NOW).items


def test_documents_become_typed_memories_with_their_place(
    caller: Caller, credentials: Path, tree: Path
) -> None:
    _run(credentials, f"--from={tree}")

    told = {
        (item.type, item.content, item.source_uri, item.source_line) for item in _stored(caller)
    }
    origins = {(item.source, item.source_interface) for item in _stored(caller)}
    assert origins == {("import", "import")}
    assert told == {
        ("requirement", "CLAUDE.md: NEVER log a token", "CLAUDE.md", 3),
        ("fact", "Prefer small modules", "CLAUDE.md", 4),
        ("fact", "Gotchas: CI runs no migrations", "CLAUDE.md", 8),
        (
            "fact",
            "Über uns: Der Schlüssel läuft nach einem Tag ab, weil er klein ist.",
            "docs/deep/er/über.md",
            3,
        ),
    }


def test_what_is_not_stored_is_told(credentials: Path, tree: Path) -> None:
    said = _run(credentials, f"--from={tree}")

    assert "Not read: docs/logo.md (binary)." in said
    assert "1 refused (secrets 1)" in said
    assert b"AKIA".decode() not in said


def test_a_second_run_confirms_instead_of_storing_twice(
    caller: Caller, credentials: Path, tree: Path
) -> None:
    _run(credentials, f"--from={tree}")
    before = {item.id for item in _stored(caller)}

    said = _run(credentials, f"--from={tree}")

    assert "0 added, 4 confirmed" in said
    assert {item.id for item in _stored(caller)} == before


@pytest.mark.parametrize(("trust", "waits"), [((), True), (("--trust",), False)])
def test_a_folder_is_an_import_that_waits_for_review_unless_trusted_and_can_be_undone(
    caller: Caller, credentials: Path, tree: Path, trust: tuple[str, ...], waits: bool
) -> None:
    _run(credentials, f"--from={tree}", *trust)

    (batch,), _ = queries.list_imports(caller=caller, project="shop", after=None, limit=10, now=NOW)
    assert {item.needs_review for item in _stored(caller)} == {waits}
    assert (batch.state, dict(batch.counts)) == ("done", {"added": 4, "refused": 1})
    undone = undo_import(caller=caller, batch_id=batch.id, now=NOW)
    assert (undone.archived, _stored(caller)) == (4, ())


def test_a_project_that_is_missing_is_made(credentials: Path, tree: Path, caller: Caller) -> None:
    _run(credentials, f"--from={tree}", "--project=website")

    filters = Filters(project="website")
    assert memories.count(caller=caller, filters=filters) == 4


@pytest.mark.parametrize(
    ("name", "says"), [("missing", "is not a folder"), (".", "holds no README")]
)
def test_a_folder_without_documents_is_one_sentence(
    credentials: Path, tmp_path: Path, name: str, says: str
) -> None:
    (tmp_path / "empty").mkdir()

    with pytest.raises(CommandError, match=says):
        _run(credentials, f"--from={tmp_path / 'empty' / name}")


def test_a_missing_credentials_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="make run"):
        _run(tmp_path / "none.json")


def test_playing_without_a_server_is_one_sentence(credentials: Path) -> None:
    with pytest.raises(CommandError, match="does not answer"):
        _run(credentials, "--play", "--pace=0")


def test_the_recorded_session_only_builds_on_what_it_kept() -> None:
    kept: set[str] = set()

    for step in demo.read():
        assert {part[1:-1] for part in step.path.split("/") if part.startswith("{")} <= kept
        kept |= {step.keep} - {""}


def test_cairns_own_statements_name_files_that_exist() -> None:
    told = demo.read_own().candidates

    assert len(told) > 300
    assert all((env.ROOT / item.source_uri).is_file() for item in told)
    assert len({item.external_id for item in told}) == len(told)


DOCUMENTS = (
    "CLAUDE.md", "AGENTS.md", ".cursorrules", "README", "README.md", "lib/readme.txt", "docs/a.md",
    "services/cart/docs/deep/b.md", ".cursor/rules/style.mdc", "adr/0001-use-x.md",
    ".github/copilot-instructions.md",
)  # fmt: skip
OTHERS = ("notes.md", "src/main.py", "docs/logo.png", "README.rst", "readme/index.html", "docs")


def test_documents_are_known_by_name_and_tagged_by_their_kind() -> None:
    assert [path for path in (*DOCUMENTS, *OTHERS) if demo.is_document(path=path)] == [*DOCUMENTS]
    tags = [demo.tag_of(path=path) for path in ("CLAUDE.md", "a/README.md", "docs/x.md")]
    assert tags == ["agent-rules", "readme", "docs"]


def test_folders_of_package_managers_and_links_are_not_entered(tmp_path: Path) -> None:
    for path in ("node_modules/x/README.md", ".git/README.md", "var/README.md", "a/README.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("# words", encoding="utf-8")
    (tmp_path / "loop").symlink_to(tmp_path)

    found = [document.path for document in demo.documents(folder=tmp_path)]

    assert found == ["a/README.md"]


def test_a_dangling_link_and_a_huge_file_are_named_with_their_reason(tmp_path: Path) -> None:
    (tmp_path / "README.md").symlink_to(tmp_path / "gone.md")
    with (tmp_path / "CLAUDE.md").open("wb") as file:
        file.truncate(demo.LARGEST_BYTES + 1)

    skipped = {item.path: item.skipped for item in demo.documents(folder=tmp_path)}

    assert skipped == {"CLAUDE.md": "too large", "README.md": "no such file or directory"}
