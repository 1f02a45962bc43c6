"""Say which files a project has: what of them must be sent, and what of it is gone (spec 5.2).

A manifest is whole. What it does not name goes at once, what is other than it was is stale at once,
and is known again when its text has come and its edges are made anew. The newest manifest counts:
files of an older one are not taken any more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.backend import free_texts, rows
from accounts.caller import Caller
from accounts.errors import FieldError, InvalidInput
from accounts.identifiers import new_id
from graph.actions import code_root
from graph.code import manifest
from graph.code.languages import language_of
from graph.code.manifest import Announced, Difference, Known
from graph.models import LONGEST_LABEL, Node
from graph.queries import code_index
from graph.queries.code_index import IndexView
from graph.sql import code
from graph.vocabulary import Layer, NodeKind, NodeSource
from teams import audit
from teams.models import Project
from teams.queries import find_project

AT_ONCE: Final = 500  # paths that are looked through for secrets together
MOST_FAULTS: Final = 100  # that a refusal names


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """What became of a manifest: the files that have to come, how many went, how many stayed."""

    run: UUID
    missing: tuple[str, ...]
    gone: int
    kept: int
    job_id: UUID | None
    view: IndexView


def announce_files(
    *, caller: Caller, ref: str, files: Sequence[Announced], now: datetime
) -> Announcement:
    """Hold a project's files against its index, and let go what is gone.

    Raises InvalidInput pointing at each wrong path, RoleNotSufficient, NotFound.
    """
    code_root.check_may_index(caller=caller)
    with tenancy.unit():
        find_project(caller=caller, ref=ref)  # before anything is looked through for nothing
    _check(files)
    with tenancy.unit():
        project = find_project(caller=caller, ref=ref)
        root = code_root.hold_root(project=project)
        found = manifest.compare(announced=files, known=_known(project.id))
        _put(project, found, now)
        run = new_id()
        changed = bool(found.new or found.changed or found.back or found.gone)
        code_root.put(
            root=root, run=str(run), revision=code_root.revision(root=root) + int(changed)
        )
        view = code_index.index_of(project_id=project.id)
        job_id = _queued(caller, project, view, bool(found.gone))
        _tell(caller, project, found, view)
        return Announcement(
            run=run,
            missing=found.missing,
            gone=len(found.gone),
            kept=found.kept,
            job_id=job_id,
            view=view,
        )


def _check(files: Sequence[Announced]) -> None:
    """Raise InvalidInput where a path or a hash is none, naming each that is, up to a bound."""
    twice = manifest.repeated(paths=(file.path for file in files))
    faults = [fault for n, file in enumerate(files) for fault in _faults(n, file, twice)]
    if faults:
        raise InvalidInput(
            detail=faults[0].detail,
            hint="Leave the files out that `errors` points at, or rename them, and send it again.",
            errors=tuple(faults[:MOST_FAULTS]),
        )
    _check_secrets(files)


def _faults(number: int, file: Announced, twice: frozenset[str]) -> list[FieldError]:
    said = manifest.fault_of_path(path=file.path)
    if not said and file.path in twice:
        said = "The path stands there twice."
    if said:
        return [FieldError(pointer=f"/files/{number}/path", detail=said, code="path")]
    if not manifest.is_hash(text=file.hash):
        detail = "Write the SHA-256 of the file in small hexadecimal digits."
        return [FieldError(pointer=f"/files/{number}/hash", detail=detail, code="hash")]
    return []


def _check_secrets(files: Sequence[Announced]) -> None:
    """Raise InvalidInput where a path holds a secret; most manifests are looked through at once."""
    for start in range(0, len(files), AT_ONCE):
        portion = files[start : start + AT_ONCE]
        joined = "\n".join(file.path for file in portion)
        if free_texts.shown(text=joined) != joined:
            pointers = (f"/files/{start + n}/path" for n in range(len(portion)))
            paths = (file.path for file in portion)
            free_texts.check(texts=dict(zip(pointers, paths, strict=True)))


def _known(project_id: UUID) -> dict[str, Known]:
    stored = code_index.files_of(project_id=project_id).order_by("id")
    return {
        path: Known(node=node, hash=digest, wanted=wanted)
        for path, node, digest, wanted in stored.values_list("qualified", "id", "hash", "wanted")
    }


def _put(project: Project, found: Difference, now: datetime) -> None:
    if found.gone:
        code.drop_files(files=found.gone, now=now)
    if found.changed:
        code.want(changed=found.changed, now=now)
    if found.back:
        code.take_back(files=found.back)
    rows.insert_all(rows=[_node(project, file, now) for file in found.new])


def _node(project: Project, file: Announced, now: datetime) -> Node:
    return Node(
        project=project,
        kind=NodeKind.FILE,
        label=file.path.rpartition("/")[2][-LONGEST_LABEL:],
        qualified=file.path,
        language=language_of(path=file.path) or "",
        layer=Layer.STRUCTURAL,
        source=NodeSource.AST,
        wanted=file.hash,
        size=file.size,
        stale_at=now,
    )


def _queued(caller: Caller, project: Project, view: IndexView, is_less: bool) -> UUID | None:
    """Queue the work on edges where no file has to come first that would queue it."""
    is_whole = view.files_done == view.files_total
    waits = view.state is code_index.State.RESOLVING or is_less
    if not (is_whole and waits):
        return None
    return code_root.queue(caller=caller, project_id=project.id, view=view)


def _tell(caller: Caller, project: Project, found: Difference, view: IndexView) -> None:
    audit.append(
        act="project.code_announced",
        object_type="project",
        object_id=str(project.id),
        caller=caller,
        details={
            "files": view.files_total,
            "missing": len(found.missing),
            "gone": len(found.gone),
        },
    )
    if found.missing or found.gone or found.back:
        code_root.tell(actor=caller, project=project, view=view)
