"""What of a command, an address or a tool's name brings outside content into view.

Outside is the web, other people's issues and mail, tools of foreign servers, and files that lie not
in the repository, unless the session itself wrote them. The running product, at an address of the
own machine, is none of it. Of a command its program decides: fifteen that speak to other machines,
by first word, and those that show or copy the content of files, by the paths they are given.
"""

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memory.sessions import file_paths, shell
from memory.sessions.shell import Command
from memory.text.text import read_tables, read_words

OWN_SERVER: Final = "cairn"
LONGEST: Final = 120  # characters of a path in a reason; default, not measured
MADE_MOST: Final = 40  # files that one copy makes the session's own; default, not measured

_FOLDER: Final = Path(__file__).with_name("tables")
_TABLE: Final = read_tables(file=_FOLDER / "programs.toml")
_LETTERS: Final = {  # short options that take a value, by program
    program: letters
    for letters, programs in _TABLE.pop("letters").items()
    for program in programs.split()
}
_BY_USE: Final = {use: frozenset(words.split()) for use, words in _TABLE.items()}
SEARCHES: Final = _BY_USE["searches"]
TOOLS_OF_OURS: Final = _BY_USE["own_tools"]
SHOWS: Final = _BY_USE["shows"]
WEB: Final = _BY_USE["web"]
_READS: Final = SHOWS | _BY_USE["reads"]
_SCRIPTED: Final = _BY_USE["scripted"]
_NAMES: Final = read_words(file=_FOLDER / "options.txt")
_OF_TWO: Final = frozenset({"--arg", "--argjson"})  # options of jq with a name and a value
_METHODS: Final = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
_HELP: Final = frozenset({"--version", "-V", "--help", "-h"})
_GOES_ON: Final = frozenset({"-C", "--continue-at", "-c", "--continue"})
_UNKNOWN: Final = re.compile(r"\A\$|\{\}")  # a file that a line does not tell
_STANDS: Final = re.compile(r"(?<![\w./:$}>-])(?:~?/|\.\./)[\w.@/*~+-]+")
_PROGRAMS: Final = re.compile(r"\A/(?:usr/|opt/)?(?:\w+/)?s?bin/|\A/dev/")
_OUTPUTS_OF_AGENTS: Final = re.compile(  # what their own program keeps of commands' outputs
    r"\A(?:/private)?/tmp/claude-[^/]+/(?:[^/]+/)*tasks/[^/]+\.output\Z"
    r"|\A(?:~|/home/[^/]+|/Users/[^/]+|/root)/\.claude/projects/(?:[^/]+/)+tool-results/[^/]+\Z"
)
_PATTERN: Final = re.compile(r"\A(?:-[A-Za-z]*[ef]|-e.+|--(?:regexp|expression|file)(?:=.*)?)\Z")
_APPENDS: Final = re.compile(r"\A(?:-[^\Wa]*a\w*|--append)\Z")
_OUTPUTS: Final = re.compile(r"\A(?:--output(?:-document)?|-[A-Za-z]*[oO])\Z")
_KEEPS: Final = re.compile(
    r"\A(?:-(?:(?![nuraR])[a-zA-Z])*[nuraR][a-zA-Z]*|--(?:no-clobber|update|recursive).*)\Z"
)
_PACKS: Final = re.compile(
    r"\A(?:-?(?:(?![cru])[A-Za-z])*[cru][A-Za-z]*|--(?:create|append|update))\Z"
)
_REMOTE: Final = re.compile(r"\A(?:[\w.-]+@)?(?![A-Za-z]:[\\/])([\w.-]+):")
_ADDRESS: Final = re.compile(r"\A[a-z][a-z0-9+.-]*:/{2,}([^/?#\\]*)", re.IGNORECASE)
_OWN_MACHINE: Final = re.compile(
    r"\A(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|::1)\Z", re.IGNORECASE
)
_AT_A_HOST: Final = re.compile(r"\A(?:[\w.-]+@)?([\w-]+(?:\.[\w-]+)+):(?!/)")
_MESSAGES: Final = re.compile(r"issue|ticket|jira|mail|inbox|slack", re.IGNORECASE)
_OF_THE_WEB: Final = re.compile(r"(?:\A|_)(?:web|webpage|website|url|urls|internet)(?:_|\Z)")
_PLUGIN: Final = tuple(f"{sign}plugin_{OWN_SERVER}_{OWN_SERVER}_" for sign in ("mcp__", "mcp_"))
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """Where a session works: its repository, the folder it began in, and what it wrote outside."""

    root: str = ""
    folder: str = ""
    written: frozenset[str] = frozenset()

    def named(self, *, path: str, within: str = "") -> str:
        """Return a path by its name in the repository; `within` is where the command runs."""
        at = shell.joined(folder=within if self.root else "", path=path)
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


def of_url(*, url: str) -> Found | None:
    """Return what an address brings, with or without its scheme; None for the own machine's."""
    whole = url if "://" in url else f"http://{url}"
    name = host(url=whole)
    is_own = _ADDRESS.match(whole) is not None and _OWN_MACHINE.match(name) is not None
    return None if is_own else Found(reason=f"web: {name}", source=url)


def server_of(*, name: str) -> str:
    """Return the MCP server of a tool by its name, empty where it is none's.

    Agents write `mcp__SERVER__TOOL`, `SERVER__TOOL`, `mcp_SERVER_TOOL`, `MCP:SERVER:TOOL`, or
    `MCP:TOOL`, which is ours where it is called like one of ours.
    """
    plain = name.lower()
    if plain.startswith("mcp:"):
        server, sign, _ = plain[4:].partition(":")
        return server if sign or server not in TOOLS_OF_OURS else OWN_SERVER
    if plain.startswith("mcp__"):
        return plain[5:].partition("__")[0]
    if plain.startswith("mcp_"):
        return plain[4:].partition("_")[0]
    server, sign, _ = plain.partition("__")
    return server if sign else ""


def is_of_ours(*, name: str) -> bool:
    """Say whether a tool is one of Cairn's own; a plugin's server has both names in its own."""
    return server_of(name=name) == OWN_SERVER or name.lower().startswith(_PLUGIN)


def of_tool(*, name: str) -> str:
    """Return why a tool of a foreign server taints; empty for one of ours or of no server."""
    server = server_of(name=name)
    if not server or is_of_ours(name=name):
        return ""
    return f"{'issue or mail' if _MESSAGES.search(name) else 'foreign tool'}: {server}"


def is_of_the_web(*, name: str) -> bool:
    """Say whether a tool reads the web, by its name."""
    return _OF_THE_WEB.search(_HUMP.sub("_", name).lower()) is not None


def of_file(*, path: str, place: Workspace) -> str:
    """Return why reading a file taints, as `Workspace.named` names it; empty where it does not."""
    is_harmless = path.startswith("/dev/") or _OUTPUTS_OF_AGENTS.match(path) is not None
    is_outside = not is_harmless and place.is_outside(path=path)
    return f"outside file: {path[:LONGEST]}" if is_outside else ""


def of_files(*, paths: Iterable[str], place: Workspace) -> str:
    """Return why reading some files taints; empty where it does not."""
    return next(filter(None, (of_file(path=one, place=place) for one in paths)), "")


def of_command(*, command: Command, place: Workspace) -> Found | None:
    """Return what a command brings."""
    program = command.program
    if program in WEB:
        return _of_web(command)
    if program in _BY_USE["forges"]:
        return _of_forge(command)
    if program == "git":
        return _of_git(command, place)
    host_name = _host_of(command)
    if host_name and _OWN_MACHINE.match(host_name) is None:
        return Found(reason=f"outside file: {host_name[:LONGEST]}", source=host_name)
    named = (*command.reads, *files_of(command=command), *_carried(command, place))
    return _first_outside(named, command, place)


def of_commands(
    *, commands: tuple[Command, ...], place: Workspace, line: str
) -> tuple[tuple[Found, ...], frozenset[str]]:
    """Return what the commands of a line bring, and the outside files that the session wrote.

    A file that an earlier command wrote as a whole is the session's own for those behind it. Where
    a command shows files that the line does not tell, any outside path in the line counts.
    """
    found: list[Found] = []
    written = place.written
    for command in commands:
        here = Workspace(root=place.root, folder=place.folder, written=written)
        brings = of_command(command=command, place=here)
        if brings is not None:
            found.append(brings)
        made = tuple(_written(command, is_clean=brings is None))
        named = (here.named(path=one, within=command.folder) for one in made)
        written |= {one for one in named if file_paths.is_outside(path=one)}
    if not found and any(map(_is_of_unknown, commands)):
        paths = tuple(itertools.filterfalse(_PROGRAMS.match, _STANDS.findall(line)))
        here = Workspace(root=place.root, folder=place.folder, written=written)
        first = _first_outside(paths, Command(), here)
        found.extend(() if first is None else (first,))
    return tuple(found), written - place.written


def files_of(*, command: Command) -> tuple[str, ...]:
    """Return the files that a command shows or searches, as it names them; none where unknown."""
    program = command.program
    if program in _READS:
        return _operands(command)
    if program in SEARCHES or program in _SCRIPTED:
        given = _operands(command)
        has_pattern = any(_PATTERN.match(word) is not None for word in command.words[1:])
        return given if has_pattern else given[1:]
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
    return next(iter(shell.operands(words=words, letters=letters, names=_NAMES)), "")


def _operands(command: Command) -> tuple[str, ...]:
    words, letters = command.words, _LETTERS.get(command.program, "")
    if command.program == "jq":
        named = [at for at, word in enumerate(words) if word in _OF_TWO]
        values = {at + step for at in named for step in (1, 2)}
        words = tuple(word for at, word in enumerate(words) if at not in values)
    return shell.operands(words=words, letters=letters, names=_NAMES)


def _first_outside(paths: tuple[str, ...], command: Command, place: Workspace) -> Found | None:
    reason = of_files(
        paths=(place.named(path=one, within=command.folder) for one in paths), place=place
    )
    return Found(reason=reason) if reason else None


def _is_of_unknown(command: Command) -> bool:
    """Say whether a command shows files that its line does not tell."""
    if command.is_handed and command.program in _READS | SEARCHES | _SCRIPTED:
        return True
    files = (*command.reads, *files_of(command=command))
    named = (*files, command.folder) if files else ()
    return any(_UNKNOWN.search(one) is not None for one in named)


def _of_web(command: Command) -> Found | None:
    """Return what a program of the web brings: whatever it asks but the own machine."""
    given = _operands(command)
    if command.program in {"http", "https", "xh"}:
        given = tuple(one for one in given if one not in _METHODS)[:1]
        given = tuple(f"localhost{one}" if one.startswith(":") else one for one in given)
    if not given:
        is_help = not _HELP.isdisjoint(command.words[1:])
        return None if is_help else Found(reason=f"web: {command.program}", source=command.program)
    return next(filter(None, (of_url(url=url) for url in given)), None)


def _of_forge(command: Command) -> Found | None:
    verbs = _operands(command)[:2]
    if not verbs or verbs[0] in _BY_USE["own_subjects"]:
        return None
    if verbs[0] in _BY_USE["subjects"] and not _BY_USE["quiet_verbs"].isdisjoint(verbs[1:]):
        return None
    named = f"{command.program} {verbs[0]}"
    return Found(reason=f"issue or mail: {named}", source=named)


def _of_git(command: Command, place: Workspace) -> Found | None:
    """Return what git brings: a repository that is cloned, or one that lies elsewhere."""
    verb, *given = _operands(command) or ("",)
    if verb == "clone" and given:
        at_host = _AT_A_HOST.match(given[0])
        if at_host is not None:
            return Found(reason=f"web: {at_host[1].lower()}", source=given[0])
        is_address = "://" in given[0]
        return of_url(url=given[0]) if is_address else _first_outside((given[0],), command, place)
    if verb not in _BY_USE["git_reads"]:
        return None
    folders = (now for option, now in itertools.pairwise(command.words) if option == "-C")
    named = (*folders, *(given if "--no-index" in command.words else ()))
    return _first_outside(named, command, place)


def _host_of(command: Command) -> str:
    """Return the other host that a command reads from, empty for none."""
    if command.program == "ssh":
        return next(iter(_operands(command)), "").rpartition("@")[2]
    sources = _copied(command)[0] if command.program in {"scp", "rsync"} else ()
    return next((one[1] for one in map(_REMOTE.match, sources) if one is not None), "")


def _copied(command: Command) -> tuple[tuple[str, ...], str]:
    """Return the files that a command copies or moves, and where to; none for any other."""
    if command.program not in _BY_USE["copies"]:
        return (), ""
    given, pairs = _operands(command), itertools.pairwise(command.words)
    target = next((now for one, now in pairs if one in {"-t", "--target-directory"}), "")
    if target and command.program in {"cp", "mv"}:
        return given, f"{target}/"
    return given[:-1], given[-1] if len(given) > 1 else ""


def _carried(command: Command, place: Workspace) -> Iterator[str]:
    """Yield the files that a command takes content from without showing it by itself.

    What `find` hands to a program, archives, and what is copied to where it is no more seen to be
    from outside.
    """
    words = command.words
    if command.program == "find" and not {"-exec", "-execdir"}.isdisjoint(words):
        yield from itertools.takewhile(lambda one: not one.startswith("-"), words[1:])
    elif command.program in _BY_USE["unpackers"]:
        if not _PACKS.match(words[1] if len(words) > 1 else ""):
            yield from _operands(command)
    else:
        sources, target = _copied(command)
        named = place.named(path=target, within=command.folder)
        if target and not place.is_outside(path=named):
            yield from sources


def _downloaded(words: tuple[str, ...]) -> Iterator[str]:
    """Yield the files that the options of a program of the web name for its output."""
    files = [file for word, file in itertools.pairwise(words) if _OUTPUTS.match(word) is not None]
    files += [word.partition("=")[2] for word in words if word.startswith("--output=")]
    yield from (file for file in files if file and "://" not in file)


def _written(command: Command, *, is_clean: bool) -> Iterator[str]:
    """Yield the files that a command writes as a whole; copies only of what is no outside's."""
    words = command.words
    yield from command.writes
    if command.program == "tee" and not any(map(_APPENDS.match, words)):
        yield from _operands(command)
    if not is_clean:
        return
    if command.program in WEB and _GOES_ON.isdisjoint(words):
        yield from _downloaded(words)
    sources, target = _copied(command)
    if not target or any(map(_KEEPS.match, words[1:])):
        return
    if "." in target.rpartition("/")[2].strip("."):
        yield target
    else:
        yield from (f"{target.rstrip('/')}/{one.rpartition('/')[2]}" for one in sources[:MADE_MOST])
