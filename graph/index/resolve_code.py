"""Make the edges of a project's code anew, from what its files define and name.

Read in one unit, thought about in none, written in another under the lock of the index: only what
is other than before is written. When files came or went meanwhile, nothing is, and the work is
queued anew. So it may die anywhere, and the next run does it all.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, Final
from uuid import UUID

from accounts import bulk_insert, jobs, tenancy
from accounts.audit import Person
from accounts.messages import message
from graph.code import cache_format
from graph.code.resolve import resolve
from graph.code.values import Edge as Found
from graph.code.values import Parsed, Place, Symbol
from graph.index import queries, statements
from graph.index.queries import files_of, index_of, root_of
from graph.models import LONGEST_LABEL, Edge, Node
from graph.vocabulary import Layer, NodeKind, NodeSource
from teams.models import Project

# Defaults, not measured.
MOST_REFERENCES: Final = 2_000_000  # of a project, held at once, some hundred bytes each
AT_ONCE: Final = 5_000  # rows read or written together
OUTDATED: Final = {"outdated": 1}
ACTOR: Final = Person(user_id=None, source_interface="installation")

Key = tuple[int, str, int | None, str]  # from, type, to, text
Worth = tuple[float, float]  # weight, confidence


@dataclass(frozen=True, slots=True, kw_only=True)
class _Code:
    """The files of a project as they were read, the node of each place, and of which revision."""

    revision: int
    files: Mapping[str, Parsed]
    nodes: Mapping[Place, int]


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
        if _is_outdated(project_id, root_of(project_id=project_id), read):
            return OUTDATED
    edges = _keyed(resolve(files=read.files), read.nodes)
    tell(2, 3)
    with tenancy.unit():
        project = Project.objects.get(pk=project_id)
        root = queries.hold_root(project=project)
        if _is_outdated(project_id, root, read):
            return OUTDATED
        written = _write(project, edges)
        files_of(project_id=project_id).filter(wanted="").update(stale_at=None)
        figures = {
            "symbols": Node.objects.filter(project=project, file__isnull=False).count(),
            "edges": len(edges),
            "unresolved": sum(key[2] is None for key in edges),
        }
        root.indexed_at = now
        root.save(update_fields=["indexed_at"])
        queries.put(root=root, figures=figures, resolved=read.revision)
        view = index_of(project_id=project_id)
        queries.announce(actor=ACTOR, project=project, view=view)
        return {"edges": len(edges), **written}


def _is_outdated(project_id: UUID, root: Node | None, read: _Code) -> bool:
    """Say whether files came or went since they were read; then the work is queued anew."""
    if root is not None and queries.revision(root=root) == read.revision:
        return False
    view = index_of(project_id=project_id)
    queries.queue(by=None, project_id=project_id, view=view)
    return True


def _read(project_id: UUID) -> _Code | None:
    """Read a project's files from one moment; None where their edges are made. In a unit."""
    root = root_of(project_id=project_id)
    if root is None or queries.is_resolved(root=root):
        return None
    by_file = _symbols(project_id)
    files: dict[str, Parsed] = {}
    nodes: dict[Place, int] = {}
    left = MOST_REFERENCES
    stored = files_of(project_id=project_id).exclude(hash="").order_by("id")
    columns = ("id", "qualified", "language", "last_line", "wanted", "details")
    for id, path, language, lines, wanted, told in stored.values_list(*columns).iterator(AT_ONCE):
        symbols = by_file.pop(id, [])
        nodes[Place(path=path)] = id
        nodes.update((Place(path=path, qualified=one.qualified), node) for node, one in symbols)
        kept = told or {}
        if wanted:  # it has changed: no more than what it may define still
            kept = {"parents": kept.get("parents", {})}
        defined = (one for _, one in symbols)
        files[path] = cache_format.read(
            language=language, lines=lines or 0, kept=kept, symbols=defined
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


def _symbols(project_id: UUID) -> dict[int, list[tuple[int, Symbol]]]:
    """Return what files define, by their nodes, with the nodes of it."""
    found: dict[int, list[tuple[int, Symbol]]] = defaultdict(list)
    stored = Node.objects.filter(project_id=project_id, file__isnull=False).order_by("id")
    columns = ("id", "file_id", "kind", "label", "qualified", "first_line", "last_line")
    for id, file, kind, label, qualified, first, last in stored.values_list(*columns).iterator(
        AT_ONCE
    ):
        symbol = Symbol(
            kind=NodeKind(kind),
            name=label,
            qualified=qualified,
            first_line=first or 0,
            last_line=last or 0,
        )
        found[file or 0].append((id, symbol))
    return found


def _keyed(found: Iterable[Found], nodes: Mapping[Place, int]) -> dict[Key, Worth]:
    """Return edges between nodes; those that say the same of the same are one."""
    edges: dict[Key, Worth] = {}
    for edge in found:
        to = None if edge.target is None else nodes[edge.target]
        text = edge.text[:LONGEST_LABEL] if to is None else ""
        key = (nodes[edge.source], edge.type, to, text)
        weight, confidence = edges.get(key, (0.0, 0.0))
        edges[key] = (weight + edge.weight, max(confidence, edge.confidence))
    return edges


def _write(project: Project, edges: Mapping[Key, Worth]) -> dict[str, int]:
    """Store what is other than before; what stands as it is, is fresh."""
    left = dict(edges)
    gone: list[int] = []
    changed: list[dict[str, Any]] = []
    stored = Edge.objects.filter(
        project=project, layer=Layer.STRUCTURAL, source=NodeSource.AST
    ).order_by("id")
    fields = ("id", "from_node_id", "type", "to_node_id", "to_text")
    for id, *key, weight, confidence, stale_at in stored.values_list(
        *fields, "weight", "confidence", "stale_at"
    ).iterator(AT_ONCE):
        now = left.pop((key[0], key[1], key[2], key[3]), None)
        if now is None:
            gone.append(id)
        elif now != (weight, confidence) or stale_at is not None:
            changed.append({"id": id, "weight": now[0], "confidence": now[1]})
    statements.drop_edges(edges=gone)
    for start in range(0, len(changed), AT_ONCE):  # each portion is sent as one text
        statements.weigh(rows=changed[start : start + AT_ONCE])
    new = iter(left.items())
    while some := tuple(islice(new, AT_ONCE)):
        bulk_insert.insert_rows(
            rows=[
                Edge(
                    project=project,
                    from_node_id=source,
                    to_node_id=target,
                    to_text=text,
                    layer=Layer.STRUCTURAL,
                    type=edge_type,
                    weight=weight,
                    confidence=confidence,
                    source=NodeSource.AST,
                )
                for (source, edge_type, target, text), (weight, confidence) in some
            ]
        )
    return {"new": len(left), "changed": len(changed), "gone": len(gone)}
