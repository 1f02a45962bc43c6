"""Write the index of a project's code: take a manifest, take files, make edges.

A manifest is whole. What it does not name goes at once, what is other than it was is stale at once,
and is known again when its text has come and its edges are made anew. The newest manifest counts:
files of an older one are not taken any more.

Each file is parsed while its sender waits, apart from this process and bounded in time and memory,
and its text is let go of: no queue, log or table ever holds it. What it defines stands at once, its
edges come of a job. A file that cannot be read is kept as such, so that it is not asked for again.
A call holds no connection while its files are parsed, because others may be before them; what is
not read when its time is over stays missing, and its sender is told.

For edges, all files are read in one unit, thought about in none, and what is other than before is
written in another under the lock of the index. When files came or went meanwhile, nothing is, and
the work is queued anew. So it may die anywhere, and the next run does it all.
"""

import hashlib
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any, Final
from uuid import UUID

from accounts import bulk_insert, free_texts, jobs, tenancy
from accounts.audit import Person
from accounts.caller import Caller, principal
from accounts.errors import FieldError, InvalidInput, TooLarge
from accounts.identifiers import new_id
from accounts.messages import message
from graph.code import resolve, values
from graph.code.languages import language_of
from graph.errors import IndexRunning, ManifestMismatch
from graph.index import parser_process, queries, statements
from graph.models import Edge, Node
from teams import audit
from teams.models import Project
from teams.queries import find_project

PATHS_AT_ONCE: Final = 500  # that are looked through for secrets together
MOST_FAULTS: Final = 1_000  # that a refusal names
SECONDS: Final = 20.0  # of the clock in which a call's files may begin to be read; a default
MOST_REFERENCES: Final = 2_000_000  # of a project, held at once, some hundred bytes each; a default
ROWS_AT_ONCE: Final = 5_000  # that are read or written together; a default
BINARY: Final = message("This is not a text file.")
OUTDATED: Final = {"outdated": 1}
ACTOR: Final = Person(user_id=None, source_interface="installation")
OF_CODE: Final[Mapping[str, str]] = {
    "layer": values.Layer.STRUCTURAL,
    "source": values.NodeSource.AST,
}
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_CONTROLS: Final = frozenset(map(chr, (*range(32), 127)))
Key = tuple[int, str, int | None, str]  # from, type, to, text
Worth = tuple[float, float]  # weight, confidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Announced:
    """A file as its owner has it: path below the project's folder, SHA-256 in hex, bytes."""

    path: str
    hash: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """What became of a manifest: the files that have to come, how many went, how many stayed."""

    run: UUID
    missing: tuple[str, ...]
    gone: int
    kept: int
    job_id: UUID | None
    index: queries.IndexView


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A file that came: its path, the hash that its sender computed, and what is in it."""

    path: str
    hash: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What became of files: how many were read or known, and which were not read."""

    indexed: int
    known: int
    refused: tuple[values.Refused, ...]
    waiting: tuple[str, ...]  # not read in time, still missing
    job_id: UUID | None
    index: queries.IndexView


def announce_files(
    *, caller: Caller, ref: str, files: Sequence[Announced], now: datetime
) -> Announcement:
    """Hold a project's files against its index, and let go what is gone.

    Raises InvalidInput pointing at each wrong path, RoleNotSufficient, NotFound.
    """
    queries.check_may_index(caller=caller)
    with tenancy.unit():
        find_project(caller=caller, ref=ref)  # before anything is looked through for nothing
    _check_files(files)
    _check_secrets(files)
    with tenancy.unit():
        project = find_project(caller=caller, ref=ref)
        root = queries.hold_root(project=project)
        missing, gone, is_changed = _hold_against_index(project, files, now)
        run = new_id()
        revision = queries.revision(root=root) + int(is_changed)
        queries.put(root=root, run=str(run), revision=revision)
        details = {"files": len(files), "missing": len(missing), "gone": gone}
        job_id, view = _queue_edges(caller, root, "project.code_announced", details)
        if missing or is_changed:
            queries.announce(actor=caller, project=project, view=view)
        return Announcement(
            run=run,
            missing=tuple(missing),
            gone=gone,
            kept=len(files) - len(missing),
            job_id=job_id,
            index=view,
        )


def _queue_edges(
    caller: Caller, root: Node, act: str, details: Mapping[str, int]
) -> tuple[UUID | None, queries.IndexView]:
    """Queue the work on edges where it is to be done, and record what led to it. In a unit.

    Returns the job's id, None without one, and how far the index is then.
    """
    view, job_id = queries.index_of(project_id=root.project_id), None
    if not queries.is_resolved(root=root):  # files that come queue it sooner or again
        by = principal(caller=caller)
        job_id, view = queries.queue(by=by, project_id=root.project_id, view=view)
    audit.append(act, "project", str(root.project_id), caller=caller, details=details)
    return job_id, view


def _hold_against_index(
    project: Project, files: Sequence[Announced], now: datetime
) -> tuple[list[str], int, bool]:
    """Store what a manifest changes; return what has to come, how many went, whether any did."""
    stored = queries.files_of(project_id=project.id).order_by("id")
    columns = stored.values_list("qualified", "id", "hash", "wanted")
    known = {path: (id, read, wanted) for path, id, read, wanted in columns}
    new: list[Node] = []
    changed: list[dict[str, Any]] = []
    back: list[int] = []  # whose text was waited for, and which are again what was read
    missing: list[str] = []
    for file in files:
        node, read, wanted = known.pop(file.path, (None, "", ""))
        if node is not None and read == file.hash:
            back += [node] if wanted else []
            continue
        missing.append(file.path)
        if node is not None and wanted != file.hash:
            changed.append({"node": node, "hash": file.hash, "size": file.size})
        elif node is None:
            new.append(_new_file(project, file, now))
    gone = [node for node, *_ in known.values()]
    statements.drop_files(files=gone, now=now)
    statements.want(rows=changed, now=now)
    statements.take_back(files=back)
    bulk_insert.insert_rows(rows=new)
    return missing, len(gone), any((new, changed, back, gone))


def _new_file(project: Project, file: Announced, now: datetime) -> Node:
    return Node(
        project=project,
        kind=values.NodeKind.FILE,
        label=file.path.rpartition("/")[2][-values.LONGEST_LABEL :],
        qualified=file.path,
        language=language_of(path=file.path) or "",
        wanted=file.hash,
        size=file.size,
        stale_at=now,
        **OF_CODE,
    )


def _check_files(files: Sequence[Announced]) -> None:
    """Raise InvalidInput where a path or a hash is none, naming each that is, up to a bound."""
    counts = Counter(file.path for file in files)
    faults: list[FieldError] = []
    for number, file in enumerate(files):
        detail = _fault_of_path(file.path)
        if not detail and counts[file.path] > 1:
            detail = "The path stands there twice."
        if detail:
            faults.append(FieldError(pointer=f"/files/{number}/path", detail=detail, code="path"))
        elif not _HASH.fullmatch(file.hash):
            detail = "Write the SHA-256 of the file in small hexadecimal digits."
            faults.append(FieldError(pointer=f"/files/{number}/hash", detail=detail, code="hash"))
    _refuse(
        faults, "Leave the files out that `errors` points at, or rename them, and send it again."
    )


def _fault_of_path(path: str) -> str:
    """Say why a text is no path of a file below a folder; nothing when it is one."""
    if len(path) > values.LONGEST_PATH:
        return "A path has at most 400 characters."
    if path.startswith("/") or path[1:3] in {":/", ":\\"}:
        return "The path is absolute; name it from the project's folder."
    if "\\" in path:
        return "Separate folders by a slash, not by a backslash."
    if not _CONTROLS.isdisjoint(path):
        return "The path holds control characters."
    if any(part in {"", ".", ".."} for part in path.split("/")):
        return "The path has an empty part, a dot or two dots for a folder."
    return ""


def _check_secrets(files: Sequence[Announced]) -> None:
    """Raise InvalidInput naming all paths that hold a secret, up to a bound.

    Paths are looked at one by one only where a portion holds one.
    """
    faults: list[FieldError] = []
    for start in range(0, len(files), PATHS_AT_ONCE):
        paths = [file.path for file in files[start : start + PATHS_AT_ONCE]]
        if not _is_secret("\n".join(paths)):
            continue
        try:
            free_texts.check(
                texts={f"/files/{start + n}/path": path for n, path in enumerate(paths)}
            )
        except InvalidInput as error:
            faults += error.errors
    _refuse(faults, free_texts.HINT)


def _is_secret(text: str) -> bool:
    return free_texts.masked(text=text) != text


def _refuse(faults: Sequence[FieldError], hint: str) -> None:
    """Raise InvalidInput for faults, if there are any; of very many it names the first."""
    if not faults:
        return
    detail = faults[0].detail
    if len(faults) > MOST_FAULTS:
        detail = message(
            "{count} files are refused; `errors` points at the first {most}.",
            count=len(faults),
            most=MOST_FAULTS,
        )
    raise InvalidInput(detail=detail, hint=hint, errors=tuple(faults[:MOST_FAULTS]))


def take_files(
    *, caller: Caller, ref: str, run: UUID, files: Sequence[Sent], now: datetime
) -> Taken:
    """Read files that the newest manifest announced; work on edges follows unless all are resolved.

    Raises TooLarge, ManifestMismatch pointing at the file, IndexRunning where another manifest has
    come since, RateLimited where as many calls of the organization are read as may be at a time,
    RoleNotSufficient, NotFound.
    """
    queries.check_may_index(caller=caller)
    _check_contents(files)
    with parser_process.READING.hold():
        with tenancy.unit():
            wanted = _find_wanted(find_project(caller=caller, ref=ref), run, files)
        tenancy.let_go()
        asked = {one.path: one for one in files if one.path in wanted}
        read = _parse(asked.values())
        with tenancy.unit():
            project = find_project(caller=caller, ref=ref)
            root = queries.hold_root(project=project)
            nodes = _find_wanted(project, run, files)
            stored = {path: found for path, found in read.items() if path in nodes}
            _store(nodes, asked, stored, now)
            queries.put(root=root, revision=queries.revision(root=root) + bool(stored))
            refused = tuple(one for one in stored.values() if isinstance(one, values.Refused))
            details = {"files": len(stored), "refused": len(refused)}
            job_id, view = _queue_edges(caller, root, "project.code_received", details)
            if stored:
                queries.announce(actor=caller, project=project, view=view)
    waiting = tuple(path for path in asked if path not in read)
    return Taken(
        indexed=len(stored) - len(refused),
        known=len(files) - len(stored) - len(waiting),
        refused=refused,
        waiting=waiting,
        job_id=job_id,
        index=view,
    )


def _check_contents(files: Sequence[Sent]) -> None:
    """Check each file by itself. Raises TooLarge, ManifestMismatch."""
    for number, file in enumerate(files):
        if len(file.content) > values.LARGEST_FILE:
            raise TooLarge(
                detail="A file has at most 1,048,576 bytes.",
                hint="Leave it out of the manifest.",
                errors=(_fault(number, "text", "The file is too large."),),
            )
        if hashlib.sha256(file.content).hexdigest() != file.hash:
            raise _mismatch(number, "hash", "This is not the SHA-256 of what came.")


def _find_wanted(project: Project, run: UUID, files: Sequence[Sent]) -> dict[str, Node]:
    """Return the nodes of the files that are still waited for; what is known is no fault.

    Raises IndexRunning, ManifestMismatch.
    """
    root = queries.root_of(project_id=project.id)
    if root is None or root.stored_details.get("run") != str(run):
        detail = "This is not the newest run."
        raise IndexRunning(
            detail="Another manifest of this project has come since.",
            hint="Somebody else indexes it as well. Send your manifest again: `cairn index`.",
            errors=(FieldError(pointer="/run", detail=detail, code="index_running"),),
        )
    stored = queries.files_of(project_id=project.id).defer("details")
    nodes = {row.qualified: row for row in stored.filter(qualified__in=[f.path for f in files])}
    for number, file in enumerate(files):
        node = nodes.get(file.path)
        if node is None:
            raise _mismatch(number, "path", "The manifest does not name this file.")
        if file.hash != node.expected:
            raise _mismatch(number, "hash", "The manifest says another hash.")
    return {path: node for path, node in nodes.items() if node.wanted}


def _fault(number: int, name: str, detail: str) -> FieldError:
    return FieldError(pointer=f"/files/{number}/{name}", detail=detail, code="mismatch")


def _mismatch(number: int, name: str, detail: str) -> ManifestMismatch:
    return ManifestMismatch(
        detail=detail,
        hint="Send the manifest again with the files as they are now, then what is missing.",
        errors=(_fault(number, name, detail),),
    )


def _parse(files: Iterable[Sent]) -> dict[str, values.Parsed | values.Refused]:
    """Read files in their order, by path, as many as it is the turn of in time."""
    until = time.monotonic() + SECONDS
    read: dict[str, values.Parsed | values.Refused] = {}
    with suppress(parser_process.Busy):
        for one in files:
            if b"\0" in one.content:
                read[one.path] = values.Refused(path=one.path, reason=BINARY)
                continue
            found = parser_process.PARSER.parse(path=one.path, content=one.content, until=until)
            if isinstance(found, values.Parsed):
                found = values.without_secrets(parsed=found, is_secret=_is_secret)
            read[one.path] = found
    return read


def _store(
    nodes: Mapping[str, Node],
    asked: Mapping[str, Sent],
    read: Mapping[str, values.Parsed | values.Refused],
    now: datetime,
) -> None:
    """Put what files define in the place of what they defined."""
    before: dict[int, dict[str, int]] = {nodes[path].id: {} for path in read}
    known = Node.objects.filter(file__in=list(before)).values_list("file_id", "qualified", "id")
    for file_id, qualified, id in known.order_by("id"):
        before[file_id or 0][qualified] = id
    new: list[Node] = []
    moved: list[dict[str, Any]] = []
    for path, found in read.items():
        node = nodes[path]
        _keep(node, asked[path], found, now)
        for symbol in found.symbols if isinstance(found, values.Parsed) else ():
            columns = {
                "kind": symbol.kind,
                "label": symbol.name,
                "language": node.language,
                "first_line": symbol.first_line,
                "last_line": symbol.last_line,
            }
            if symbol.qualified in before[node.id]:
                moved.append({"id": before[node.id].pop(symbol.qualified), **columns})
            else:
                named = {"project_id": node.project_id, "qualified": symbol.qualified}
                new.append(Node(file=node, **named, **columns, **OF_CODE))
    statements.make_stale(files=before, now=now)
    statements.drop_nodes(nodes=[id for gone in before.values() for id in gone.values()], now=now)
    statements.run(statements.MOVE, rows=moved)
    bulk_insert.insert_rows(rows=new)


def _keep(node: Node, sent: Sent, found: values.Parsed | values.Refused, now: datetime) -> None:
    """Put down of a file what was read of it, and that its edges are to be made anew."""
    node.hash, node.wanted, node.size = sent.hash, "", len(sent.content)
    node.indexed_at = node.stale_at = now
    if isinstance(found, values.Refused):
        node.language, node.confidence = language_of(path=sent.path) or "", queries.REFUSED
        node.last_line, node.details = None, {"refused": found.reason}
    else:
        node.language = found.language or ""
        node.confidence, node.first_line, node.last_line = 1.0, 1, found.lines
        node.details = values.as_json(parsed=found)
    node.save()


# Edges.


@dataclass(frozen=True, slots=True, kw_only=True)
class _Code:
    """The files of a project as they were read, the node of each place, and of which revision."""

    revision: int
    files: Mapping[str, values.Parsed]
    nodes: Mapping[values.Place, int]


def resolve_code(
    *, project_id: UUID, now: datetime, tell: Callable[[int, int], None]
) -> dict[str, int]:
    """Make the edges of a project anew; return counts. `tell` hears of two steps done, of three."""
    with tenancy.unit():
        read = _read(project_id)
    if read is None:
        return {"edges": 0}
    tell(1, 3)
    with tenancy.unit():  # before the work, because reading takes long too
        if _is_outdated(project_id, queries.root_of(project_id=project_id), read):
            return OUTDATED
    edges = _find_edges(read)
    tell(2, 3)
    with tenancy.unit():
        project = Project.objects.get(pk=project_id)
        root = queries.hold_root(project=project)
        if _is_outdated(project_id, root, read):
            return OUTDATED
        written = _write(project, edges)
        queries.files_of(project_id=project_id).filter(wanted="").update(stale_at=None)
        figures = {
            "symbols": Node.objects.filter(project=project, file__isnull=False).count(),
            "edges": len(edges),
            "unresolved": sum(key[2] is None for key in edges),
        }
        root.indexed_at = now
        root.save(update_fields=["indexed_at"])
        queries.put(root=root, figures=figures, resolved=read.revision)
        view = queries.index_of(project_id=project_id)
        queries.announce(actor=ACTOR, project=project, view=view)
        return {"edges": len(edges), **written}


def _is_outdated(project_id: UUID, root: Node | None, read: _Code) -> bool:
    """Say whether files came or went since they were read; then the work is queued anew."""
    if root is not None and queries.revision(root=root) == read.revision:
        return False
    view = queries.index_of(project_id=project_id)
    queries.queue(by=None, project_id=project_id, view=view)
    return True


def _read(project_id: UUID) -> _Code | None:
    """Read a project's files from one moment; None where their edges are made. In a unit."""
    root = queries.root_of(project_id=project_id)
    if root is None or queries.is_resolved(root=root):
        return None
    defined: dict[int, dict[int, values.Symbol]] = defaultdict(dict)
    rows = Node.objects.filter(project_id=project_id, file__isnull=False).order_by("id")
    for row in rows.iterator(ROWS_AT_ONCE):
        defined[row.file_id or 0][row.id] = queries.symbol_of(row)
    files: dict[str, values.Parsed] = {}
    nodes: dict[values.Place, int] = {}
    left = MOST_REFERENCES
    stored = queries.files_of(project_id=project_id).exclude(hash="").order_by("id")
    for file in stored.iterator(ROWS_AT_ONCE):
        path, symbols = file.qualified, defined.pop(file.id, {})
        nodes[values.Place(path=path)] = file.id
        for node, symbol in symbols.items():
            nodes[values.Place(path=path, qualified=symbol.qualified)] = node
        files[path] = values.read_json(
            language=file.language,
            lines=file.last_line or 0,
            kept=file.stored_details,
            symbols=symbols.values(),
            is_changed=bool(file.wanted),
        )
        left -= len(files[path].references)
        if left < 0:
            raise jobs.PermanentFailure(
                message(
                    "The files of the project name each other more than {most} times, which is "
                    "more than an index holds. Leave some of them out.",
                    most=MOST_REFERENCES,
                )
            )
    return _Code(revision=queries.revision(root=root), files=files, nodes=nodes)


def _find_edges(read: _Code) -> dict[Key, Worth]:
    """Return edges between nodes."""
    edges: dict[Key, Worth] = {}
    for edge in resolve.resolve(files=read.files):
        to = None if edge.target is None else read.nodes[edge.target]
        key = (read.nodes[edge.source], edge.type, to, edge.text)
        edges[key] = (edge.weight, edge.confidence)
    return edges


def _write(project: Project, edges: Mapping[Key, Worth]) -> dict[str, int]:
    """Store what is other than before; what stands as it is, is fresh."""
    left = dict(edges)
    gone: list[int] = []
    changed: list[dict[str, Any]] = []
    stored = Edge.objects.filter(project=project, **OF_CODE).order_by("id")
    for row in stored.iterator(ROWS_AT_ONCE):
        now = left.pop((row.from_node_id, row.type, row.to_node_id, row.to_text), None)
        if now is None:
            gone.append(row.id)
        elif now != (row.weight, row.confidence) or row.stale_at is not None:
            changed.append({"id": row.id, "weight": now[0], "confidence": now[1]})
    statements.run(statements.DROP_THESE_EDGES, edges=gone)
    for start in range(0, len(changed), ROWS_AT_ONCE):  # each portion is sent as one text
        statements.run(statements.WEIGH, rows=changed[start : start + ROWS_AT_ONCE])
    new = (
        Edge(
            project=project,
            from_node_id=source,
            to_node_id=target,
            to_text=text,
            type=edge_type,
            weight=weight,
            confidence=confidence,
            **OF_CODE,
        )
        for (source, edge_type, target, text), (weight, confidence) in left.items()
    )
    while some := tuple(islice(new, ROWS_AT_ONCE)):
        bulk_insert.insert_rows(rows=some)
    return {"new": len(left), "changed": len(changed), "gone": len(gone)}
