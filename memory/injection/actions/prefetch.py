"""Which files to have at hand when work on some modules begins.

The plan rests on what sessions that the caller may see have read: the person's own, and those that
are shared with the project. A file whose size nobody knows is not in it.
"""

from collections.abc import Iterable
from typing import Final

from accounts.caller import Caller
from memory.injection import prefetch_rules
from memory.injection.prefetch_rules import Plan, Work
from memory.observer import statistics
from memory.observer.statistics import FileRow, ModuleRow
from memory.sessions import file_paths
from memory.sessions.models import Session
from memory.statistics import counters
from memory.statistics import queries as sums
from memory.statistics.counters import Kind
from memory.statistics.queries import Sums, Which
from memory.text.text import normalized
from teams import visibility

MODULES_MOST: Final = 5  # of a task, the first; ours


def modules_of(*, named: tuple[str, ...], files: tuple[str, ...]) -> tuple[str, ...]:
    """Return the modules of a task: those it names, then those of the files it works on."""
    clean = (one.strip().strip("/") for one in named)
    touched = (
        file_paths.module(path=path) for path in files if not file_paths.is_outside(path=path)
    )
    return tuple(dict.fromkeys(one for one in (*clean, *touched) if one))[:MODULES_MOST]


def plan(*, caller: Caller, row: Session, modules: tuple[str, ...]) -> Plan:
    """Plan the files of some modules in the project of a session. In a unit."""
    works = tuple(_work(caller, row, module) for module in modules)
    tokens = {
        file.path: cost
        for work in works
        for file in work.files
        if (cost := statistics.file_tokens(row=file)) is not None
    }
    return prefetch_rules.plan(works=works, tokens=tokens)


def told(*, plan: Plan) -> str:
    """Write a plan as text that stands before memories; empty for no file."""
    if not plan.files:
        return ""
    said = {True: "nearly every session", False: "most sessions"}
    lines = (
        f"- {normalized(text=one.path)} ({said[one.always]}, about {one.tokens} tokens)"
        for one in plan.files
    )
    return "\n".join(("Files that sessions on these modules read:", *lines)) + "\n"


def _work(caller: Caller, row: Session, module: str) -> Work:
    of_module = _read(caller, row, Kind.MODULE, keys=(counters.module_key(module=module),))
    of_files = _read(caller, row, Kind.FILE, under=f"{module}/")
    total = ModuleRow(module=module)
    for one in of_module:
        total = statistics.module_after(
            row=total, add=counters.module_row(counts=one.counts, notes=one.notes)
        )
    rows = (counters.file_row(counts=one.counts, notes=one.notes) for one in of_files)
    own = (one for one in rows if file_paths.module(path=one.path) == module)
    return Work(module=total, files=_added(own))


def _added(rows: Iterable[FileRow]) -> tuple[FileRow, ...]:
    """Add the rows of one file in several places."""
    by_path: dict[str, FileRow] = {}
    for row in rows:
        before = by_path.get(row.path, FileRow(path=row.path))
        by_path[row.path] = statistics.file_after(row=before, add=row)
    return tuple(by_path.values())


def _read(
    caller: Caller,
    row: Session,
    kind: Kind,
    *,
    keys: tuple[str, ...] | None = None,
    under: str | None = None,
) -> tuple[Sums, ...]:
    which = Which(
        kind=kind.value,
        visible=visibility.as_q(sight=visibility.sight_of(caller=caller)),
        project_id=row.project_id,
        keys=keys,
        under=under,
    )
    return sums.read(which=which)
