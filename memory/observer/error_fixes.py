"""Signal 3: a command that failed, and what made it go through.

Commands are compared part by part as bash reads them: a later one is another try where it runs the
same program for the same thing, or the same thing through another program. The error is overcome
when that goes through, or fails with another error. What helped is, in this order:

- what a blocked commit had to pass first: a hook of git names itself;
- the same command with an option more, or run through another program;
- a command that was run between, where nothing but settings was edited;
- the few lines that were added to a setting, or an import that was missing.

An error that went away with an edit of code is the work itself, and says nothing to the next
session. Neither do errors of commands that only look or move files, nor what a person refused.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, product
from typing import Final

from memory.observer import detections
from memory.observer.detections import Sighting, SignalKind, group, made
from memory.sessions import event_parsing, file_paths, shell
from memory.sessions.scratchpad import Deed, Scratchpad, each_file, in_order
from memory.sessions.shell import Command
from memory.sessions.tools import Act
from memory.text import text as texts

# Defaults, not measured.
RETRY_CALLS: Final = 30  # at most, from an error to the next try
COMMANDS_NAMED: Final = 3  # that helped
HOOK_MORE: Final = 2  # messages of a hook beside the first, which may block for several reasons
SHORTEST_SHARED: Final = 3  # letters of a word that a command and an error have
COMMAND_MOST: Final = 120  # characters of a command that is named
PARSED_MOST: Final = 4 * RETRY_CALLS  # lines: each is compared with those before and behind it

COMMANDS: Final = frozenset({Act.RUN, Act.TEST})
_LOOKS: Final = frozenset({
    "ls", "cd", "pwd", "echo", "printf", "cat", "find", "wc", "which", "head", "tail", "grep", "rg",
    "sed", "awk", "tree", "stat", "file", "test", "[", "true", "sleep", "date", "env", "jq", "ps",
    "less", "du", "df", "sort", "uniq", "diff", "xxd", "set", "export", "source", "command", "type",
    "readlink", "realpath",
})  # fmt: skip
_MOVES: Final = frozenset(
    {"rm", "mkdir", "cp", "mv", "touch", "kill", "pkill", "ln", "unzip", "tar"}
)
_LOOKING_VERBS: Final = frozenset({
    "status", "diff", "log", "show", "list", "view", "info", "describe", "version", "help", "why",
    "branch", "remote", "tag", "ls-files", "rev-parse", "blame", "outdated", "check-ignore", "logs",
    "search",
})  # fmt: skip
_RUNNERS: Final = frozenset({"run", "exec", "compose", "-m"})  # the word behind is the verb
_VERB: Final = re.compile(r"[a-z][\w.:-]*")
_SAYS_NOTHING: Final = re.compile(  # refused by a person, or a slip in how a shell is used
    r"user (?:doesn't want|rejected|denied)|interrupted by user|\bcd:|\Acd\b|parse error near"
    r"|unexpected (?:EOF|token)|(?:not found )?in current directory|<tool_use_error>",
    re.IGNORECASE,
)
_ASSERTS: Final = re.compile(  # a test that does its work
    r"\bFAIL(?:ED)?\b|\bassert|\bexpected\b.{1,40}\b(?:got|to (?:be|equal|have))\b|\A=== |\A\d+\) "
    r"|\btests? failed",
    re.IGNORECASE,
)
_OF_HOOK: Final = re.compile(
    r"\bpre-(?:commit|push)\b|\bhook\b|\bhusky\b|\blefthook\b|\bcommitlint\b", re.I
)
_HOOKED: Final = re.compile(r"\bgit (?:-C \S+ )?(?P<verb>commit|push)\b")
_ELSEWHERE: Final = re.compile(r"\bgit -C \S+")
_PATH: Final = re.compile(
    r"\A(?:\.{0,2}/|~/|\$\w+/)|\A[^/]*/.*\.\w+\Z|\A[\w-]+\.(?!com\b)\w{1,5}\Z"
)
_PLACE: Final = re.compile(r"\A(?:E\s+)?[^\s:(]{1,200}(?:(?::\d+){1,2}|\(\d+,\d+\)):?\s+|\AE\s{2,}")
_LACKING: Final = re.compile(r"command not found: (\S+)|(?<!\S)(\S+): (?:command )?not found\Z")
_WORDS: Final = re.compile(r"\w+")
_MISSING: Final = re.compile(
    r"command not found|not found|no such (?:file|command|module)|no module named|cannot find"
    r"|undefined|not defined|unresolved|is not recognized|could not be found|\bno \S+ configuration"
    r"|\bnot (?:set|configured|installed)\b|\bmissing\b|\brequire[sd]\b|must be set",
    re.IGNORECASE,
)
_UNFORMATTED: Final = re.compile(r"reformat|unformatted|not formatted|formatting|style", re.I)
_BRANCH: Final = re.compile(
    r"\bbranch (?P<quote>')?(?P<name>[\w./-]+)(?P<told>(?(quote)'| has no upstream))?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A command that failed and was tried again: what it ran, and how the error was overcome.

    `how` is empty where that is not seen, `helped` are the calls that did it; `hook` is the verb of
    git that a hook blocked, empty for any other error.
    """

    what: str
    failed: Deed
    again: Deed
    how: str = ""
    helped: tuple[Deed, ...] = ()
    hook: str = ""

    @property
    def key(self) -> str:
        """By what the error is recognized; what a hook blocks is one thing, whatever it finds."""
        return f"hook of git {self.hook}" if self.hook else self.failed.fingerprint


def find_error_fixes(*, scratchpad: Scratchpad) -> Iterator[Sighting]:
    """Yield a sighting an error: the command, what it said, and how it went through, if it did.

    Seen when a command failed that does more than look, and was tried again within thirty calls.
    """
    by_agent = group((deed.agent, (deed,)) for deed in in_order(scratchpad=scratchpad))
    attempts = chain.from_iterable(map(_find_attempts, map(tuple, by_agent.values())))
    for key, found in group((one.key, (one,)) for one in attempts).items():
        yield _make_sighting(key, found)


def _make_sighting(key: str, found: list[Attempt]) -> Sighting:
    """Return what some attempts with one error show; of a hook all that it said."""
    best = next((one for one in reversed(found) if one.how), found[-1])
    first, *others = dict.fromkeys(one.failed.message for one in found)
    if best.hook:  # without the words that it always begins with
        head = "".join(first.partition(": ")[:2])
        first = " / ".join((first, *(one.removeprefix(head) for one in others[:HOOK_MORE])))
    helped = each_file(deeds=best.helped)
    return made(
        SignalKind.ERROR_RETRY,
        key,
        chain.from_iterable((one.failed, *one.helped, one.again) for one in found),
        files=(deed.target for deed in helped if detections.is_own_edit(deed=deed)),
        times=len(found),
        what=best.what,
        message=_generalize(first, best.failed),
        how=_describe_hook(found, first) if best.hook else best.how,
    )


def _find_attempts(deeds: tuple[Deed, ...]) -> Iterator[Attempt]:
    """Yield each failed command of one agent that was tried again."""
    for place, deed in enumerate(deeds):
        if not (deed.is_error and deed.act in COMMANDS and _is_telling(deed)):
            continue
        hook = _blocked_by_hook(deed)
        failed = (Command(words=("git", hook)),) if hook else find_commands(deed)
        following = deeds[place + 1 : place + 1 + RETRY_CALLS]
        for count, later in enumerate(following, 1):
            both = _same_thing(failed, later, deed.message)
            if both is not None:
                yield _make_attempt(deed, both, following[:count], hook)
                break


def _blocked_by_hook(deed: Deed) -> str:
    """Return the verb of git that a hook blocked, also where a long line was cut before it."""
    if _OF_HOOK.search(deed.message) is None or "git " not in deed.target:
        return ""
    named = _HOOKED.search(deed.target)
    return named["verb"] if named else "push" if "pre-push" in deed.message else "commit"


def _is_telling(deed: Deed) -> bool:
    """Say whether an error tells something: none of a person's refusal, or of a failing test."""
    message = texts.straighten_apostrophes(text=deed.message)
    is_work = deed.act is Act.TEST and _ASSERTS.search(message) is not None
    return not is_work and _SAYS_NOTHING.search(message) is None


def _make_attempt(
    failed: Deed, both: tuple[Command, Command], following: tuple[Deed, ...], hook: str
) -> Attempt:
    """Return a failed command with what helped: a hook's demands are told together."""
    *between, again = following
    what = subject(both[0])
    went_well = (one for one in between if one.act is Act.RUN and one.went_well)
    ran = tuple(  # what may have helped: anything else that went through meanwhile
        one
        for one in went_well
        if (names := set(map(subject, find_commands(one)))) and what not in names
    )
    how, helped = "", ran
    if not hook:
        edits = tuple(deed for deed in between if detections.is_own_edit(deed=deed))
        how, helped = _what_helped(failed, both, edits, ran, again)
    return Attempt(what=what, failed=failed, again=again, how=how, helped=helped, hook=hook)


def _may_have_helped(deed: Deed, failed: Deed) -> bool:
    """Say whether an error speaks of a command, or of what is not there or not in form."""
    if _MISSING.search(failed.message) or _UNFORMATTED.search(failed.message):
        return True
    spoken = frozenset(_WORDS.findall(failed.message.lower()))
    words = (word for one in find_commands(deed) for word in one.words)
    return any(len(word) >= SHORTEST_SHARED and word.lower() in spoken for word in words)


def _what_helped(
    failed: Deed,
    both: tuple[Command, Command],
    edits: tuple[Deed, ...],
    ran: tuple[Deed, ...],
    again: Deed,
) -> tuple[str, tuple[Deed, ...]]:
    """Return how an error was overcome, and the calls that did it; empty where that is not seen."""
    if again.is_error and again.fingerprint == failed.fingerprint:
        return "", ()
    called = "" if edits else _other_call(failed, both, again)
    helping = tuple(one for one in ran if _may_have_helped(one, failed))
    return (called, ()) if called else _describe_changes(failed, edits, helping)


def _describe_hook(found: list[Attempt], said: str) -> str:
    """Return which commands show what a hook wants: those that its messages speak of."""
    spoken = frozenset(_WORDS.findall(said.lower()))
    commands = (one for attempt in found for deed in attempt.helped for one in find_commands(deed))
    named = dict.fromkeys(subject(one) for one in commands if not spoken.isdisjoint(one.words))
    listed = ", ".join(f"`{one}`" for one in named)
    return f"a hook checks that first; run {listed} before" if listed else "a hook checks it first"


def find_commands(deed: Deed) -> tuple[Command, ...]:
    """Return the commands of a line that do more than look at things or move them."""
    return _commands_of(deed.target)


@lru_cache(maxsize=PARSED_MOST)
def _commands_of(line: str) -> tuple[Command, ...]:
    typed, _, _ = line.partition("<<")  # what is handed over is no command
    line = _ELSEWHERE.sub("git", typed)
    return tuple(
        one
        for one in shell.commands(line=line)
        if one.words and not one.is_fed and one.program not in _LOOKS | _MOVES
        and _LOOKING_VERBS.isdisjoint(one.words[1:2])
    )  # fmt: skip


def subject(command: Command) -> str:
    """Return what a command runs, in words: `git push`, `npm run build`, `python -m pytest`."""
    words = command.words
    named = [command.program]
    for place, word in enumerate(words[1:3], 1):
        is_due = place == 1 or words[place - 1] in _RUNNERS
        if not is_due or (_VERB.fullmatch(word) is None and word != "-m"):
            break
        named.append(word)
    return " ".join(named)


def _same_thing(
    failed: tuple[Command, ...], later: Deed, message: str
) -> tuple[Command, Command] | None:
    """Return the part of a failed line, and that of a later one which tries it again."""
    again = find_commands(later) if later.act in COMMANDS and later.is_done else ()
    lacking, is_missing = _LACKING.search(message), _MISSING.search(message) is not None
    lines = (one for one in reversed(failed) if lacking is None or one.program in lacking.groups())
    for one, other in product(lines, again):  # of a chain the last part most often fails
        is_same = subject(one) == subject(other)
        if _is_about_the_same(one, other) if is_same else is_missing and _is_wrapped(one, other):
            return one, other
    return None


def _operands(command: Command) -> frozenset[str]:
    return frozenset(word for word in command.words[1:] if not word.startswith("-"))


def _is_about_the_same(one: Command, other: Command) -> bool:
    """Say whether two runs of one program are about the same; a commit is, whatever it says.

    Who leaves something out has not got it through, unless an option makes the rest go.
    """
    first, second = _operands(one), _operands(other)
    is_whole = first <= second or one.words[:2] == ("git", "commit")
    return is_whole or bool(first & second and _new_options(one, other))


def _new_options(one: Command, other: Command) -> list[str]:
    return [word for word in other.words if word.startswith("-") and word not in one.words]


def _is_wrapped(one: Command, other: Command) -> bool:
    """Say whether a command is run through another program, as `npx` or `python -m` do."""
    rest = one.words[1:]
    is_more = len(other.words) > len(one.words) and other.words[-len(one.words) :] == one.words
    is_other = bool(rest) and one.program != other.program and other.words[-len(rest) :] == rest
    return is_more or (is_other and one.program in " ".join(other.words))


def _other_call(failed: Deed, both: tuple[Command, Command], again: Deed) -> str:
    """Return how another way to call the same went through; empty where none did."""
    one, other = both
    if again.is_error:
        return ""
    if one.words == other.words:  # run through another program, such as `npx`, which is not read
        if _MISSING.search(failed.message) is None:
            return ""
        words = re.escape(" ".join(other.words))
        found = re.search(rf"(?:\A|[;&|] ?)((?:[\w./-]+ ){{1,3}}{words})(?!\S)", again.target)
        return f"`{found[1][:COMMAND_MOST]}` worked" if found else ""
    is_other = subject(one) != subject(other) or len(_new_options(one, other)) == 1
    return f"{_list_commands((other,), failed)} worked" if is_other and again.act is Act.RUN else ""


def _describe_changes(
    failed: Deed, edits: tuple[Deed, ...], ran: tuple[Deed, ...]
) -> tuple[str, tuple[Deed, ...]]:
    """Return which settings, imports and commands overcame an error, with those calls."""
    settings = tuple(deed for deed in edits if file_paths.is_setting(path=deed.target))
    added, rests = _what_was_added(failed, edits, settings)
    if len(settings) < len(edits):  # beside code only what was added is told
        return (f"solved by {added}", rests) if added else ("", ())
    commands = _list_commands((one for deed in ran for one in find_commands(deed)), failed)
    steps = ", then ".join(filter(None, (added, commands)))
    return (f"solved by {steps}", (*rests, *ran)) if steps else ("", ())


def _list_commands(commands: Iterable[Command], failed: Deed) -> str:
    """Return the last of some commands, each once; with paths only that the error speaks of."""
    message = _PLACE.sub("", failed.message)
    said: list[str] = []
    for one in commands:
        what = subject(one)
        rest = [
            "<path>"
            if _PATH.search(word) and (word.rpartition("/")[0] or word) not in message
            else word
            for word in one.words[len(what.split()) :]
        ]
        said.append(_generalize(" ".join((what, *rest))[:COMMAND_MOST], failed))
    return ", ".join(f"`{one}`" for one in tuple(dict.fromkeys(said))[-COMMANDS_NAMED:])


def _what_was_added(
    failed: Deed, edits: tuple[Deed, ...], settings: tuple[Deed, ...]
) -> tuple[str, tuple[Deed, ...]]:
    """Return which lines of a setting, or which import, overcame an error, with that edit."""
    is_missing = _MISSING.search(failed.message) is not None
    for deed in reversed(edits):
        is_import = is_missing and event_parsing.IMPORTS.match(deed.added) is not None
        if deed.added and (deed in settings or is_import):
            line = " ".join(deed.added.split()).rstrip(",;")
            return f"adding `{line}` to {deed.target}", (deed,)
    is_named = is_missing and settings
    return (f"a change of {settings[-1].target}", settings[-1:]) if is_named else ("", ())


def _generalize(text: str, failed: Deed) -> str:
    """Return a text without the place of an error, and with no branch that it names.

    A name is quoted, in the command, or where git puts it: “the branch is behind” names none.
    """
    text = _PLACE.sub("", text)
    for found in _BRANCH.finditer(failed.message):
        if found["told"] or found["name"] in failed.target.split():
            return re.sub(rf"(?<![\w-]){re.escape(found['name'])}(?![\w-])", "<branch>", text)
    return text
