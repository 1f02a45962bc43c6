"""The demo: real documents and a recorded session, brought in through the product's own doors.

Only names decide which files of a folder are read, so an import can be foretold: agent rules,
READMEs, documentation. Folders that tools or package managers fill are not entered, links are not
followed, and what is not read is named with its reason. Nothing is made up for the demo: every
statement is read from files when it is loaded, and names the file and line it came from.

The recorded agent session is data: `session.jsonl`, one call a line, with the thought that led to
it. A call may name what it answers, and later calls use that name. Writes carry a fixed
Idempotency-Key, so that playing again stores nothing twice; confirmations and searches happen each
time.
"""

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from typing import Any, Final

import httpx

from config import env
from memory.documents import markdown_notes, reading
from memory.documents.file_formats import (
    DocumentCandidate,
    DocumentReading,
    FileFormat,
    FileRead,
)
from memory.documents.markdown_notes import Statement
from memory.taxonomy import MemoryType

LARGEST_BYTES: Final = 2_000_000  # of one document; larger ones are data
NOT_ENTERED: Final = frozenset({
    "node_modules", "bower_components", "vendor", "third_party", "site-packages", "__pycache__",
    "venv", "env", "build", "dist", "target", "out", "coverage", "htmlcov", "var", "tmp",
})  # fmt: skip
HIDDEN_ENTERED: Final = frozenset({".cursor", ".github", ".claude"})
RULE_FILES: Final = frozenset({
    "claude.md", "claude.local.md", "agents.md", "gemini.md", "copilot-instructions.md",
    ".cursorrules", ".windsurfrules", ".clinerules", "conventions.md", "contributing.md",
})  # fmt: skip
DOCUMENT_FOLDERS: Final = frozenset({"docs", "doc", "adr", "adrs", "rules", "runbooks"})
DOCUMENT_SUFFIXES: Final = frozenset({".md", ".mdc", ".markdown"})
README_SUFFIXES: Final = frozenset({"", ".md", ".markdown", ".txt"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One file of a folder: its path as the folder sees it, its text, or why it was not read."""

    path: str
    text: str
    skipped: str = ""


def documents(*, folder: Path) -> tuple[Document, ...]:
    """Read the documents of a folder in the order of their paths.

    A folder inside it that cannot be listed is one skipped document.
    """
    closed: list[OSError] = []
    paths = sorted(path for path in _files(folder, closed.append) if is_document(path=path))
    return (
        *(_read(folder, path) for path in paths),
        *(Document(path=str(error.filename), text="", skipped=_reason(error)) for error in closed),
    )


def is_document(*, path: str) -> bool:
    """Say whether a path, relative to its folder, is a document that speaks about the work."""
    pure = PurePosixPath(path)
    name, suffix = pure.name.lower(), pure.suffix.lower()
    if name in RULE_FILES:
        return True
    if name.partition(".")[0] == "readme":
        return suffix in README_SUFFIXES
    in_documents = not DOCUMENT_FOLDERS.isdisjoint(part.lower() for part in pure.parts[:-1])
    return in_documents and suffix in DOCUMENT_SUFFIXES


def tag_of(*, path: str) -> str:
    """Return the tag that says what kind of document a statement came from."""
    name = PurePosixPath(path).name.lower()
    if name in RULE_FILES or name.endswith(".mdc"):
        return "agent-rules"
    return "readme" if name.startswith("readme") else "docs"


def _files(folder: Path, on_error: Callable[[OSError], None]) -> Iterator[str]:
    for root, names, files in os.walk(folder, onerror=on_error):
        names[:] = [
            name
            for name in names
            if name in HIDDEN_ENTERED or not (name.startswith(".") or name.lower() in NOT_ENTERED)
        ]
        for name in files:
            yield (Path(root) / name).relative_to(folder).as_posix()


def _read(folder: Path, path: str) -> Document:
    try:
        if (folder / path).stat().st_size > LARGEST_BYTES:
            return Document(path=path, text="", skipped="too large")
        decoded = reading.decode(data=(folder / path).read_bytes())
    except OSError as error:
        return Document(path=path, text="", skipped=_reason(error))
    return Document(path=path, text=decoded.text, skipped="binary" if decoded.fault else "")


def _reason(error: OSError) -> str:
    return (error.strerror or "unreadable").lower()


LONGEST_URI: Final = 500  # characters, the column's


def of_statement(
    *, statement: Statement, path: str, tags: tuple[str, ...], files: tuple[str, ...] = ()
) -> DocumentCandidate:
    """Return the candidate of one statement; `path` and its line are its source."""
    attributes: dict[str, Any] = {}
    if statement.type is MemoryType.WORKFLOW_RECIPE and statement.steps:
        attributes = {
            "task_pattern": statement.content.partition("\n")[0].rstrip(":"),
            "steps": [{"order": i, "description": one} for i, one in enumerate(statement.steps, 1)],
        }
    return DocumentCandidate(
        content=statement.content,
        file=path,
        line=statement.line,
        type=statement.type.value,
        external_id=statement.external_id,
        tags=tags,
        related_files=files,
        attributes=attributes,
        source_uri=path[-LONGEST_URI:],
        source_line=statement.line,
    )


PACKAGES: Final = ("accounts", "config", "frontend", "graph", "memory", "teams")
NOT_READ: Final = frozenset({"migrations", "tests"})
DEPENDENCIES: Final = "pyproject.toml"
EXAMPLES: Final = frozenset({  # pages made of sample calls, which are not true of this project
    "README.md", "01-overview.md", "02-quick-start.md", "04-agents.md", "05-query-box.md",
    "07-api-guide.md",
})  # fmt: skip

_REASON = re.compile(r'^\s*"(?P<package>[\w.\[\],-]+)==(?P<version>[\w.]+)",\s*#\s*(?P<reason>.+)$')


def read_own() -> DocumentReading:
    """Read every statement of this installation: its documents, modules and dependencies."""
    return _reading((*_documents(), *_modules(), *_dependencies()))


def read_folder(*, found: tuple[Document, ...]) -> DocumentReading:
    """Read the statements of a folder's documents."""
    return _reading(
        tuple(
            of_statement(
                statement=statement, path=document.path, tags=(tag_of(path=document.path),)
            )
            for document in found
            for statement in markdown_notes.read_document(text=document.text, path=document.path)
        )
    )


def _reading(candidates: tuple[DocumentCandidate, ...]) -> DocumentReading:
    counts = Counter(one.file for one in candidates)
    files = tuple(
        FileRead(name=name, format=FileFormat.MARKDOWN, candidates=count)
        for name, count in counts.items()
    )
    return DocumentReading(files=files, candidates=candidates, faults=())


def _documents() -> Iterator[DocumentCandidate]:
    for document in documents(folder=env.ROOT):
        if Path(document.path).name in EXAMPLES:
            continue
        tag = tag_of(path=document.path)
        for statement in markdown_notes.read_document(text=document.text, path=document.path):
            yield of_statement(statement=statement, path=document.path, tags=(tag,))


def _modules() -> Iterator[DocumentCandidate]:
    for path in sorted(path for name in PACKAGES for path in (env.ROOT / name).rglob("*.py")):
        inside = path.relative_to(env.ROOT)
        if not NOT_READ.isdisjoint(inside.parts):
            continue
        relative = inside.as_posix()
        for statement in markdown_notes.read_docstring(
            source=path.read_text(encoding="utf-8"), path=relative
        ):
            yield of_statement(
                statement=statement, path=relative, tags=("module",), files=(relative,)
            )


def _dependencies() -> Iterator[DocumentCandidate]:
    lines = (env.ROOT / DEPENDENCIES).read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        found = _REASON.match(line)
        if found is None:
            continue
        package = found["package"]
        yield DocumentCandidate(
            content=f"Cairn depends on {package} {found['version']}: {found['reason']}",
            file=DEPENDENCIES,
            line=number,
            type=MemoryType.DECISION.value,
            external_id=f"{DEPENDENCIES}#{package}",
            tags=("dependency",),
            related_files=(DEPENDENCIES,),
            source_uri=DEPENDENCIES,
            source_line=number,
        )


SESSION: Final = Path(__file__).with_name("session.jsonl")
AGENT: Final = "demo-agent"
TIMEOUT_SECONDS: Final = 30.0
REPEATED: Final = ("/confirm", "/search")  # calls that may happen twice


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One call of the session: why it is made, the call, and the name of what it answers."""

    say: str
    path: str
    body: Mapping[str, Any] = field(default_factory=dict)
    keep: str = ""


class Unplayable(Exception):
    """The session cannot go on; the message says why and what to do."""


def read(*, path: Path = SESSION) -> tuple[Step, ...]:
    """Read a recorded session."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return tuple(Step(**json.loads(line)) for line in lines if line.strip())


def play(
    *, client: httpx.Client, project: str, steps: tuple[Step, ...], pause: Callable[[], None]
) -> Iterator[tuple[Step, str]]:
    """Make the calls in order, with a pause before each; yield each with its result in words.

    Raises Unplayable when the server does not answer or does not accept the token.
    """
    kept: dict[str, str] = {}
    for number, step in enumerate(steps, 1):
        pause()
        named = (part[1:-1] for part in step.path.split("/") if part.startswith("{"))
        if any(name not in kept for name in named):
            yield step, "skipped: what it builds on was not found"
            continue
        answer = _call(client, step, project, kept, number)
        if step.keep and (memory_id := _memory_id(answer.json())):
            kept[step.keep] = memory_id
        yield step, _in_words(answer)


def client(*, url: str, token: str) -> httpx.Client:
    """Return the client that speaks as the demo's agent."""
    headers = {"Authorization": f"Bearer {token}", "X-Cairn-Agent": AGENT}
    return httpx.Client(
        base_url=f"{url}/api/v1", headers=headers, timeout=TIMEOUT_SECONDS, trust_env=False
    )


def _call(
    client: httpx.Client, step: Step, project: str, kept: Mapping[str, str], number: int
) -> httpx.Response:
    path = step.path.format_map(kept)
    body = dict(step.body)
    if "project" in body:
        body["project"] = project
    text = json.dumps((number, step.path, dict(step.body)), sort_keys=True)
    key = f"demo-{hashlib.sha256(text.encode()).hexdigest()[:24]}"
    headers = {} if path.endswith(REPEATED) else {"Idempotency-Key": key}
    try:
        answer = client.post(path, json=body, headers=headers)
    except httpx.TransportError as error:
        raise Unplayable(
            f"Cairn does not answer at {client.base_url} ({error}); start it with: make run"
        ) from error
    if answer.status_code in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        raise Unplayable(f"The token is not accepted: {answer.json().get('detail', '')}")
    return answer


def _memory_id(body: Mapping[str, Any]) -> str:
    if body.get("results"):
        return str(body["results"][0]["memory"]["id"])
    return str(body["memory"]["id"]) if body.get("memory") else ""


def _in_words(answer: httpx.Response) -> str:
    body = answer.json()
    if answer.is_error:
        return f"{answer.status_code} {body.get('gate') or body.get('code')}: {body.get('detail')}"
    if "results" in body:
        return f"{len(body['results'])} found" if body["results"] else "nothing relevant"
    is_replay = "Idempotency-Replayed" in answer.headers
    return "done before" if is_replay else str(body.get("outcome", "done"))
