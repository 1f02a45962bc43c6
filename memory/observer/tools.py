"""What a tool call does, whatever the agent's harness calls the tool (spec 4.1).

Names of tools differ, and some agents do everything through a shell; a call is read as one of ten
acts with one target. A chain of commands is read by its first telling part.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from memory.observer import places
from memory.observer.events import Event

ALSO_MOST: Final = 40  # files of one call, ours
SERVERS_OF_OURS: Final = frozenset({"cairn"})


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
class Reading:
    """An act, its target, and why what follows is tainted; empty when it is not.

    `also` are further files that the same call read or edited.
    """

    act: Act
    target: str
    taint: str = ""
    also: tuple[str, ...] = ()


_BY_NAME: Final = {
    "read": Act.READ, "read_file": Act.READ, "view": Act.READ, "open_file": Act.READ,
    "notebookread": Act.READ, "readfile": Act.READ, "cat": Act.READ,
    "edit": Act.EDIT, "multiedit": Act.EDIT, "write": Act.EDIT, "write_file": Act.EDIT,
    "edit_file": Act.EDIT, "create": Act.EDIT, "str_replace": Act.EDIT, "apply_patch": Act.EDIT,
    "notebookedit": Act.EDIT, "search_replace": Act.EDIT, "insert": Act.EDIT,
    "str_replace_based_edit_tool": Act.EDIT, "replace": Act.EDIT,
    "grep": Act.GREP, "grep_search": Act.GREP, "search_files": Act.GREP, "ripgrep": Act.GREP,
    "codebase_search": Act.GREP, "search_file_content": Act.GREP,
    "glob": Act.GLOB, "file_search": Act.GLOB, "list_files": Act.GLOB, "find_files": Act.GLOB,
    "bash": Act.RUN, "shell": Act.RUN, "run_terminal_cmd": Act.RUN, "exec_command": Act.RUN,
    "execute_command": Act.RUN, "local_shell": Act.RUN, "run_shell_command": Act.RUN,
    "terminal": Act.RUN,
    "webfetch": Act.FETCH, "websearch": Act.FETCH, "web_fetch": Act.FETCH, "fetch": Act.FETCH,
    "web_search": Act.FETCH, "browser": Act.FETCH, "google_web_search": Act.FETCH,
    "add_memory": Act.RECORD, "record_memory": Act.RECORD, "remember": Act.RECORD,
}  # fmt: skip
_SENDING: Final = frozenset({"task", "agent", "dispatch_agent", "spawn_agent", "runsubagent"})
_TEST_COMMAND: Final = re.compile(
    r"\b(?:pytest|py\.test|jest|vitest|mocha|rspec|phpunit|ctest|tox|nosetests|playwright test)\b"
    r"|\b(?:go|cargo|dotnet|mvn|gradle|gradlew|bun|deno|mix|rake|swift|make|npm|yarn|pnpm)"
    r"(?: run)? test\b|\bunittest\b"
)
_READING_COMMAND: Final = re.compile(
    r"\A(?:cat|head|tail|less|nl|bat|sed -n)\s+(?:-\S+\s+|[\"']?[\d,]+p[\"']?\s+|\d+\s+)*"
    r"([\w./~-]+)\s*\Z"
)
_SEARCHING_COMMAND: Final = re.compile(
    r"\A(?:rg|grep|ag|ack|git grep)\s+(?:-\S+\s+)*(?:\"([^\"]+)\"|'([^']+)'|(\S+))"
)
_OUTSIDE_COMMAND: Final = re.compile(
    r"\b(?:curl|wget|lynx|http|https)\s+.*?(https?://[^\s\"']+)"
    r"|\b(gh (?:issue|pr|api)\b|glab issue\b)"
)
_LEADING: Final = re.compile(
    r"\A(?:cd \S+|source \S+|export \S+|set -\w+|\w+=\S*)\s*(?:&&|;)\s*|\A\w+=\S*\s+(?=\S)"
)
_HOST: Final = re.compile(r"\A[a-z]+://([^/:?#]+)", re.IGNORECASE)
_ISSUE_TOOLS: Final = re.compile(r"issue|ticket|jira|mail|inbox|slack", re.IGNORECASE)


def read(*, event: Event, root: str, own_servers: frozenset[str]) -> Reading:
    """Read a tool call as an act with a target."""
    foreign = _foreign(event.name, own_servers)
    if foreign is not None:
        return foreign
    act = _BY_NAME.get(event.name.lower().rpartition("__")[2], Act.OTHER)
    given = event.arguments
    if act in {Act.READ, Act.EDIT}:
        return _of_files(act, (given.path, *event.files[:ALSO_MOST]), root)
    if act in {Act.GREP, Act.GLOB}:
        return Reading(act=act, target=" ".join(given.pattern.split()))
    if act is Act.RUN:
        return _of_command(given.command, root)
    if act is Act.FETCH:
        target = given.url or given.pattern or event.name
        return Reading(act=act, target=target, taint=f"web: {host(url=target)}")
    return Reading(act=act, target=given.path or given.pattern or event.name)


def is_recording(*, name: str) -> bool:
    """Say whether a tool of this name keeps what the agent itself puts down."""
    return _BY_NAME.get(name.lower().rpartition("__")[2]) is Act.RECORD


def is_sending(*, name: str) -> bool:
    """Say whether a tool of this name sends a subagent."""
    return name.lower() in _SENDING


def is_of_ours(*, name: str, own_servers: frozenset[str] = SERVERS_OF_OURS) -> bool:
    """Say whether a tool is one of Cairn's own, by the name that agents give it."""
    return name.startswith("mcp__") and name[5:].partition("__")[0] in own_servers


def host(*, url: str) -> str:
    """Return the host of an address; what is none is returned as it is, up to 80 characters."""
    found = _HOST.match(url)
    return (found.group(1) if found else url)[:80].lower()


def program(*, command: str) -> str:
    """Return a command's program with its verb: `git commit`, `npm install`, `pytest`."""
    first, *rest = bare(command=command).split()[:3] or [""]
    verb = rest[1:] if rest[:1] == ["-m"] else rest[:1]
    named = verb[0] if verb and verb[0].isalpha() else ""
    return f"{first.rpartition('/')[2]} {named}".strip()


def bare(*, command: str) -> str:
    """Return a command without what only prepares it, such as `cd src &&`."""
    text = " ".join(command.split())
    while (found := _LEADING.match(text)) is not None:
        text = text[found.end() :]
    return text


def _foreign(name: str, own_servers: frozenset[str]) -> Reading | None:
    """Return the reading of a tool of another MCP server: `mcp__SERVER__TOOL`."""
    if not name.startswith("mcp__"):
        return None
    server, _, tool = name[5:].partition("__")
    if server in own_servers:
        return None
    reason = "issue or mail" if _ISSUE_TOOLS.search(name) else "foreign tool"
    return Reading(act=Act.FOREIGN, target=f"{server}/{tool}", taint=f"{reason}: {server}")


def _of_files(act: Act, given: tuple[str, ...], root: str) -> Reading:
    """Return the reading of a call on files, some of which it names twice; the first stands out."""
    named = (places.relative(path=path, root=root) for path in given if path)
    target, *also = dict.fromkeys(named) or ("",)
    read_all = tuple(_of_file(act, path) for path in (target, *also))
    taint = next((one.taint for one in read_all if one.taint), "")
    return Reading(act=act, target=target, taint=taint, also=tuple(also))


def _of_file(act: Act, path: str) -> Reading:
    is_taint = act is Act.READ and places.is_outside(path=path)
    return Reading(act=act, target=path, taint=f"outside file: {path[:120]}" if is_taint else "")


def _of_command(command: str, root: str) -> Reading:
    text = bare(command=command)
    if _TEST_COMMAND.search(text) is not None:
        return Reading(act=Act.TEST, target=text)
    outside = _OUTSIDE_COMMAND.search(text)
    if outside is not None:
        url, issues = outside.groups()
        reason = f"web: {host(url=url)}" if url else f"issue or mail: {issues}"
        return Reading(act=Act.FETCH, target=url or issues, taint=reason)
    read_file = _READING_COMMAND.match(text)
    if read_file is not None:
        return _of_file(Act.READ, places.relative(path=read_file.group(1), root=root))
    searched = _SEARCHING_COMMAND.match(text)
    if searched is not None:
        pattern = next(group for group in searched.groups() if group)
        return Reading(act=Act.GREP, target=" ".join(pattern.split()))
    return Reading(act=Act.RUN, target=text)
