"""Take in files that a manifest announced: read what they define and what they name.

Each is parsed while its sender waits, apart from this process and bounded in time and memory, and
its text is let go of: no queue, log or table ever holds it. What it defines stands at once, its
edges come of a job. A file that cannot be read is kept as such, so that it is not asked for again.

A call holds no connection while its files are parsed, because others may be before them; what is
not read when its time is over stays missing, and its sender is told.
"""

import hashlib
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from accounts import bulk_insert, free_texts, tenancy
from accounts.caller import Caller, principal
from accounts.errors import FieldError, TooLarge
from accounts.messages import message
from graph.code import cache_format
from graph.code.languages import language_of
from graph.code.manifest import LARGEST_FILE
from graph.code.values import Parsed, Symbol
from graph.errors import IndexRunning, ManifestMismatch
from graph.index import code_root, parse_slots, parser_process, statements
from graph.index.queries import REFUSED, IndexView, State, files_of, index_of, root_of
from graph.models import Node
from graph.vocabulary import Layer, NodeSource
from teams import audit
from teams.models import Project
from teams.queries import find_project

BINARY: Final = message("It is no text.")
SECONDS: Final = 20.0  # of the clock in which a call's files may begin to be read; ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A file that came: its path, the hash that its sender computed, and what is in it."""

    path: str
    hash: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A file of which nothing could be read, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What became of files: how many were read, how many were known, which could not be read.

    `waiting` are those that it was not the turn of in time: they stay missing.
    """

    indexed: int
    known: int
    refused: tuple[Refusal, ...]
    waiting: tuple[str, ...]
    job_id: UUID | None
    view: IndexView


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """A file that was parsed, or why it could not be."""

    sent: Sent
    parsed: Parsed | None
    reason: str = ""


def take_files(
    *, caller: Caller, ref: str, run: UUID, files: Sequence[Sent], now: datetime
) -> Taken:
    """Read files that the newest manifest announced.

    Raises TooLarge, ManifestMismatch pointing at the file, IndexRunning where another manifest has
    come since, RateLimited where as many calls of the organization are read as may be at a time,
    RoleNotSufficient, NotFound.
    """
    code_root.check_may_index(caller=caller)
    _check(files)
    with parse_slots.READING.hold():
        return _taken(caller, ref, run, files, now)


def _taken(caller: Caller, ref: str, run: UUID, files: Sequence[Sent], now: datetime) -> Taken:
    with tenancy.unit():
        wanted = _wanted(find_project(caller=caller, ref=ref), run, files)
    tenancy.let_go()
    asked = [one for one in files if one.path in wanted]
    read = _read(asked)
    waiting = tuple(one.path for one in asked[len(read) :])
    with tenancy.unit():
        project = find_project(caller=caller, ref=ref)
        root = code_root.hold_root(project=project)
        nodes = _wanted(project, run, files)
        stored = [one for one in read if one.sent.path in nodes]
        _store(project, stored, nodes, now)
        if stored:
            code_root.put(root=root, revision=code_root.revision(root=root) + 1)
        view = index_of(project_id=project.id)
        job_id = code_root.queue(by=principal(caller=caller), project_id=project.id, view=view)
        if job_id and view.state is State.FAILED:
            view = index_of(project_id=project.id)
        _tell(caller, project, stored, view)
    return Taken(
        indexed=sum(one.parsed is not None for one in stored),
        known=len(files) - len(stored) - len(waiting),
        refused=tuple(
            Refusal(path=one.sent.path, reason=one.reason) for one in stored if one.parsed is None
        ),
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
        raise IndexRunning(
            detail="Another manifest of this project has come since.",
            hint="Somebody else indexes it as well. Send your manifest again: `cairn index`.",
            errors=(
                FieldError(
                    pointer="/run", detail="This is not the newest run.", code="index_running"
                ),
            ),
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


def _read(files: Sequence[Sent]) -> list[_Read]:
    """Read files in their order, as many as it is the turn of in time."""
    until = time.monotonic() + SECONDS
    read: list[_Read] = []
    with suppress(parser_process.Busy):
        for one in files:
            read.append(_parsed(one, until))  # noqa: PERF401 - what was read before counts
    return read


def _parsed(sent: Sent, until: float) -> _Read:
    """Read a file. Raises Busy."""
    if b"\0" in sent.content:
        return _Read(sent=sent, parsed=None, reason=BINARY)
    found = parser_process.parse(path=sent.path, content=sent.content, until=until)
    if not isinstance(found, Parsed):
        return _Read(sent=sent, parsed=None, reason=found.why)
    return _Read(
        sent=sent,
        parsed=cache_format.without(parsed=cache_format.bounded(parsed=found), is_secret=_secret),
    )


def _secret(text: str) -> bool:
    return free_texts.shown(text=text) != text


def _store(
    project: Project, read: Sequence[_Read], nodes: Mapping[str, Node], now: datetime
) -> None:
    """Put what files define in the place of what they defined."""
    files = {nodes[one.sent.path].id: one for one in read}
    before: dict[int, dict[str, int]] = {node: {} for node in files}
    known = Node.objects.filter(file__in=list(files)).values_list("file_id", "qualified", "id")
    for node, qualified, id in known.order_by("id"):
        before[node or 0][qualified] = id
    new: list[Node] = []
    moved: list[dict[str, Any]] = []
    gone: list[int] = []
    for node, one in files.items():
        defined = {s.qualified: s for s in one.parsed.symbols} if one.parsed else {}
        gone += [id for name, id in before[node].items() if name not in defined]
        for name, symbol in defined.items():
            if name in before[node]:
                moved.append(_moved(before[node][name], symbol, one))
            else:
                new.append(_new(project, node, symbol, one))
        _keep(nodes[one.sent.path], one, now)
    statements.make_stale(files=files, now=now)
    statements.drop_nodes(nodes=gone, now=now)
    statements.move(rows=moved)
    bulk_insert.insert_rows(rows=new)


def _new(project: Project, file_id: int, symbol: Symbol, one: _Read) -> Node:
    return Node(
        project=project,
        kind=symbol.kind,
        label=symbol.name,
        qualified=symbol.qualified,
        file_id=file_id,
        language=_language(one),
        first_line=symbol.first_line,
        last_line=symbol.last_line,
        layer=Layer.STRUCTURAL,
        source=NodeSource.AST,
    )


def _moved(node: int, symbol: Symbol, one: _Read) -> dict[str, Any]:
    return {
        "id": node,
        "kind": symbol.kind,
        "label": symbol.name,
        "language": _language(one),
        "first_line": symbol.first_line,
        "last_line": symbol.last_line,
    }


def _keep(node: Node, one: _Read, now: datetime) -> None:
    """Put down of a file what was read of it, and that its edges are to be made anew."""
    node.hash, node.wanted, node.size = one.sent.hash, "", len(one.sent.content)
    node.indexed_at = node.stale_at = now
    node.language = _language(one)
    if one.parsed is None:
        node.confidence, node.last_line, node.details = REFUSED, None, {"refused": one.reason}
    else:
        node.confidence, node.first_line, node.last_line = 1.0, 1, one.parsed.lines
        node.details = cache_format.as_json(parsed=one.parsed)
    node.save(
        update_fields=[
            "hash", "wanted", "size", "indexed_at", "stale_at", "language", "confidence",
            "first_line", "last_line", "details",
        ]
    )  # fmt: skip


def _language(one: _Read) -> str:
    return one.parsed.language or "" if one.parsed else language_of(path=one.sent.path) or ""


def _tell(caller: Caller, project: Project, read: Sequence[_Read], view: IndexView) -> None:
    audit.append(
        "project.code_received",
        "project",
        str(project.id),
        caller=caller,
        details={
            "files": len(read),
            "refused": sum(one.parsed is None for one in read),
        },
    )
    if read:
        code_root.tell(actor=caller, project=project, view=view)


def _fault(number: int, name: str, detail: str) -> FieldError:
    return FieldError(pointer=f"/files/{number}/{name}", detail=detail, code="mismatch")


def _mismatch(number: int, name: str, detail: str) -> ManifestMismatch:
    return ManifestMismatch(
        detail=detail,
        hint="Send the manifest again with the files as they are now, then what is missing.",
        errors=(_fault(number, name, detail),),
    )
