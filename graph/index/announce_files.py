"""Say which files a project has: what of them must be sent, and what of it is gone.

A manifest is whole. What it does not name goes at once, what is other than it was is stale at once,
and is known again when its text has come and its edges are made anew. The newest manifest counts:
files of an older one are not taken any more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts import bulk_insert, free_texts, tenancy
from accounts.caller import Caller, principal
from accounts.errors import FieldError, InvalidInput
from accounts.identifiers import new_id
from accounts.messages import message
from graph.code import manifest
from graph.code.languages import language_of
from graph.code.manifest import Announced, Known
from graph.index import queries, statements
from graph.index.queries import IndexView, files_of, index_of
from graph.models import LONGEST_LABEL, Node
from graph.vocabulary import Layer, NodeKind, NodeSource
from teams import audit
from teams.queries import find_project

AT_ONCE: Final = 500  # paths that are looked through for secrets together
MOST_FAULTS: Final = 1_000  # that a refusal names


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
    queries.check_may_index(caller=caller)
    with tenancy.unit():
        find_project(caller=caller, ref=ref)  # before anything is looked through for nothing
    _check_files(files)
    _check_secrets(files)
    with tenancy.unit():
        project = find_project(caller=caller, ref=ref)
        root = queries.hold_root(project=project)
        stored = files_of(project_id=project.id).order_by("id")
        columns = stored.values_list("qualified", "id", "hash", "wanted")
        known = {path: Known(node=id, hash=sha, wanted=want) for path, id, sha, want in columns}
        found = manifest.compare(announced=files, known=known)
        if found.gone:
            statements.drop_files(files=found.gone, now=now)
        if found.changed:
            statements.want(changed=found.changed, now=now)
        if found.back:
            statements.take_back(files=found.back)
        common = {"project": project, "layer": Layer.STRUCTURAL, "source": NodeSource.AST}
        bulk_insert.insert_rows(
            rows=[
                Node(
                    kind=NodeKind.FILE,
                    label=file.path.rpartition("/")[2][-LONGEST_LABEL:],
                    qualified=file.path,
                    language=language_of(path=file.path) or "",
                    wanted=file.hash,
                    size=file.size,
                    stale_at=now,
                    **common,
                )
                for file in found.new
            ]
        )
        run = new_id()
        changed = bool(found.new or found.changed or found.back or found.gone)
        revision = queries.revision(root=root) + int(changed)
        queries.put(root=root, run=str(run), revision=revision)
        view, job_id = index_of(project_id=project.id), None
        if not queries.is_resolved(root=root):  # files that come queue it sooner or again
            by = principal(caller=caller)
            job_id, view = queries.queue(by=by, project_id=project.id, view=view)
        gone, missing = len(found.gone), len(found.missing)
        details = {"files": view.files_total, "missing": missing, "gone": gone}
        audit.append(
            "project.code_announced", "project", str(project.id), caller=caller, details=details
        )
        if missing or gone or found.back:
            queries.announce(actor=caller, project=project, view=view)
        return Announcement(
            run=run, missing=found.missing, gone=gone, kept=found.kept, job_id=job_id, view=view
        )


def _check_files(files: Sequence[Announced]) -> None:
    """Raise InvalidInput where a path or a hash is none, naming each that is, up to a bound."""
    twice = manifest.repeated(paths=(file.path for file in files))
    faults: list[FieldError] = []
    for number, file in enumerate(files):
        detail = manifest.fault_of_path(path=file.path)
        if not detail and file.path in twice:
            detail = "The path stands there twice."
        if detail:
            faults.append(FieldError(pointer=f"/files/{number}/path", detail=detail, code="path"))
        elif not manifest.is_hash(text=file.hash):
            detail = "Write the SHA-256 of the file in small hexadecimal digits."
            faults.append(FieldError(pointer=f"/files/{number}/hash", detail=detail, code="hash"))
    _refuse(
        faults, "Leave the files out that `errors` points at, or rename them, and send it again."
    )


def _check_secrets(files: Sequence[Announced]) -> None:
    """Raise InvalidInput naming all paths that hold a secret, up to a bound.

    Paths are looked at one by one only where a portion holds one.
    """
    faults: list[FieldError] = []
    for start in range(0, len(files), AT_ONCE):
        paths = [file.path for file in files[start : start + AT_ONCE]]
        joined = "\n".join(paths)
        if free_texts.masked(text=joined) == joined:
            continue
        try:
            free_texts.check(
                texts={f"/files/{start + n}/path": path for n, path in enumerate(paths)}
            )
        except InvalidInput as error:
            faults += error.errors
    _refuse(faults, free_texts.HINT)


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
