"""The command that checks a plan or a diff before it is work: `cairn check`.

Made for people, for hooks of git and for CI: what stops has an exit code of its own; what calls for
caution, or was not looked at whole, fails only with `--strict`. An empty text has nothing to check,
and no server is asked.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from ..errors import STOPPED, Misused
from ..terminal import Project, Terminal, read_file, shortened

BYTES_MOST: Final = 4 * 1024 * 1024  # that are read; the server takes a million characters
SHORT_ID: Final = 13  # characters of an id that people are shown
_UNSEEN: Final = frozenset(  # with one of these not all of the work was looked at
    {"paused", "steps_left_out", "not_all_parts", "not_all_searched", "not_all_files"}
)
_REASONS: Final[Mapping[str, str]] = {
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


def check(
    context: typer.Context,
    plan: Plan = None,
    diff: Diff = None,
    project: Project = "",
    strict: Strict = False,
) -> None:
    """Hold a plan or a diff against what is known; exit with 6 where that says stop."""
    terminal: Terminal = context.obj
    if (plan is None) == (diff is None):
        raise Misused(
            detail="Name a plan or a diff, one of the two.",
            hint="git diff main | cairn check --diff -",
            command="cairn check --help",
        )
    path = plan or diff or Path("-")
    data = read_file(path=path, most=BYTES_MOST, command="cairn check --help")
    text = data.decode("utf-8", "replace")
    if not text.strip():
        terminal.note("There is nothing to check.")
        return
    kind = "plan" if plan is not None else "diff"
    with terminal.client(project=project, subject="A check belongs") as client:
        result = client.check(kind=kind, text=text, project=client.project)
    _show(terminal, result)
    unseen = _UNSEEN.intersection(result.get("degraded") or ()) if strict else frozenset()
    if unseen:
        terminal.note(f"not all of it was looked at: {', '.join(sorted(unseen))}")
    if unseen or result.get("verdict") in (("stop", "caution") if strict else ("stop",)):
        raise typer.Exit(STOPPED)


def _show(terminal: Terminal, result: Mapping[str, Any]) -> None:
    if terminal.is_json:
        terminal.show(row=result, line="")
        return
    for finding in result.get("findings", ()):
        memory, missing = finding["memory"], finding.get("missing") or ()
        where = ", ".join(map(_place, finding.get("places", ()))) or "the whole"
        without = f" ({', '.join(missing)})" if missing else ""
        reason = f"{_REASONS.get(finding['why'], finding['why'])}{without}"
        cited = f"{memory['type']} {memory['id'][:SHORT_ID]}: {shortened(text=memory['content'])}"
        line = f"{finding['level']:<8} {where}: {reason}. {cited}"
        terminal.show(row=finding, line=line)
    for tie in result.get("usually_together", ()):
        line = f"note     {tie['file']} is touched together with {tie['other']} in most sessions"
        terminal.show(row=tie, line=line)
    if result.get("degraded"):
        terminal.note(f"degraded: {', '.join(result['degraded'])}")
    terminal.note(f"verdict: {result.get('verdict')}")


def _place(place: Mapping[str, Any]) -> str:
    if place.get("step"):
        return f"step {place['step']} (line {place['first_line']})"
    if place.get("first_line"):
        return f"{place['file']}:{place['first_line']}-{place['last_line']}"
    return str(place["file"])
