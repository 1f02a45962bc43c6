"""Where a file is cut into chunks: at functions and classes, never inside of a body.

Some lines stay together: a function, a class that is not long, a nameless function. What shares a
line with them stays with them, too. Everything else is cut where what it belongs to changes (a long
class, the file itself), and then every hundred lines. Lines cover the file once, in order; empty
ones go with what is before them, and comments with what they stand above.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, takewhile

from graph.code.values import Chunk
from graph.vocabulary import NodeKind

PIECE = 100  # lines of what has no bodies, as of an unknown language
LONGEST_CLASS = 100  # lines; the members of longer ones are chunks of their own; ours
MOST_LEADING = 30  # lines of comments that go with what they stand above; ours
LONGEST_BODY = 500  # lines; only longer ones are cut; ours

_LEADING = re.compile(rb"\s*(?:#|//|/\*|\*|@)")  # comments, decorators and attributes
_HOLDERS = frozenset({NodeKind.CLASS, NodeKind.INTERFACE, NodeKind.MODULE, NodeKind.VARIABLE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Lines that belong to something: a symbol, or a body without a name (an empty `name`)."""

    kind: NodeKind
    name: str
    first_line: int
    last_line: int

    @property
    def lines(self) -> int:
        """How many they are."""
        return self.last_line - self.first_line + 1


def cut(*, lines: Sequence[bytes], spans: Iterable[Span] = ()) -> tuple[Chunk, ...]:
    """Return the chunks of a file, given what its lines belong to; without, it is cut by number."""
    told = sorted(spans, key=lambda span: (span.first_line, -span.last_line))
    owners = _owners([span for span in told if not _stays_whole(span)], len(lines))
    found: list[Chunk] = []
    for chunk in _filled(_kept_together(told, lines), owners):
        empty = not any(line.strip() for line in lines[chunk.first_line - 1 : chunk.last_line])
        if empty and found:
            found[-1] = replace(found[-1], last_line=chunk.last_line)
        else:
            found.append(chunk)
    return tuple(found)


def _stays_whole(span: Span) -> bool:
    return span.lines <= (LONGEST_CLASS if span.kind in _HOLDERS else LONGEST_BODY)


def _owners(holders: Iterable[Span], lines: int) -> list[Span | None]:
    """Return for each line the innermost of what is cut that it belongs to."""
    owners: list[Span | None] = [None] * lines
    for holder in holders:
        owners[holder.first_line - 1 : holder.last_line] = [holder] * holder.lines
    return owners


def _kept_together(spans: Iterable[Span], lines: Sequence[bytes]) -> Iterator[Span]:
    """Yield lines that are not cut: outermost ones that stay whole, joined where they touch."""
    last: Span | None = None
    for span in filter(_stays_whole, spans):
        if last is not None and span.first_line <= last.last_line:
            last = replace(last, last_line=max(last.last_line, span.last_line))
            continue
        if last is not None:
            yield last
        above = _lines_above(span, lines, last.last_line if last else 0)
        last = replace(span, first_line=span.first_line - above)
    if last is not None:
        yield last


def _lines_above(span: Span, lines: Sequence[bytes], taken: int) -> int:
    """Return how many lines directly above belong to it: comments, decorators and attributes."""
    upwards = range(span.first_line - 1, max(taken, span.first_line - 1 - MOST_LEADING), -1)
    leading = takewhile(lambda line: _LEADING.match(lines[line - 1]), upwards)
    return sum(1 for _ in leading)


def _filled(kept: Iterable[Span], owners: Sequence[Span | None]) -> Iterator[Chunk]:
    """Yield what is kept together, and what lies between, so that every line is in one chunk."""
    next_line = 1
    for span in kept:
        yield from _pieces(next_line, span.first_line - 1, owners)
        yield Chunk(
            kind=span.kind, name=span.name, first_line=span.first_line, last_line=span.last_line
        )
        next_line = span.last_line + 1
    yield from _pieces(next_line, len(owners), owners)


def _pieces(first: int, last: int, owners: Sequence[Span | None]) -> Iterator[Chunk]:
    for owner, group in groupby(range(first, last + 1), key=lambda line: owners[line - 1]):
        numbers = tuple(group)
        for start in range(0, len(numbers), PIECE):
            piece = numbers[start : start + PIECE]
            yield Chunk(
                kind=owner.kind if owner else NodeKind.FILE,
                name=owner.name if owner else "",
                first_line=piece[0],
                last_line=piece[-1],
            )
