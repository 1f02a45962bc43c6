"""Count the steps of a backtracking search, to know how they grow with the length of a text.

`re` counts nothing, and seconds lie on a busy machine. So a pattern's own parse tree is carried out
here as CPython does it: greedy repeats are tried longest first, a step is a look at one character.
Texts to try are made from the pattern: what it repeats, repeated, behind what leads to it.
"""

import re
import sys
from collections.abc import Callable, Iterator
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Final

LEAST_BOUND: Final = 3  # to which bounds are scaled down: what has one is linear behind it
HIGHEST_BOUND: Final = 6
PUMPS_MOST: Final = 8  # texts that are tried with a pattern, twice each
SUSPECT: Final = 2.6  # growth that is measured once more
LONGER: Final = 6
FAR: Final = 9.0  # growth of what was given up
ENDS: Final = ("", "\x00")
COMMON: Final = 'aA0 -._/@"=:\n\t(\\'
REPEATS: Final = frozenset({ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT})
LOOKS: Final = frozenset({ops.ASSERT, ops.ASSERT_NOT})
Matcher = Callable[[int, Callable[[int], bool]], bool]


class TooManySteps(Exception):
    """The search was given up."""


class Search:
    """A search of one pattern in one text."""

    def __init__(self, tree: Any, flags: int, text: str, most: int) -> None:
        self.text, self.flags, self.most, self.steps = text, flags, most, 0
        self.groups: dict[int, tuple[int, int]] = {}
        self.ends: list[int] = []
        self.run_all = self.sequence(list(tree))

    def count(self, *, is_anchored: bool) -> int:
        """Return the steps of looking for every match, one after the other."""
        at = 0
        while at <= len(self.text):
            self.step()
            self.ends.clear()
            self.groups.clear()
            if self.run_all(at, self.reached):
                at = max(at + 1, self.ends[-1])
            else:
                at += 1
            if is_anchored:
                break
        return self.steps

    def reached(self, at: int) -> bool:
        self.ends.append(at)
        return True

    def step(self) -> None:
        self.steps += 1
        if self.steps > self.most:
            raise TooManySteps

    def sequence(self, items: list[Any]) -> Matcher:
        matchers = [self.node(op, value) for op, value in items]

        def run(at: int, after: Callable[[int], bool], first: int = 0) -> bool:
            if first == len(matchers):
                return after(at)
            return matchers[first](at, lambda end: run(end, after, first + 1))

        return run

    def node(self, op: Any, value: Any) -> Matcher:
        builders: dict[Any, Callable[[], Matcher]] = {
            **dict.fromkeys(REPEATS, lambda: self.repeat(op, *value)),
            **dict.fromkeys(LOOKS, lambda: self.look(*value, is_wanted=op is ops.ASSERT)),
            ops.BRANCH: lambda: self.either([self.sequence(list(one)) for one in value[1]]),
            ops.SUBPATTERN: lambda: self.group(value[0], self.sequence(list(value[-1]))),
            ops.ATOMIC_GROUP: lambda: self.atomic(self.sequence(list(value))),
            ops.AT: lambda: lambda at, after: self.is_at(value, at) and after(at),
            ops.GROUPREF: lambda: self.back(value),
            ops.GROUPREF_EXISTS: lambda: self.one_of(*value),
        }
        if op in builders:
            return builders[op]()
        return lambda at, after: self.is_one(op, value, at) and after(at + 1)

    def one_of(self, group: int, met: Any, unmet: Any) -> Matcher:
        """Go on as a group was met or not."""
        ways = {True: self.sequence(list(met)), False: self.sequence(list(unmet or ()))}

        def run(at: int, after: Callable[[int], bool]) -> bool:
            return ways[group in self.groups](at, after)

        return run

    def either(self, options: list[Matcher]) -> Matcher:
        return lambda at, after: any(one(at, after) for one in options)

    def is_one(self, op: Any, value: Any, at: int) -> bool:
        self.step()
        return at < len(self.text) and takes(op, value, self.text[at], self.flags)

    def repeat(self, op: Any, least: int, most: Any, body: Any) -> Matcher:
        items = list(body)
        least = min(least, LEAST_BOUND)
        highest = len(self.text) + 1 if most is ops.MAXREPEAT else min(int(most), HIGHEST_BOUND)
        if len(items) == 1 and items[0][0] in SINGLE:
            return self.run_of_one(op, least, highest, *items[0])
        inner = self.sequence(items)

        def more(at: int, done: int, after: Callable[[int], bool]) -> bool:
            if done >= highest:
                return False
            return inner(at, lambda end: (end > at or done < least) and take(end, done + 1, after))

        def take(at: int, done: int, after: Callable[[int], bool]) -> bool:
            if done < least:
                return more(at, done, after)
            if op is ops.MIN_REPEAT:
                return after(at) or more(at, done, after)
            return more(at, done, after) or after(at)

        if op is ops.POSSESSIVE_REPEAT:
            return self.atomic(lambda at, after: take(at, 0, after))
        return lambda at, after: take(at, 0, after)

    def run_of_one(self, op: Any, least: int, most: int, one: Any, value: Any) -> Matcher:
        def run(at: int, after: Callable[[int], bool]) -> bool:
            if op is ops.MIN_REPEAT:
                end = at
                while end - at < least or not after(end):
                    if end - at >= most or not self.is_one(one, value, end):
                        return False
                    end += 1
                return True
            end = at
            while end - at < most and self.is_one(one, value, end):
                end += 1
            if op is ops.POSSESSIVE_REPEAT:
                return end - at >= least and after(end)
            while end - at >= least:
                self.step()
                if after(end):
                    return True
                end -= 1
            return False

        return run

    def group(self, number: int | None, inner: Matcher) -> Matcher:
        if number is None:
            return inner

        def run(at: int, after: Callable[[int], bool]) -> bool:
            before = self.groups.get(number)

            def closed(end: int) -> bool:
                self.groups[number] = (at, end)
                return after(end)

            if inner(at, closed):
                return True
            if before is None:
                self.groups.pop(number, None)
            else:
                self.groups[number] = before
            return False

        return run

    def atomic(self, inner: Matcher) -> Matcher:
        def run(at: int, after: Callable[[int], bool]) -> bool:
            ends: list[int] = []
            return inner(at, lambda end: ends.append(end) or True) and after(ends[-1])

        return run

    def look(self, direction: int, body: Any, *, is_wanted: bool) -> Matcher:
        inner = self.sequence(list(body))
        width = body.getwidth()[0] if direction < 0 else 0

        def run(at: int, after: Callable[[int], bool]) -> bool:
            is_there = at - width >= 0 and inner(at - width, lambda _: True)
            return is_there == is_wanted and after(at)

        return run

    def back(self, number: int) -> Matcher:
        def run(at: int, after: Callable[[int], bool]) -> bool:
            if number not in self.groups:
                return False
            start, end = self.groups[number]
            self.steps += end - start
            said = self.text[start:end]
            return self.text.startswith(said, at) and after(at + len(said))

        return run

    def is_at(self, where: Any, at: int) -> bool:
        text, end = self.text, len(self.text)
        before, here = text[at - 1 : at] if at else "", text[at : at + 1]
        is_multi = bool(self.flags & re.MULTILINE)
        if where is ops.AT_BEGINNING:
            return at == 0 or (is_multi and before == "\n")
        if where is ops.AT_BEGINNING_STRING:
            return at == 0
        if where is ops.AT_END:
            return at == end or (at == end - 1 and here == "\n") or (is_multi and here == "\n")
        if where is ops.AT_END_STRING:
            return at == end
        is_bound = is_word(before) != is_word(here)
        return is_bound == (where is ops.AT_BOUNDARY)


def is_word(letter: str) -> bool:
    """Say whether a letter is of a word; no letter is not."""
    return letter.isalnum() or letter == "_"


SINGLE: Final = frozenset({ops.LITERAL, ops.NOT_LITERAL, ops.ANY, ops.IN})
CATEGORIES: Final[dict[Any, Callable[[str], bool]]] = {
    ops.CATEGORY_DIGIT: str.isdigit,
    ops.CATEGORY_SPACE: str.isspace,
    ops.CATEGORY_WORD: is_word,
}
DENIED: Final = {
    ops.CATEGORY_NOT_DIGIT: ops.CATEGORY_DIGIT,
    ops.CATEGORY_NOT_SPACE: ops.CATEGORY_SPACE,
    ops.CATEGORY_NOT_WORD: ops.CATEGORY_WORD,
}


def takes(op: Any, value: Any, letter: str, flags: int) -> bool:
    """Say whether a node that takes one character takes this one."""
    if op is ops.ANY:
        return letter != "\n" or bool(flags & re.DOTALL)
    forms = {letter, letter.lower(), letter.upper()} if flags & re.IGNORECASE else {letter}
    if op is ops.LITERAL:
        return any(ord(one) == value for one in forms if len(one) == 1)
    if op is ops.NOT_LITERAL:
        return all(ord(one) != value for one in forms if len(one) == 1)
    is_denied = value[0][0] is ops.NEGATE
    return is_denied != any(is_in(kind, part, one) for kind, part in value for one in forms)


def is_in(kind: Any, part: Any, letter: str) -> bool:
    """Say whether a part of a set holds a character."""
    if kind is ops.LITERAL:
        return len(letter) == 1 and ord(letter) == part
    if kind is ops.RANGE:
        return len(letter) == 1 and part[0] <= ord(letter) <= part[1]
    if kind is ops.CATEGORY:
        if part in DENIED:
            return not CATEGORIES[DENIED[part]](letter)
        return CATEGORIES[part](letter)
    return False


def steps(*, pattern: re.Pattern[str], text: str, most: int, is_anchored: bool = False) -> int:
    """Return the steps of finding every match; `most` where they are more."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 60_000))
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    search = Search(tree, pattern.flags, text, most)
    try:
        return search.count(is_anchored=is_anchored)
    except TooManySteps:
        return most


def attacks(*, pattern: re.Pattern[str]) -> Iterator[tuple[str, str, str]]:
    """Yield texts that may cost a pattern much, as what stands before, is repeated, and behind."""
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    pumps: dict[tuple[str, str], None] = {}
    for before, body in repeats(list(tree), ""):
        for inner in samples(body):
            pumps[before, inner] = None
            pumps["", before + inner] = None
        pumps["", before] = None
    for before, pump in list(pumps)[:PUMPS_MOST]:
        if pump:
            for end in ENDS:
                yield before, pump, end


def repeats(items: list[Any], before: str) -> Iterator[tuple[str, Any]]:
    """Yield each repeat that may be long, with a text that leads to it."""
    for op, value in items:
        if op in REPEATS:
            if value[1] is ops.MAXREPEAT or value[1] > 8:
                yield before, value[2]
            yield from repeats(list(value[2]), before)
        elif op is ops.SUBPATTERN:
            yield from repeats(list(value[-1]), before)
        elif op is ops.ATOMIC_GROUP:
            yield from repeats(list(value), before)
        elif op is ops.BRANCH:
            for one in value[1]:
                yield from repeats(list(one), before)
        elif op in LOOKS:
            yield from repeats(list(value[1]), before)
        before += sample([(op, value)])


def samples(body: Any) -> Iterator[str]:
    """Yield texts that a body takes: one of its shortest, and a few by letters it may have."""
    yield sample(list(body))
    items = list(body)
    if len(items) == 1 and items[0][0] in SINGLE:
        yield from [one for one in COMMON if takes(*items[0], one, 0)][:4]


def sample(items: list[Any]) -> str:
    """Return a short text that nodes take, as far as that is easily said."""
    made = ""
    for op, value in items:
        if op is ops.LITERAL:
            made += chr(value)
        elif op in SINGLE:
            made += next((one for one in COMMON + "zZ9%#" if takes(op, value, one, 0)), "")
            if op is ops.IN and not made:
                made += next((chr(part) for kind, part in value if kind is ops.LITERAL), "")
        elif op in REPEATS:
            made += sample(list(value[2])) * max(value[0], int(value[0] == 0 and value[1] == 1))
        elif op is ops.SUBPATTERN:
            made += sample(list(value[-1]))
        elif op is ops.ATOMIC_GROUP:
            made += sample(list(value))
        elif op is ops.BRANCH:
            made += sample(list(value[1][0]))
    return made


def growth(
    *, pattern: re.Pattern[str], length: int, most: int, is_anchored: bool = False
) -> tuple[float, str]:
    """Return the worst growth when a text is twice as long, and of which text.

    2.0 is linear, 4.0 is the square. `is_anchored`: it is only asked at the first character. What
    seems to grow is measured once more on a text that is several times as long.
    """
    worst = 0.0, ""
    for before, pump, end in attacks(pattern=pattern):
        for longer in (1, LONGER):
            grown = _grown(pattern, (before, pump, end), longer * length, most, is_anchored)
            if grown < SUSPECT:
                break
        worst = max(worst, (grown, repr((before, pump, end))))
        if grown >= SUSPECT:
            break
    return worst


def _grown(
    pattern: re.Pattern[str], attack: tuple[str, str, str], length: int, most: int, anchored: bool
) -> float:
    before, pump, end = attack
    first, second = (
        steps(
            pattern=pattern,
            text=f"{before}{pump * (size // len(pump) + 1)}{end}",
            most=most,
            is_anchored=anchored,
        )
        for size in (length, 2 * length)
    )
    return FAR if second >= most else second / max(first, 1)
