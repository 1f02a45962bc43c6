"""What of a command, an address or a tool's name brings outside content into view.

Outside is the web, other people's issues and mail, tools of foreign servers, and files that lie not
in the repository, unless the session itself wrote them. The running product, at an address of the
own machine, is none of it. A program may lie anywhere: what matters is what is read.
"""

import itertools
import re
from dataclasses import dataclass
from typing import Final

from memory.sessions import external_copies, file_paths, shell_commands
from memory.sessions.shell_commands import Command

SERVERS_OF_OURS: Final = frozenset({"cairn"})
TOOLS_OF_OURS: Final = frozenset(  # where a program names no server; `get` may be anybody's
    {
        "about_file", "add_memory", "check_conflicts", "check_diff", "check_plan", "context",
        "extract_from_conversation", "find_similar", "get_entity_info", "get_timeline",
        "list_recent", "list_topics", "push_note", "search", "search_history",
    }
)  # fmt: skip
LONGEST: Final = 120  # characters of a path in a reason, ours
WEB: Final = frozenset({
    "curl", "wget", "lynx", "w3m", "links", "elinks", "http", "https", "xh", "curlie", "aria2c",
})  # fmt: skip
FORGES: Final = frozenset({"gh", "glab", "hub", "tea", "jira"})
_SAY_NOTHING: Final = frozenset({  # of a forge's verbs: they answer with an address at most
    "create", "merge", "close", "reopen", "edit", "ready", "lock", "unlock", "delete",
})  # fmt: skip
_ARE_NO_TALK: Final = frozenset({  # of a forge's subjects: they are about itself
    "auth", "config", "alias", "extension", "completion", "version", "help",
})  # fmt: skip
_SUBJECTS: Final = frozenset({"issue", "pr", "mr", "repo", "release", "label"})
_FORGE_NAMES: Final = frozenset({"--repo", "--hostname"})
SEARCHES: Final = frozenset({"rg", "grep", "egrep", "fgrep", "zgrep", "ag", "ack"})
_SCRIPTED: Final = frozenset({"sed", "awk", "gawk", "mawk", "jq", "yq"})
SHOWS: Final = frozenset({"cat", "head", "tail", "less", "nl", "bat", "batcat", "more", "tac"})
_READS: Final = SHOWS | frozenset({
    "zcat", "zless", "xxd", "od", "hexdump", "strings", "cut", "sort", "uniq", "column", "fold",
    "rev", "paste", "diff", "cmp", "comm", "pdftotext", "most", "base64",
})  # fmt: skip
_GIT_READS: Final = frozenset({"show", "log", "diff", "grep", "blame", "cat-file"})
_LETTERS: Final = {  # short options that take a value
    "curl": "AbcCdDeEFHKmorTuwxXyYzP", "wget": "OoPtTUaieB", "rg": "ABCmefgtTdjMrE",
    "grep": "ABCmefdD", "ag": "ABCmGp", "ack": "ABCm", "sed": "ef", "awk": "Fvf", "gawk": "Fvf",
    "mawk": "Fvf", "cut": "dfcb", "sort": "ktoST", "paste": "d", "git": "Cc", "bat": "lrHm",
    "batcat": "lrHm", "base64": "w",
}  # fmt: skip
_NAMES: Final = frozenset({  # long options that take a value
    "--request", "--header", "--data", "--data-raw", "--data-binary", "--data-urlencode", "--json",
    "--form", "--output", "--user", "--cookie", "--cookie-jar", "--user-agent", "--referer",
    "--max-time", "--connect-timeout", "--retry", "--retry-delay", "--retry-max-time", "--cacert",
    "--write-out", "--cert", "--key", "--upload-file", "--regexp", "--expression", "--glob",
    "--type", "--type-not", "--max-count", "--context", "--after-context", "--before-context",
    "--lines", "--bytes", "--field-separator", "--delimiter", "--include", "--exclude",
    "--exclude-dir", "--color", "--language", "--line-range", "--timeout", "--tries",
    "--output-document", "--unix-socket", "--branch", "--depth", "--origin", "--max-redirs",
    "--proxy-header", "--data-ascii", "--oauth2-bearer", "--auth", "--limit-rate",
})  # fmt: skip
_OF_TWO: Final = frozenset({"--arg", "--argjson"})  # options of jq with a name and a value
_UNKNOWN: Final = re.compile(r"\A\$|\{\}")  # a file that a line does not tell
_STANDS: Final = re.compile(r"(?<![\w./:$}>-])(?:~?/|\.\./)[\w.@/*~+-]+")
_PROGRAMS: Final = re.compile(r"\A/(?:usr/|opt/)?(?:\w+/)?s?bin/|\A/dev/")
_OUTPUTS_OF_AGENTS: Final = re.compile(  # what their own program keeps of commands' outputs
    r"\A(?:/private)?/tmp/claude-[^/]+/(?:[^/]+/)*tasks/[^/]+\.output\Z"
    r"|\A(?:~|/home/[^/]+|/Users/[^/]+|/root)/\.claude/projects/(?:[^/]+/)+tool-results/[^/]+\Z"
)
_PATTERN: Final = re.compile(r"\A(?:-[A-Za-z]*[ef]|-e.+|--(?:regexp|expression|file)(?:=.*)?)\Z")
_APPENDS: Final = re.compile(r"\A(?:-\w*a\w*|--append)\Z")
_METHODS: Final = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
_HELP: Final = frozenset({"--version", "-V", "--help", "-h"})
_ADDRESS: Final = re.compile(r"\A[a-z][a-z0-9+.-]*:/{2,}([^/?#\\]*)", re.IGNORECASE)
_OWN_MACHINE: Final = re.compile(
    r"\A(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|::1)\Z", re.IGNORECASE
)
_AT_A_HOST: Final = re.compile(r"\A(?:[\w.-]+@)?([\w-]+(?:\.[\w-]+)+):(?!/)")
_MESSAGES: Final = re.compile(r"issue|ticket|jira|mail|inbox|slack", re.IGNORECASE)
_OF_THE_WEB: Final = re.compile(r"(?:\A|_)(?:web|webpage|website|url|urls|internet)(?:_|\Z)")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a session works: its repository, the folder it began in, and what it wrote outside."""

    root: str = ""
    folder: str = ""
    written: frozenset[str] = frozenset()

    def named(self, *, path: str, within: str = "") -> str:
        """Return a path by its name in the repository; `within` is where the command runs."""
        at = shell_commands.joined(folder=within if self.root else "", path=path)
        return file_paths.relative(path=at, root=self.root, folder=self.folder)

    def is_outside(self, *, path: str) -> bool:
        """Say whether a file, as `named`, is neither of the repository nor of the session."""
        return file_paths.is_outside(path=path) and path not in self.written


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Outside content: why what follows it is tainted, and where it came from, for the web."""

    reason: str
    source: str = ""


def host(*, url: str) -> str:
    """Return the host of an address; what is none is returned as it is, up to 80 characters."""
    found = _ADDRESS.match(url)
    if found is None:
        return url[:80].lower()
    authority = found.group(1).rpartition("@")[2]
    if authority.startswith("["):
        return authority[1:].partition("]")[0][:80].lower()
    return authority.partition(":")[0][:80].lower()


def is_own_machine(*, url: str) -> bool:
    """Say whether an address is of the machine that the agent works on."""
    return _ADDRESS.match(url) is not None and _OWN_MACHINE.match(host(url=url)) is not None


def of_url(*, url: str) -> Found | None:
    """Return what an address brings, with or without its scheme; None where it is ours."""
    whole = url if "://" in url else f"http://{url}"
    if is_own_machine(url=whole):
        return None
    return Found(reason=f"web: {host(url=whole)}", source=url)


def of_words(*, words: str) -> Found:
    """Return what a search of the web brings, whatever it looks for."""
    return Found(reason=f"web: {words[:80].lower()}", source=words)


def server_of(*, name: str) -> str:
    """Return the MCP server of a tool by its name, empty where it is none's.

    Agents write `mcp__SERVER__TOOL`, `SERVER__TOOL`, `mcp_SERVER_TOOL`, `MCP:SERVER:TOOL`, or
    `MCP:TOOL`, which is ours where it is called like one of ours.
    """
    plain = name.lower()
    if plain.startswith("mcp:"):
        server, sign, _ = plain[4:].partition(":")
        return server if sign or server not in TOOLS_OF_OURS else min(SERVERS_OF_OURS)
    if plain.startswith("mcp__"):
        return plain[5:].partition("__")[0]
    if plain.startswith("mcp_"):
        return plain[4:].partition("_")[0]
    server, sign, _ = plain.partition("__")
    return server if sign else ""


def is_of_ours(*, name: str, own_servers: frozenset[str]) -> bool:
    """Say whether a tool is one of Cairn's own; a plugin's server has both names in its own."""
    plain, server = name.lower(), server_of(name=name)
    plugins = (f"plugin_{one}_{one}" for one in own_servers)
    is_plugins = any(plain.startswith((f"mcp__{one}__", f"mcp_{one}_")) for one in plugins)
    return server in own_servers or is_plugins


def of_tool(*, name: str, own_servers: frozenset[str]) -> Found | None:
    """Return what a tool of a foreign server brings; None of one of ours or of no server."""
    server = server_of(name=name)
    if not server or is_of_ours(name=name, own_servers=own_servers):
        return None
    reason = "issue or mail" if _MESSAGES.search(name) else "foreign tool"
    return Found(reason=f"{reason}: {server}")


def is_of_the_web(*, name: str) -> bool:
    """Say whether a tool reads the web, by its name."""
    return _OF_THE_WEB.search(_HUMP.sub("_", name).lower()) is not None


def of_file(*, path: str, place: Place) -> Found | None:
    """Return what reading a file brings, as `Place.named` names it."""
    if path.startswith("/dev/") or not place.is_outside(path=path):
        return None
    if _OUTPUTS_OF_AGENTS.match(path) is not None:
        return None
    return Found(reason=f"outside file: {path[:LONGEST]}")


def of_command(*, command: Command, place: Place) -> Found | None:
    """Return what a command brings."""
    program = command.program
    if program in WEB:
        return _of_web(command)
    if program in FORGES:
        return _of_forge(command)
    if program == "git":
        return _of_git(command, place)
    elsewhere = external_copies.host_of(command=command)
    if elsewhere and _OWN_MACHINE.match(elsewhere) is None:
        return Found(reason=f"outside file: {elsewhere[:LONGEST]}", source=elsewhere)
    named = (
        *command.reads,
        *files_of(command=command),
        *_found_by_find(command),
        *external_copies.unpacked(command=command),
        *_brought_in(command, place),
    )
    found = (of_file(path=_at(one, command, place), place=place) for one in named)
    return next((one for one in found if one is not None), None)


def is_of_unknown(*, command: Command) -> bool:
    """Say whether a command shows files that its line does not tell."""
    files = (*command.reads, *files_of(command=command))
    if command.is_handed and command.program in _READS | SEARCHES | _SCRIPTED:
        return True
    named = (*files, command.folder) if files else ()
    return any(_UNKNOWN.search(one) is not None for one in named)


def of_line(*, line: str, place: Place) -> Found | None:
    """Return what the first path outside of the repository brings that stands in a line."""
    found = (one for one in _STANDS.findall(line) if _PROGRAMS.match(one) is None)
    files = (of_file(path=place.named(path=one), place=place) for one in found)
    return next((one for one in files if one is not None), None)


def files_of(*, command: Command) -> tuple[str, ...]:
    """Return the files that a command shows or searches, as it names them; none where unknown."""
    program = command.program
    if program in _READS:
        return _operands(command)
    if program in SEARCHES or program in _SCRIPTED:
        given = _operands(command)
        return given if _has_pattern(command) else given[1:]
    return ()


def pattern_of(*, command: Command) -> str:
    """Return what a command searches for, empty where it is no search."""
    words = command.words
    if command.program == "git" and words[1:2] == ("grep",):
        words = words[1:]
    elif command.program not in SEARCHES:
        return ""
    for option, value in itertools.pairwise(words):
        if option in {"-e", "--regexp"}:
            return value
    letters = _LETTERS.get(words[0], _LETTERS["grep"])
    given = shell_commands.operands(words=words, letters=letters, names=_NAMES)
    return next(iter(given), "")


def written_by(*, command: Command, place: Place) -> frozenset[str]:
    """Return the files outside of the repository that a command writes to."""
    teed: tuple[str, ...] = ()
    if command.program == "tee" and not any(_APPENDS.match(one) for one in command.words):
        teed = _operands(command)
    return _outside((*command.writes, *teed), command, place)


def made_by(*, command: Command, place: Place) -> frozenset[str]:
    """Return the files outside of the repository that a command makes of what is no outside's."""
    fetched = external_copies.downloaded(command=command) if command.program in WEB else ()
    return _outside((*external_copies.made_by_copying(command=command), *fetched), command, place)


def _outside(paths: tuple[str, ...], command: Command, place: Place) -> frozenset[str]:
    named = (_at(one, command, place) for one in paths)
    return frozenset(one for one in named if file_paths.is_outside(path=one))


def _operands(command: Command) -> tuple[str, ...]:
    letters = _LETTERS.get(command.program, "nc" if command.program in _READS else "")
    if command.program in {"egrep", "fgrep", "zgrep"}:
        letters = _LETTERS["grep"]
    words = command.words
    if command.program == "jq":
        words = _without_values_of_two(words)
    return shell_commands.operands(words=words, letters=letters, names=_NAMES)


def _without_values_of_two(words: tuple[str, ...]) -> tuple[str, ...]:
    named = [at for at, word in enumerate(words) if word in _OF_TWO]
    values = {at + step for at in named for step in (1, 2)}
    return tuple(word for at, word in enumerate(words) if at not in values)


def _brought_in(command: Command, place: Place) -> tuple[str, ...]:
    """Return the files that a command copies to where they are no more seen to be from outside."""
    sources, target = external_copies.copied(command=command)
    if not target or place.is_outside(path=_at(target, command, place)):
        return ()
    return sources


def _has_pattern(command: Command) -> bool:
    return any(_PATTERN.match(word) is not None for word in command.words[1:])


def _at(path: str, command: Command, place: Place) -> str:
    return place.named(path=path, within=command.folder)


def _of_web(command: Command) -> Found | None:
    """Return what a program of the web brings: whatever it asks but the own machine."""
    given = _operands(command)
    if command.program in {"http", "https", "xh"}:
        given = tuple(one for one in given if one not in _METHODS)[:1]
        given = tuple(f"localhost{one}" if one.startswith(":") else one for one in given)
    if not given:
        is_help = not _HELP.isdisjoint(command.words[1:])
        return None if is_help else Found(reason=f"web: {command.program}", source=command.program)
    found = (of_url(url=one) for one in given)
    return next((one for one in found if one is not None), None)


def _of_forge(command: Command) -> Found | None:
    words = command.words
    verbs = shell_commands.operands(words=words, letters="R", names=_FORGE_NAMES)[:2]
    if not verbs or verbs[0] in _ARE_NO_TALK:
        return None
    if verbs[0] in _SUBJECTS and not _SAY_NOTHING.isdisjoint(verbs[1:]):
        return None
    named = f"{command.program} {verbs[0]}"
    return Found(reason=f"issue or mail: {named}", source=named)


def _of_git(command: Command, place: Place) -> Found | None:
    """Return what git brings: a repository that is cloned, or one that lies elsewhere."""
    verb, *given = _operands(command) or ("",)
    if verb == "clone" and given:
        return _cloned(given[0], command, place)
    if verb not in _GIT_READS:
        return None
    pairs = itertools.pairwise(command.words)
    folders = (now for option, now in pairs if option == "-C")
    named = (*folders, *(given if "--no-index" in command.words else ()))
    found = (of_file(path=_at(one, command, place), place=place) for one in named)
    return next((one for one in found if one is not None), None)


def _cloned(source: str, command: Command, place: Place) -> Found | None:
    at_host = _AT_A_HOST.match(source)
    if at_host is not None:
        return Found(reason=f"web: {at_host[1].lower()}", source=source)
    if "://" in source:
        return of_url(url=source)
    return of_file(path=_at(source, command, place), place=place)


def _found_by_find(command: Command) -> tuple[str, ...]:
    """Return the folders whose files `find` hands to a program."""
    if command.program != "find" or {"-exec", "-execdir"}.isdisjoint(command.words):
        return ()
    first = next((n for n, one in enumerate(command.words) if one.startswith("-")), 1)
    return command.words[1:first]
