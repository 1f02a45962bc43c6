"""What a tool call does, whatever the agent's harness calls the tool.

Names of tools differ, and some agents do everything through a shell; a call is read as one of ten
acts with one target. A chain of commands is read by its first telling part.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from memory.sessions import external_content, shell
from memory.sessions.events import TARGET_MOST, Event
from memory.sessions.external_content import Workspace
from memory.text.text import read_tables

# Defaults, not measured.
ALSO_MOST: Final = 40  # files of one call
WRITES_MOST: Final = 40  # files outside of the repository that a call writes


class Act(StrEnum):
    """What a call does."""

    READ = "read"
    EDIT = "edit"
    GREP = "grep"
    GLOB = "glob"
    RUN = "run"
    TEST = "test"
    FETCH = "fetch"
    FOREIGN = "foreign"
    RECORD = "record"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReading:
    """An act, its target, and why what follows is tainted; empty when it is not.

    `also` are further files that the same call read or edited, `writes` those outside of the
    repository that the session knows as its own from then on.
    """

    act: Act
    target: str
    taint: str = ""
    also: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


_BY_NAME: Final = {
    name: Act(act)
    for act, names in read_tables(file=Path(__file__).with_name("tables") / "tools.toml").items()
    for name in names.split()
}
_SENDING: Final = frozenset({"task", "agent", "dispatch_agent", "spawn_agent", "runsubagent"})
LONGEST_RUN: Final = 400  # characters of a text in which a run is looked for; default
_TEST_COMMAND: Final = re.compile(
    r"\b(?:pytest|py\.test|jest|vitest|mocha|rspec|phpunit|ctest|tox|nosetests|playwright test)\b"
    r"|\b(?:go|cargo|dotnet|mvn|gradle|gradlew|bun|deno|mix|rake|swift|make|npm|yarn|pnpm)"
    r"(?: run)? test\b|\bunittest\b"
)
_RUN: Final = re.compile(r"\A\s*(?:re)?run(?:ning)?\s+`?(.+?)`?\s*\Z", re.IGNORECASE | re.DOTALL)
_LEADING: Final = re.compile(
    r"\A(?:cd \S+|source \S+|export \S+|set -\w+|\w+=\S*)\s*(?:&&|;)\s*|\A\w+=\S*\s+(?=\S)"
)
_SHELL: Final = re.compile(
    r"\A(?:\S*/)?(?:ba|z|da|k)?sh\s+(?:-\w+\s+)*-\w*c\s+(?=\S)(.*)\Z", re.DOTALL
)
_QUIET: Final = frozenset({"cd", "pushd", "popd", "export", "source", ".", "set", "echo", "true"})


def names_a_test_run(*, text: str) -> bool:
    """Say whether a text says no more than that tests are run: “running `pytest -q tests/x.py`”."""
    run = _RUN.match(text[:LONGEST_RUN])
    return run is not None and _TEST_COMMAND.search(run[1]) is not None


def read(
    *,
    event: Event,
    root: str,
    folder: str = "",
    written: frozenset[str] = frozenset(),
) -> ToolReading:
    """Read a tool call as an act with a target.

    `root` is the repository, `folder` where the work began, `written` the files outside of the
    repository that the session itself wrote.
    """
    place = Workspace(root=root, folder=folder, written=written)
    reason = external_content.of_tool(name=event.name)
    if reason:
        server = external_content.server_of(name=event.name)
        tool = event.name.lower().partition(server)[2].lstrip("_")
        return ToolReading(act=Act.FOREIGN, target=f"{server}/{tool}", taint=reason)
    act = _BY_NAME.get(_bare_name(event.name), Act.OTHER)
    given = event.arguments
    if act is Act.EDIT and given.command == "view":
        act = Act.READ
    if act in {Act.READ, Act.EDIT}:
        return _of_named_files(act, event, place)
    if act in {Act.GREP, Act.GLOB}:  # it may look elsewhere than in the repository
        named = (given.path, given.pattern if act is Act.GLOB else "")
        paths = (place.named(path=one) for one in named if one)
        taint = external_content.of_files(paths=paths, place=place)
        return ToolReading(act=act, target=" ".join(given.pattern.split()), taint=taint)
    if act is Act.RUN:
        return _of_command(given.command, place)
    return _of_address(act, event)


def is_recording(*, name: str) -> bool:
    """Say whether a tool of this name keeps what the agent itself puts down."""
    return _BY_NAME.get(_bare_name(name)) is Act.RECORD


def is_whole(*, event: Event) -> bool:
    """Say whether a call of an editor writes all of a file, and adds nothing to what was there."""
    given = event.arguments
    is_added = given.line > 0 or given.command == "insert" or "insert" in event.name.lower()
    return bool(given.after) and not given.before and not is_added


def is_sending(*, name: str) -> bool:
    """Say whether a tool of this name sends a subagent."""
    return name.lower() in _SENDING


def program(*, command: str) -> str:
    """Return a command's program with its verb: `git commit`, `npm install`, `pytest`."""
    first, *rest = bare(command=command).split()[:3] or [""]
    verb = rest[1:] if rest[:1] == ["-m"] else rest[:1]
    named = verb[0] if verb and verb[0].isalpha() else ""
    return f"{first.rpartition('/')[2]} {named}".strip()


def bare(*, command: str) -> str:
    """Return a command without what only prepares or wraps it, such as `cd src &&`, `bash -lc`."""
    text, before = " ".join(_unwrapped(command).replace("\\\n", " ").split()), ""
    while text != before:
        before = text
        found = _LEADING.match(text)
        text = _unwrapped(text[found.end() :] if found is not None else text)
    return text


def _unwrapped(command: str) -> str:
    """Return what a shell is told to run; some agents tell it in quotes and some without."""
    found = _SHELL.match(command)
    if found is None:
        return command
    script = found.group(1).strip()
    quote = script[0] if script[0] in "'\"" else ""
    if not quote:
        return script
    within = script[1:-1].replace(f"\\{quote}", "") if script.endswith(quote) else quote
    return command if quote in within else script[1:-1].replace(f"\\{quote}", quote)


def _bare_name(name: str) -> str:
    """Return the name of a tool without that of our server."""
    plain = name.lower()
    if plain.startswith("mcp:"):
        return plain.rpartition(":")[2]
    if plain.startswith("mcp_") and not plain.startswith("mcp__"):
        return plain.removeprefix(f"mcp_{external_content.OWN_SERVER}_")
    return plain.rpartition("__")[2]


def _of_named_files(act: Act, event: Event, place: Workspace) -> ToolReading:
    """Return the reading of files; some are named twice, and the first stands out."""
    files = (event.arguments.path, *event.files[:ALSO_MOST])
    paths = [place.named(path=one) for one in files if one]
    target, *also = dict.fromkeys(paths) or ("",)
    shown = (target, *also) if act is Act.READ else ()
    taint = external_content.of_files(paths=shown, place=place)
    return ToolReading(act=act, target=target, taint=taint, also=tuple(also))


def _of_address(act: Act, event: Event) -> ToolReading:
    """Return the reading of a tool that may read an address; the own machine's is no outside."""
    given = event.arguments
    named = given.pattern or event.name
    if not _may_read_address(act, event):
        return ToolReading(act=act, target=given.path or named)
    if given.url:
        found = external_content.of_url(url=given.url)
    else:
        found = external_content.Found(reason=f"web: {named[:80].lower()}", source=named)
    target = given.url or named
    if found is None:
        return ToolReading(act=Act.OTHER, target=target)
    return ToolReading(act=Act.FETCH, target=target, taint=found.reason)


def _may_read_address(act: Act, event: Event) -> bool:
    """Say whether a tool may read an address; Cairn's own tools never do."""
    if act is Act.RECORD or external_content.is_of_ours(name=event.name):
        return False
    if act is Act.FETCH or event.arguments.url:
        return True
    return external_content.is_of_the_web(name=event.name)


def _of_command(command: str, place: Workspace) -> ToolReading:
    """Return the reading of a chain of commands: its first telling part, and the taint of any."""
    text = bare(command=command)
    parts = shell.commands(line=command)
    found, written = external_content.of_commands(commands=parts, place=place, line=command)
    source = next((one.source for one in found if one.source), "")
    if _TEST_COMMAND.search(text) is not None:
        act, target = Act.TEST, text
    elif source:
        act, target = Act.FETCH, source
    else:
        act, target = _telling_part(parts, place) or (Act.RUN, text)
    return ToolReading(
        act=act,
        target=target[:TARGET_MOST],
        taint=found[0].reason if found else "",
        writes=tuple(sorted(written))[:WRITES_MOST],
    )


def _telling_part(parts: tuple[shell.Command, ...], place: Workspace) -> tuple[Act, str] | None:
    """Return what a chain searches for, or the one file that it shows; None for anything else."""
    telling = [one for one in parts if one.words and one.program not in _QUIET and not one.is_fed]
    first = next(iter(telling), shell.Command())
    pattern = external_content.pattern_of(command=first)
    if pattern:
        return Act.GREP, " ".join(pattern.split())
    files = external_content.files_of(command=first)
    is_shown = first.program in external_content.SHOWS or first.words[:2] == ("sed", "-n")
    if (len(telling), len(files)) == (1, 1) and is_shown:
        within = "" if first.folder.startswith("$") else first.folder
        return Act.READ, place.named(path=files[0], within=within)
    return None
