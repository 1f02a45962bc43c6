"""Known dead ends that a session entered again.

A session enters one by doing, not by reading: it runs the very command that did not work, and it
fails again, commits
what had been given up, says that it goes that way and then tries something, or gives up there
itself. A test that was run and failed then is run by everybody and is no entry; neither is an edit
of the same file alone. Words are compared as plans are (`memory.checks`), so what says “not again”
is none. Each dead end is entered once a session, at its first sign.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Final

from memory.observer import dead_ends
from memory.records import statement_clauses
from memory.sessions import tools
from memory.sessions.scratchpad import Deed, Scratchpad, in_order

# Defaults, not measured.
SAID_MOST: Final = 5_000  # texts of an agent that are looked at, the first
WORDS_LEAST: Final = 2  # of an approach that must be said or done
SAME_WHY: Final = 0.6  # of the shorter of two reasons that must be the other's
WHY_LEAST: Final = 3  # stems that two reasons share
COMMAND_LEAST: Final = 2  # words of a command that says which one it is

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
    """A dead end that was known before the session; `id` is its memory's."""

    id: str
    content: str
    approach: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reentry:
    """That a dead end was entered: at which event, how, and whether it was told before."""

    memory_id: str
    sequence: int
    how: How
    told: bool = False


Texts = Iterable[tuple[int, str]]  # what the agent said while it worked, by sequence


def _command_or_stems(end: KnownEnd) -> tuple[str, frozenset[str]]:
    """Return the command that a dead end ran, or the stems of what it tried, if it says enough."""
    tried = end.approach or statement_clauses.approach(content=end.content)
    named = _COMMAND.search(tried)
    if named is not None:
        return _plain(named.group(1)), frozenset()
    is_bare = statement_clauses.names_only_a_file(approach=tried)
    return "", frozenset() if is_bare else statement_clauses.stems(text=tried)


def find(*, scratchpad: Scratchpad, said: Texts, known: Iterable[KnownEnd]) -> tuple[Reentry, ...]:
    """Find the dead ends that a session entered, in the order of their memories' ids."""
    deeds = in_order(scratchpad=scratchpad)
    signs = tuple(_signs(scratchpad, deeds, said))
    runs = _failed_runs(deeds)
    found: list[Reentry] = []
    for end in sorted(known, key=lambda each: each.id):
        command, stems = _command_or_stems(end)
        why = statement_clauses.stems(text=end.content)
        own = [(runs[command], How.RAN)] if command in runs else []
        for at, how, other in signs:
            if how is How.GAVE_UP:
                shared = len(why & other)
                least = max(WHY_LEAST, SAME_WHY * min(len(why), len(other)))
            else:
                shared = len(stems & other)
                least = max(WORDS_LEAST, statement_clauses.COVERAGE * len(stems))
            if shared >= least:
                own.append((at, how))
        if own:
            sequence, how = min(own)
            found.append(Reentry(memory_id=end.id, sequence=sequence, how=how))
    return tuple(found)


def _failed_runs(deeds: tuple[Deed, ...]) -> dict[str, int]:
    """Return where each command that says which one it is failed first.

    Everybody runs tests, so none of them is there; what went through is no dead end.
    """
    runs: dict[str, int] = {}
    for deed in deeds:
        if deed.act is tools.Act.RUN and deed.is_error:
            command = _plain(deed.target)
            if len(command.split()) >= COMMAND_LEAST:
                runs[command] = min(deed.sequence, runs.get(command, deed.sequence))
    return runs


def _signs(
    scratchpad: Scratchpad, deeds: tuple[Deed, ...], said: Texts
) -> Iterator[tuple[int, How, frozenset[str]]]:
    """Yield where an agent committed, went or gave up something, with the stems of that."""
    for commit in scratchpad.commits:
        yield commit.sequence, How.COMMITTED, _affirmed(commit.text)
    for at, stems in _intentions(deeds, said):
        yield at, How.WENT, stems
    for end in dead_ends.find_dead_ends(scratchpad=scratchpad):
        stems = statement_clauses.stems(text=f"{end.approach} {end.why_it_failed}")
        yield end.evidence[-1].sequence, How.GAVE_UP, stems


def _intentions(deeds: tuple[Deed, ...], said: Texts) -> Iterator[tuple[int, frozenset[str]]]:
    """Yield where an agent said what it would do, if one of its next calls tried something."""
    sequences = tuple(sorted(deed.sequence for deed in deeds))
    tries = frozenset(deed.sequence for deed in deeds if deed.act in dead_ends.TRIES)
    for sequence, text in islice(said, SAID_MOST):
        place = bisect_right(sequences, sequence)
        if tries.isdisjoint(sequences[place : place + dead_ends.CALLS_APART]):
            continue
        for match in _INTENDS.finditer(text):
            stems = _affirmed(match["what"])
            if len(stems) >= WORDS_LEAST:
                yield sequence, stems


def _affirmed(text: str) -> frozenset[str]:
    return statement_clauses.stems(text=statement_clauses.read(text=text).affirmed)


def _plain(command: str) -> str:
    return tools.bare(command=command).rstrip(" ;")
