"""Take in files that a manifest announced: read what they define and what they name.

Each is parsed while its sender waits, apart from this process and bounded in time and memory, and
its text is let go of: no queue, log or table ever holds it. What it defines stands at once, its
edges come of a job. A file that cannot be read is kept as such, so that it is not asked for again.

A call holds no connection while its files are parsed, because others may be before them; what is
not read when its time is over stays missing, and its sender is told.
"""

import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from accounts import bulk_insert, free_texts, tenancy
from accounts.caller import Caller, principal
from accounts.errors import FieldError, TooLarge
from accounts.messages import message
from graph.code import cache_format, languages
from graph.code.manifest import LARGEST_FILE
from graph.code.values import Parsed, Refused
from graph.errors import IndexRunning, ManifestMismatch
from graph.index import parser_process, queries, statements
from graph.index.queries import REFUSED, IndexView, files_of, index_of, root_of
from graph.models import Node
from graph.vocabulary import Layer, NodeSource
from teams import audit
from teams.models import Project
from teams.queries import find_project

BINARY: Final = message("This is not a text file.")
SECONDS: Final = 20.0  # of the clock in which a call's files may begin to be read; a default


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A file that came: its path, the hash that its sender computed, and what is in it."""

    path: str
    hash: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What became of files: how many were read, how many were known, which could not be read.

    `waiting` are those that it was not the turn of in time: they stay missing.
    """

    indexed: int
    known: int
    refused: tuple[Refused, ...]
    waiting: tuple[str, ...]
    job_id: UUID | None
    view: IndexView


def take_files(
    *, caller: Caller, ref: str, run: UUID, files: Sequence[Sent], now: datetime
) -> Taken:
    """Read files that the newest manifest announced.

    Raises TooLarge, ManifestMismatch pointing at the file, IndexRunning where another manifest has
    come since, RateLimited where as many calls of the organization are read as may be at a time,
    RoleNotSufficient, NotFound.
    """
    queries.check_may_index(caller=caller)
    _check(files)
    with parser_process.READING.hold():
        with tenancy.unit():
            wanted = _wanted(find_project(caller=caller, ref=ref), run, files)
        tenancy.let_go()
        asked = {one.path: one for one in files if one.path in wanted}
        read = _read(asked.values())
        with tenancy.unit():
            project = find_project(caller=caller, ref=ref)
            root = queries.hold_root(project=project)
            nodes = _wanted(project, run, files)
            stored = {path: found for path, found in read.items() if path in nodes}
            _store(project, stored, {path: (nodes[path], asked[path]) for path in stored}, now)
            if stored:
                queries.put(root=root, revision=queries.revision(root=root) + 1)
            view = index_of(project_id=project.id)
            job_id, view = queries.queue(
                by=principal(caller=caller), project_id=project.id, view=view
            )
            refused = tuple(one for one in stored.values() if isinstance(one, Refused))
            details = {"files": len(stored), "refused": len(refused)}
            audit.append(
                "project.code_received", "project", str(project.id), caller=caller, details=details
            )
            if stored:
                queries.announce(actor=caller, project=project, view=view)
    waiting = tuple(path for path in asked if path not in read)
    return Taken(
        indexed=len(stored) - len(refused),
        known=len(files) - len(stored) - len(waiting),
        refused=refused,
        waiting=waiting,
        job_id=job_id,
        view=view,
    )


def _check(files: Sequence[Sent]) -> None:
    """Check each file by itself. Raises TooLarge, ManifestMismatch."""
    for number, file in enumerate(files):
        if len(file.content) > LARGEST_FILE:
            raise TooLarge(
                detail="A file has at most 1,048,576 bytes.",
                hint="Leave it out of the manifest.",
                errors=(_fault(number, "text", "The file is too large."),),
            )
        if hashlib.sha256(file.content).hexdigest() != file.hash:
            raise _mismatch(number, "hash", "This is not the SHA-256 of what came.")


def _wanted(project: Project, run: UUID, files: Sequence[Sent]) -> dict[str, Node]:
    """Return the nodes of the files that are still waited for; what is known is no fault.

    Raises IndexRunning, ManifestMismatch.
    """
    root = root_of(project_id=project.id)
    if root is None or (root.details or {}).get("run") != str(run):
        detail = "This is not the newest run."
        raise IndexRunning(
            detail="Another manifest of this project has come since.",
            hint="Somebody else indexes it as well. Send your manifest again: `cairn index`.",
            errors=(FieldError(pointer="/run", detail=detail, code="index_running"),),
        )
    stored = files_of(project_id=project.id).defer("details")
    nodes = {row.qualified: row for row in stored.filter(qualified__in=[f.path for f in files])}
    for number, file in enumerate(files):
        node = nodes.get(file.path)
        if node is None:
            raise _mismatch(number, "path", "The manifest does not name this file.")
        if file.hash != (node.wanted or node.hash):
            raise _mismatch(number, "hash", "The manifest says another hash.")
    return {path: node for path, node in nodes.items() if node.wanted}


def _read(files: Iterable[Sent]) -> dict[str, Parsed | Refused]:
    """Read files in their order, by path, as many as it is the turn of in time."""
    until = time.monotonic() + SECONDS
    read: dict[str, Parsed | Refused] = {}
    with suppress(parser_process.Busy):
        for one in files:
            if b"\0" in one.content:
                read[one.path] = Refused(path=one.path, reason=BINARY)
                continue
            found = parser_process.parse(path=one.path, content=one.content, until=until)
            if isinstance(found, Parsed):
                found = cache_format.bounded(parsed=found)
                found = cache_format.without(parsed=found, is_secret=_is_secret)
            read[one.path] = found
    return read


def _is_secret(text: str) -> bool:
    return free_texts.masked(text=text) != text


def _store(
    project: Project,
    read: Mapping[str, Parsed | Refused],
    sent: Mapping[str, tuple[Node, Sent]],
    now: datetime,
) -> None:
    """Put what files define in the place of what they defined."""
    before: dict[int, dict[str, int]] = {node.id: {} for node, _ in sent.values()}
    known = Node.objects.filter(file__in=list(before)).values_list("file_id", "qualified", "id")
    for file_id, qualified, id in known.order_by("id"):
        before[file_id or 0][qualified] = id
    new: list[Node] = []
    moved: list[dict[str, Any]] = []
    gone: list[int] = []
    for path, (node, file) in sent.items():
        found = read[path]
        _keep(node, file, found, now)
        symbols = found.symbols if isinstance(found, Parsed) else ()
        defined = {symbol.qualified: symbol for symbol in symbols}
        gone += [id for name, id in before[node.id].items() if name not in defined]
        for name, symbol in defined.items():
            columns = {
                "kind": symbol.kind,
                "label": symbol.name,
                "language": node.language,
                "first_line": symbol.first_line,
                "last_line": symbol.last_line,
            }
            if name in before[node.id]:
                moved.append({"id": before[node.id][name], **columns})
            else:
                fixed = {"layer": Layer.STRUCTURAL, "source": NodeSource.AST}
                new.append(
                    Node(project=project, file_id=node.id, qualified=name, **columns, **fixed)
                )
    statements.make_stale(files=before, now=now)
    statements.drop_nodes(nodes=gone, now=now)
    statements.move(rows=moved)
    bulk_insert.insert_rows(rows=new)


def _keep(node: Node, sent: Sent, found: Parsed | Refused, now: datetime) -> None:
    """Put down of a file what was read of it, and that its edges are to be made anew."""
    node.hash, node.wanted, node.size = sent.hash, "", len(sent.content)
    node.indexed_at = node.stale_at = now
    if isinstance(found, Refused):
        node.language = languages.language_of(path=sent.path) or ""
        node.confidence, node.last_line, node.details = REFUSED, None, {"refused": found.reason}
    else:
        node.language = found.language or ""
        node.confidence, node.first_line, node.last_line = 1.0, 1, found.lines
        node.details = cache_format.as_json(parsed=found)
    node.save(
        update_fields=[
            "hash", "wanted", "size", "indexed_at", "stale_at", "language", "confidence",
            "first_line", "last_line", "details",
        ]
    )  # fmt: skip


def _fault(number: int, name: str, detail: str) -> FieldError:
    return FieldError(pointer=f"/files/{number}/{name}", detail=detail, code="mismatch")


def _mismatch(number: int, name: str, detail: str) -> ManifestMismatch:
    return ManifestMismatch(
        detail=detail,
        hint="Send the manifest again with the files as they are now, then what is missing.",
        errors=(_fault(number, name, detail),),
    )
