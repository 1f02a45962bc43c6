"""The command that checks a plan or a diff before it is work: `cairn check`.

Made for people, for hooks of git and for CI: what stops ends with an exit code of its own, what
calls for caution, or was not all looked at, only with `--strict`. An empty diff has nothing to
check, and no server is asked.
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from .asking import Project
from .errors import STOPPED, Misused
from .terminal import Desk, shortened

LARGEST: Final = 4 * 1024 * 1024  # bytes that are read; the server takes a million characters
SHORT_ID: Final = 13  # characters of an id that people are shown
_FAILS: Final[Mapping[bool, frozenset[str]]] = {
    False: frozenset({"stop"}),
    True: frozenset({"stop", "caution"}),
}
_UNSEEN: Final = frozenset(  # work of which nothing or not all was looked at passes nothing
    {"paused", "steps_left_out", "not_all_parts", "not_all_searched", "not_all_files"}
)
_SAYS: Final[Mapping[str, str]] = {
    "tried_before": "was tried and did not work",
    "tried_in_part": "was tried in part and did not work",
    "decided_against": "was decided against",
    "takes_away": "takes away what was decided",
    "other_value": "names another number",
    "left_behind": "changes without what goes with it",
    "of_the_file": "about this file",
    "relevant": "bears on this",
}
Plan = Annotated[Path | None, typer.Option("--plan", help="A file with a plan; - reads stdin.")]
Diff = Annotated[Path | None, typer.Option("--diff", help="A file with a diff; - reads stdin.")]
Strict = Annotated[
    bool, typer.Option("--strict", help="Caution fails as well, and what was not looked at whole.")
]


def register(*, app: typer.Typer) -> None:
    """Add the command."""
    app.command()(check)


def check(
    context: typer.Context,
    plan: Plan = None,
    diff: Diff = None,
    project: Project = "",
    strict: Strict = False,
) -> None:
    """Hold a plan or a diff against what is known; exit with 6 where that says stop."""
    desk: Desk = context.obj
    if (plan is None) == (diff is None):
        raise Misused(
            detail="Name a plan or a diff, one of the two.",
            hint="git diff main | cairn check --diff -",
            command="cairn check --help",
        )
    text = _read(plan or diff or Path("-"))
    if not text.strip():
        desk.note("There is nothing to check.")
        return
    connection = desk.connection(project=project)
    if not connection.project:
        raise Misused(
            detail="A check belongs to a project, and none is named.",
            hint="Name it with --project.",
            command="cairn status",
        )
    kind = "plan" if plan is not None else "diff"
    with desk.client(connection=connection) as client:
        told = client.check(kind=kind, text=text, project=connection.project)
    _tell(desk, told)
    unseen = _UNSEEN.intersection(told.get("degraded") or ()) if strict else frozenset()
    if unseen:
        desk.note(f"not all of it was looked at: {', '.join(sorted(unseen))}")
    if unseen or told.get("verdict") in _FAILS[strict]:
        raise typer.Exit(STOPPED)


def _tell(desk: Desk, told: Mapping[str, Any]) -> None:
    if desk.is_json:
        desk.show(row=told, line="")
        return
    for finding in told.get("findings", ()):
        desk.show(row=finding, line=_line(finding))
    for tie in told.get("usually_together", ()):
        line = f"note     {tie['file']} is touched together with {tie['other']} in most sessions"
        desk.show(row=tie, line=line)
    if told.get("degraded"):
        desk.note(f"degraded: {', '.join(told['degraded'])}")
    desk.note(f"verdict: {told.get('verdict')}")


def _line(finding: Mapping[str, Any]) -> str:
    memory = finding["memory"]
    where = ", ".join(_places(finding)) or "the whole"
    missing = finding.get("missing") or ()
    without = f" ({', '.join(missing)})" if missing else ""
    says = f"{_SAYS.get(finding['why'], finding['why'])}{without}"
    cited = f"{memory['type']} {memory['id'][:SHORT_ID]}: {shortened(text=memory['content'])}"
    return f"{finding['level']:<8} {where}: {says}. {cited}"


def _places(finding: Mapping[str, Any]) -> Iterator[str]:
    for place in finding.get("places", ()):
        if place.get("step"):
            yield f"step {place['step']} (line {place['first_line']})"
        elif place.get("first_line"):
            yield f"{place['file']}:{place['first_line']}-{place['last_line']}"
        else:
            yield str(place["file"])


def _read(path: Path) -> str:
    """Return the text of a file or of stdin. Raises Misused for what cannot be read."""
    try:
        data = sys.stdin.buffer.read(LARGEST + 1) if str(path) == "-" else path.read_bytes()
    except OSError as error:
        raise Misused(
            detail=f"{path} cannot be read: {error.strerror}", command="cairn check --help"
        ) from error
    if len(data) > LARGEST:
        raise Misused(
            detail=f"{path} is too large to check.",
            hint="Leave out what is generated, or check it in parts.",
            command="cairn check --help",
        )
    return data.decode("utf-8", "replace")
