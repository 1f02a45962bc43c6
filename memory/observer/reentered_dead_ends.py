"""Known dead ends that a session entered again.

A session enters one by doing, not by reading: it runs the very command that did not work, commits
what had been given up, says that it goes that way and then tries something, or gives up there
itself. A test that was run and failed then is run by everybody and is no entry; neither is an edit
of the same file alone. Words are compared as plans are (`memory.checks`), so what says “not again”
is none. Each dead end is entered once a session, at its first sign.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from uuid import UUID

from memory.observer import dead_ends
from memory.observer.dead_ends import CALLS_APART
from memory.records import statement_clauses, statement_stems
from memory.sessions import tools
from memory.sessions.scratchpad import Deed, Scratchpad, in_order
from memory.sessions.tools import Act

SAID_MOST: Final = 5_000  # texts of an agent that are looked at, the first; ours
WORDS_LEAST: Final = 2  # of an approach that must be said or done, ours
SAME_WHY: Final = 0.6  # of the shorter of two reasons that must be the other's, ours
WHY_LEAST: Final = 3  # stems that two reasons share, ours
COMMAND_LEAST: Final = 2  # words of a command that says which one it is, ours
_TRIES: Final = frozenset({Act.EDIT, Act.RUN, Act.TEST})
_COMMAND: Final = re.compile(r"running `([^`]{1,400})`", re.IGNORECASE)
_INTENDS: Final = re.compile(
    r"\b(?:let me|let['\u2019]s|I['\u2019]ll|I will|I['\u2019]m going to|I am going to"
    r"|we['\u2019]ll|now I|next I|je vais|on va)\b(?P<what>[^.!?\n]{4,300})",
    re.IGNORECASE,
)


class How(StrEnum):
    """By what a session entered a dead end."""

    RAN = "ran"
    COMMITTED = "committed"
    WENT = "went"
    GAVE_UP = "gave_up"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownEnd:
    """A dead end that was known before the session."""

    id: UUID
    content: str
    approach: str = ""
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A text that the agent said while it worked."""

    sequence: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reentry:
    """That a dead end was entered: at which event, and how."""

    memory_id: UUID
    sequence: int
    how: How


@dataclass(frozen=True, slots=True, kw_only=True)
class _End:
    """A dead end, taken apart once."""

    known: KnownEnd
    command: str
    stems: frozenset[str]
    why: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Deeds:
    """What a session did, as it is looked at: what was meant, committed and given up.

    `runs`: the first run of each command.
    """

    runs: Mapping[str, int]
    meant: tuple[tuple[int, frozenset[str]], ...]
    committed: tuple[tuple[int, frozenset[str]], ...]
    given_up: tuple[tuple[int, frozenset[str]], ...]


def find(
    *, scratchpad: Scratchpad, said: Iterable[Said], known: Iterable[KnownEnd]
) -> tuple[Reentry, ...]:
    """Find the dead ends that a session entered, in the order of their memories' ids."""
    done = _done(scratchpad, tuple(said)[:SAID_MOST])
    found = (_entered(_end(one), done) for one in sorted(known, key=lambda each: each.id))
    return tuple(one for one in found if one is not None)


def _done(scratchpad: Scratchpad, said: tuple[Said, ...]) -> _Deeds:
    deeds = in_order(scratchpad=scratchpad)
    sequences = tuple(sorted(deed.sequence for deed in deeds))
    tries = frozenset(deed.sequence for deed in deeds if deed.act in _TRIES)
    meant = tuple(
        (one.sequence, stems)
        for one in said
        if _is_followed(one.sequence, sequences, tries)
        for match in _INTENDS.finditer(one.text)
        if len(stems := _affirmed(match["what"])) >= WORDS_LEAST
    )
    ends = dead_ends.find(scratchpad=scratchpad)
    return _Deeds(
        runs=_runs(deeds),
        meant=meant,
        committed=tuple((one.sequence, _affirmed(one.message)) for one in scratchpad.commits),
        given_up=tuple(
            (
                one.evidence[-1].sequence,
                statement_stems.stems(text=f"{one.approach} {one.why_it_failed}"),
            )
            for one in ends
        ),
    )


def _runs(deeds: tuple[Deed, ...]) -> dict[str, int]:
    """Return the first run of each command that says which one it is, taken apart once.

    Tests are run by everybody and are none.
    """
    runs: dict[str, int] = {}
    for deed in deeds:
        command = _plain(deed.target) if deed.act is Act.RUN else ""
        if len(command.split()) >= COMMAND_LEAST:
            runs[command] = min(deed.sequence, runs.get(command, deed.sequence))
    return runs


def _is_followed(sequence: int, sequences: tuple[int, ...], tries: frozenset[int]) -> bool:
    """Say whether one of the next calls tried something; `sequences` are those of all, ordered."""
    place = bisect_right(sequences, sequence)
    return not tries.isdisjoint(sequences[place : place + CALLS_APART])


def _affirmed(text: str) -> frozenset[str]:
    return statement_stems.stems(text=statement_clauses.read(text=text).affirmed)


def _end(known: KnownEnd) -> _End:
    tried = known.approach or statement_clauses.approach(content=known.content)
    command = _COMMAND.search(tried)
    is_bare = command is not None or statement_clauses.names_only_a_file(approach=tried)
    return _End(
        known=known,
        command=_plain(command.group(1)) if command else "",
        stems=frozenset() if is_bare else statement_stems.stems(text=tried),
        why=statement_stems.stems(text=known.content),
    )


def _entered(end: _End, done: _Deeds) -> Reentry | None:
    signs = (
        *((done.runs[one], How.RAN) for one in (end.command,) if one in done.runs),
        *((at, How.COMMITTED) for at, stems in done.committed if _is_way(end, stems)),
        *((at, How.WENT) for at, stems in done.meant if _is_way(end, stems)),
        *((at, How.GAVE_UP) for at, stems in done.given_up if _is_same_end(end, stems)),
    )
    if not signs:
        return None
    sequence, how = min(signs)
    return Reentry(memory_id=end.known.id, sequence=sequence, how=how)


def _is_way(end: _End, stems: frozenset[str]) -> bool:
    shared = end.stems & stems
    return len(shared) >= WORDS_LEAST and len(shared) >= statement_stems.COVERAGE * len(end.stems)


def _is_same_end(end: _End, stems: frozenset[str]) -> bool:
    shared = end.why & stems
    least = min(len(end.why), len(stems))
    return len(shared) >= WHY_LEAST and len(shared) >= SAME_WHY * least


def _plain(command: str) -> str:
    return tools.bare(command=command).rstrip(" ;")
