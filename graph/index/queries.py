"""The index of a project's code: how far it is, its files, what each defines.

Code is seen by whoever sees its project, so every read begins with finding that.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from accounts import jobs, tenancy
from accounts.audit import Actor
from accounts.caller import Caller, TokenScope
from accounts.errors import NotFound, RoleNotSufficient, wrong_field
from accounts.identifiers import as_uuid
from accounts.messages import message
from graph.code.values import Layer, NodeKind, NodeSource, Refused, Symbol
from graph.models import Node
from teams import changes
from teams import queries as places
from teams.models import Project

FILES: Final = Q(kind=NodeKind.FILE, file=None)
JOB: Final = "graph.resolve"
REFUSED: Final = 0.0  # how sure it is what a file defines that could not be read
MOST_REFUSED_SHOWN: Final = 100
LATEST_SECONDS: Final = 600  # after the first, however long files keep coming; a default
LATER_SECONDS: Final = 30  # after the last file that came where some are missing; a default


class State(StrEnum):
    """How far the index of a project is."""

    EMPTY = "empty"
    RECEIVING = "receiving"
    RESOLVING = "resolving"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexView:
    """The index of a project."""

    state: State
    reason: str  # why its edges could not be made, where that has failed
    run: UUID | None  # the newest manifest's, None before the first
    files_done: int
    files_total: int
    languages: Mapping[str, int]
    refused: tuple[Refused, ...]
    refused_total: int
    figures: Mapping[str, int]  # when edges were last made: symbols, edges, unresolved
    indexed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileView:
    """A file of the index; `state` says whether what is known of it is what the file is now."""

    path: str
    state: State
    language: str
    lines: int | None
    size: int | None
    symbols: int
    hash: str
    indexed_at: datetime | None


def code_index(*, caller: Caller, ref: str) -> IndexView:
    """Return how far the index of a project is. Raises NotFound."""
    with tenancy.unit():
        return index_of(project_id=places.find_project(caller=caller, ref=ref).id)


def index_of(*, project_id: UUID) -> IndexView:
    """Return how far the index of a project is that the caller was found to see. In a unit."""
    files = files_of(project_id=project_id)
    missing, stale = ~Q(wanted=""), Q(stale_at__isnull=False)
    is_refused = Q(wanted="", confidence=REFUSED)
    counted = tuple(
        files.order_by("language")
        .values_list("language")
        .annotate(
            all_files=Count("id"),
            missing_files=Count("id", filter=missing),
            stale_files=Count("id", filter=stale & ~missing),
            refused_files=Count("id", filter=is_refused),
        )
    )
    total, wanted, waiting, refused = (sum(row[n] for row in counted) for n in range(1, 5))
    about = root_of(project_id=project_id) or Node()
    state = _state(total=total, wanted=wanted, waiting=waiting)
    reason = ""
    if state is State.RESOLVING:  # why the work on edges ended without them, if it did
        reason = jobs.failure(name=JOB, keys=(project_id.hex, later_key(project_id=project_id)))
    return IndexView(
        state=State.FAILED if reason else state,
        reason=reason,
        run=as_uuid(text=str(about.stored_details.get("run", ""))),
        files_done=total - wanted,
        files_total=total,
        languages={row[0]: row[1] for row in counted if row[0]},
        refused=_refused(files.filter(is_refused)) if refused else (),
        refused_total=refused,
        figures=about.stored_details.get("figures", {}),
        indexed_at=about.indexed_at,
    )


def files(
    *, caller: Caller, ref: str, after: int | None, limit: int
) -> tuple[tuple[FileView, ...], int | None]:
    """Return a page of the files of a project, by path, and after which node the next begins.

    None after the last. Raises NotFound, InvalidInput where the file that the page before ended
    with is gone.
    """
    with tenancy.unit():
        rows = files_of(project_id=places.find_project(caller=caller, ref=ref).id)
        if after is not None:
            last = rows.filter(id=after).values_list("qualified", flat=True).first()
            if last is None:
                raise wrong_field(
                    pointer="/cursor",
                    detail="The file is gone at which the page before ended.",
                    hint="Begin again without a cursor.",
                    code="cursor",
                )
            rows = rows.filter(qualified__gt=last)
        found = tuple(rows.defer("details").order_by("qualified", "id")[: limit + 1])
        shown = found[:limit]
        counted = dict(
            Node.objects.filter(file__in=[row.id for row in shown], stale_at=None)
            .order_by("file_id").values_list("file_id").annotate(Count("id"))
        )  # fmt: skip
    items = tuple(_file_view(row, counted.get(row.id, 0)) for row in shown)
    return items, shown[-1].id if len(found) > limit else None


def symbols(*, caller: Caller, ref: str, path: str) -> tuple[FileView, tuple[Symbol, ...]]:
    """Return a file and what it defines, by line. Raises NotFound, also for an unknown file."""
    with tenancy.unit():
        rows = files_of(project_id=places.find_project(caller=caller, ref=ref).id)
        row = rows.filter(qualified=path).defer("details").first()
        if row is None:
            raise NotFound(
                detail=message("The index has no file {path!r}.", path=path),
                hint="GET /api/v1/projects/{project}/files lists them; `cairn index` sends them.",
            )
        found = tuple(row.symbols.filter(stale_at=None).order_by("first_line", "id"))
    return _file_view(row, len(found)), tuple(map(symbol_of, found))


def symbol_of(row: Node) -> Symbol:
    """Return what a file defines as it was read, but for what it stands in."""
    return Symbol(
        kind=NodeKind(row.kind),
        name=row.label,
        qualified=row.qualified,
        first_line=row.first_line or 0,
        last_line=row.last_line or 0,
    )


def files_of(*, project_id: UUID) -> QuerySet[Node]:
    """Return the nodes of a project's files."""
    return Node.objects.filter(FILES, project_id=project_id)


def root_of(*, project_id: UUID) -> Node | None:
    """Return the node of a project's code as a whole; None before the first manifest."""
    return Node.objects.filter(project_id=project_id, kind=NodeKind.REPOSITORY, file=None).first()


def _state(*, total: int, wanted: int, waiting: int) -> State:
    if not total:
        return State.EMPTY
    if wanted:
        return State.RECEIVING
    return State.RESOLVING if waiting else State.DONE


def later_key(*, project_id: UUID) -> str:
    """Return the key of the work on edges that waits for files that may come."""
    return f"{project_id.hex}:later"


def _refused(rows: QuerySet[Node]) -> tuple[Refused, ...]:
    shown = rows.order_by("qualified", "id").values_list("qualified", "details")
    return tuple(
        Refused(path=path, reason=str((details or {}).get("refused", "")))
        for path, details in shown[:MOST_REFUSED_SHOWN]
    )


def _file_view(row: Node, count: int) -> FileView:
    return FileView(
        path=row.qualified,
        state=_state(total=1, wanted=bool(row.wanted), waiting=row.stale_at is not None),
        language=row.language,
        lines=row.last_line,
        size=row.size,
        symbols=count,
        hash=row.hash,
        indexed_at=row.indexed_at,
    )


# The node of a project's code as a whole, which whoever writes its index holds.


def check_may_index(*, caller: Caller) -> None:
    """Return when the caller may send code. Raises RoleNotSufficient."""
    if TokenScope.INDEX not in caller.scopes:
        scope = TokenScope.INDEX
        raise RoleNotSufficient(
            detail=message("This credential has no {scope} scope.", scope=scope),
            hint=message("Create a token with the {scope} scope.", scope=scope),
        )


def hold_root(*, project: Project) -> Node:
    """Return the node of a project's code, made where it lacks, locked until the unit ends."""
    wanted = {"project": project, "kind": NodeKind.REPOSITORY, "qualified": "", "file": None}
    Node.objects.get_or_create(
        **wanted,
        defaults={"label": project.slug, "layer": Layer.STRUCTURAL, "source": NodeSource.AST},
    )
    return Node.objects.select_for_update(no_key=True).get(**wanted)


def put(*, root: Node, **details: Any) -> None:
    """Keep something about the index as a whole."""
    root.details = root.stored_details | details
    root.save(update_fields=["details"])


def revision(*, root: Node) -> int:
    """Return how often the files of an index have changed."""
    return int(root.stored_details.get("revision", 0))


def is_resolved(*, root: Node) -> bool:
    """Say whether the edges are made of the files as they are."""
    return bool(root.stored_details.get("resolved", 0) == revision(root=root))


def queue(*, by: UUID | None, project_id: UUID, view: IndexView) -> tuple[UUID | None, IndexView]:
    """Queue the work on edges: at once when all files are there, else a while after the last.

    Returns the job's id, None when one that waits will do it, and how far the index is then.
    """
    later = view.files_done < view.files_total
    key = later_key(project_id=project_id) if later else project_id.hex
    job_id = jobs.enqueue(
        JOB,
        payload={"key": str(project_id)},
        key=key,
        delay_seconds=LATER_SECONDS if later else 0,
        created_by=by,
    )
    if later and job_id is None:
        jobs.put_off(name=JOB, key=key, delay_seconds=LATER_SECONDS, longest_seconds=LATEST_SECONDS)
    if job_id and view.state is State.FAILED:  # it is tried again
        view = index_of(project_id=project_id)
    return job_id, view


def announce(*, actor: Actor, project: Project, view: IndexView) -> None:
    """Say in the feed of changes how far the index of a project is."""
    changes.append(
        kind="index.progress",
        object_id=project.id,
        project_id=project.id,
        audience=project.id,
        caller=actor,
        summary={
            "slug": project.slug,
            "name": project.name,
            "state": view.state.value,
            "done": view.files_done,
            "total": view.files_total,
        },
    )
