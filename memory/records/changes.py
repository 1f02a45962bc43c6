"""How a statement changes an earlier one about the same thing, by words alone.

An embedder says that two statements are near; it hardly sees that “before” became “after”. So two
near ones are laid beside each other. What both say is their frame. It must hold most of the shorter
one, and where a sentence names its subject before its verb, the subjects must agree: the same said
of something else changes nothing. Within a frame these are changes, the first that holds:

1. a number became another of the same unit, or beside the same word, and all else is nearly equal;
2. a word became its opposite: of a closed class (`tables/changes.toml`), by a prefix, or an antonym
   of WordNet (`tables/antonyms.txt`); or one of the two is denied. Both at once say the same again;
3. two things changed places around “over”, “before”, “not” and the like, or with each other;
4. one name became another where all else is equal and both have the same subject, unless the
   statement denies: two things that are both ruled out do not contradict. Other words that differ
   are taken for another wording.

With half a frame, a statement that announces a change (“no longer”, “replaced”, “as of”), where the
earlier one announces none, is a change as well, whatever its subject, but hardly a sure one. Of
another subject it never is.

It prefers to miss a change over inventing one. English and French. Of a longer text its beginning
is compared, so the cost is bounded.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from functools import cache
from itertools import product
from pathlib import Path
from typing import Final, NamedTuple

from accounts.messages import message
from memory.entities.rules import CANONICAL
from memory.records import restatements, statement_clauses, statement_words
from memory.records.statement_words import ParsedStatement, Part, Token

FRAME: Final = 0.6  # of the shorter statement's words that both have; by bench_changes
LOOSE_FRAME: Final = 0.5  # for an announced change
TIGHT_FRAME: Final = 0.7  # for opposites
DENIED_FRAME: Final = 0.75  # for what is denied
CLOSE_FRAME: Final = 0.9  # beside a value that no word announces; chosen on two labelled sets
MOST_REPLACED: Final = 3  # words of a run that became another
MOST_OTHER: Final = 1  # words that either has for itself, where one is denied
MOST_LOOSE: Final = 3  # words that only one has, beside such a run

_FOLDER: Final = Path(__file__).with_name("tables")
_TIMES: Final = frozenset({"ms", "s", "min", "h", "d"})
_PREFIXES: Final = ("non", "un", "dé", "dés")  # “in”, “im” and “dis” also begin other words


class Kind(StrEnum):
    """What changed."""

    VALUE = "value"
    OPPOSITE = "opposite"
    DENIAL = "denial"
    ORDER = "order"
    ANNOUNCED = "announced"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """How a statement changes an earlier one: what it says, and what was said there before.

    `is_announced`: its words tell that something was otherwise before. `is_certain`: it says so of
    what the earlier one says, so that this is not true any more.
    """

    kind: Kind
    old: str = ""
    new: str = ""
    is_announced: bool = False
    is_certain: bool = False

    @property
    def description(self) -> str:
        """What differs, as a message for people."""
        if self.kind is Kind.DENIAL:
            return message("One denies what the other says.")
        if self.kind is Kind.ANNOUNCED:
            return message("It announces a change: “{words}”.", words=self.new)
        if self.kind is Kind.ORDER:
            return message("It turns the order around: {old} / {new}.", old=self.old, new=self.new)
        return message("It differs in the value: {old} / {new}.", old=self.old, new=self.new)


class _Frame(NamedTuple):
    """What two statements share, and the words that only one of them has."""

    shared: frozenset[str]
    only_old: frozenset[str]
    only_new: frozenset[str]
    size: float  # share of the shorter one's words


def compare(*, old: ParsedStatement, new: ParsedStatement) -> Change | None:
    """Return how a statement changes an earlier near one; None where both can be true.

    Rows of a table with other labels are about other things.
    """
    if old.label and new.label and old.label != new.label:
        return None
    frame = _frame(old, new)
    is_announced = bool(new.announcements) and not old.announcements
    found = _framed_change(old, new, frame) if frame.size >= FRAME else None
    if found is None or not (is_announced or _is_close(frame, *found)):
        return _announced_change(old, new, frame) if is_announced else None
    kind, before, after = found
    return Change(
        kind=kind,
        old=_as_written(old, before),
        new=_as_written(new, after),
        is_announced=is_announced,
        is_certain=is_announced,
    )


def _is_close(frame: _Frame, kind: Kind, before: str, after: str) -> bool:
    """Say whether only one of two statements has words of its own, beside a value.

    Where each has some, it may be about a thing of its own: the port of another service.
    """
    if kind is not Kind.VALUE:
        return True
    only_old, only_new = frame.only_old - {*before.split()}, frame.only_new - {*after.split()}
    both = len(frame.shared) + min(len(only_old), len(only_new))
    return len(frame.shared) >= CLOSE_FRAME * both


def _announced_change(old: ParsedStatement, new: ParsedStatement, frame: _Frame) -> Change | None:
    """Return a change that is told only by words of change, of half a frame."""
    if frame.size < LOOSE_FRAME or not frame.only_new:
        return None
    said = min(new.announcements, key=lambda one: (new.text.lower().find(one), one))
    is_of_another = all(_other_subjects(old, new, frame))
    is_certain = frame.size >= FRAME and not is_of_another and _ends(old, new, said)
    return Change(kind=Kind.ANNOUNCED, new=said, is_announced=True, is_certain=is_certain)


def _as_written(statement: ParsedStatement, keys: str) -> str:
    """Return words of a statement as they were written, in small letters, by their keys."""
    written = {one.key: one.word for one in statement.tokens}
    return " ".join(written.get(key, key) for key in keys.split())


def adds_nothing(*, old: str, new: str) -> bool:
    """Say whether a text says no more than another one: its words in their order, or fewer.

    Only then may it be left out for the other's sake where the two are not the same.
    """
    words, known = restatements.telling_words(text=new), restatements.telling_words(text=old)
    if words == known:
        return True
    rest = iter(known)
    is_part = all(word in rest for word in words if word.lower() not in statement_words.SMALL)
    if not is_part or max(len(old), len(new)) > statement_words.LONGEST:
        return False
    left, right = statement_words.read(text=old), statement_words.read(text=new)
    denied = [sum(one.part is Part.NEGATOR for one in each.tokens) for each in (left, right)]
    is_same = denied[0] == denied[1] and left.scopes == right.scopes
    return is_same and compare(old=left, new=right) is None


def difference(*, old: str, new: str) -> str:
    """Return what differs between two texts as a message, empty where words find nothing."""
    change = compare(old=statement_words.read(text=old), new=statement_words.read(text=new))
    return "" if change is None else change.description


def _frame(old: ParsedStatement, new: ParsedStatement) -> _Frame:
    """Return what two statements share; a word and its short form are one."""
    only_old = _without_forms(old.words - new.words, new.words)
    only_new = _without_forms(new.words - old.words, old.words)
    shared = old.words - only_old
    shorter = min(len(old.words), len(new.words))
    return _Frame(shared, only_old, only_new, len(shared) / shorter if shorter else 0.0)


def _without_forms(words: frozenset[str], others: frozenset[str]) -> frozenset[str]:
    by_beginning: defaultdict[str, list[str]] = defaultdict(list)
    for other in others:
        by_beginning[other[:4]].append(other)
    return frozenset(
        word
        for word in words
        if not any(_is_form_of(word, other) for other in by_beginning[word[:4]])
    )


def _is_form_of(left: str, right: str) -> bool:
    """Say whether one is the other, shortened; names are not: Java and JavaScript."""
    if (CANONICAL.keys() | statement_clauses.PROTOCOLS) & {left, right}:
        return False
    return min(len(left), len(right)) >= 4 and (left.startswith(right) or right.startswith(left))


def _framed_change(
    old: ParsedStatement, new: ParsedStatement, frame: _Frame
) -> tuple[Kind, str, str] | None:
    """Return what changed within a frame, before and after; None where nothing surely did."""
    opposite = _opposite(old, new, frame)
    is_of_another = all(_other_subjects(old, new, frame)) or old.scopes != new.scopes
    if not is_of_another:
        number = _changed_number(old, new, frame)
        if number is not None:
            return number
        denial = _changed_denial(old, new, frame, opposite)
        if denial is not None:
            return denial
        around = _swapped_around(old, new)
        if around is not None:
            return Kind.ORDER, *around
    return _rearranged(old, new, is_of_another)


def _other_subjects(
    old: ParsedStatement, new: ParsedStatement, frame: _Frame
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words of each subject that the other has nowhere: they are about two things."""
    return old.subject & frame.only_old, new.subject & frame.only_new


def _changed_number(
    old: ParsedStatement, new: ParsedStatement, frame: _Frame
) -> tuple[Kind, str, str] | None:
    """Return a number of the old one that the new one lacks, and the other way round.

    Not where each names something else: then the number may be of that.
    """
    if old.names & frame.only_old and new.names & frame.only_new:
        return None
    before, after = _numbers(old), _numbers(new)
    gone, come = before.keys() - after.keys(), after.keys() - before.keys()
    for number, other in product(sorted(gone), sorted(come)):
        (value, unit), (other_value, other_unit) = number, other
        is_alike = unit == other_unit or {unit, other_unit} <= _TIMES
        if is_alike and (unit or before[number] & after[other]):
            return Kind.VALUE, f"{value} {unit}".strip(), f"{other_value} {other_unit}".strip()
    return None


def _numbers(statement: ParsedStatement) -> Mapping[tuple[str, str], frozenset[str]]:
    """Return by number and unit the words that stand beside it."""
    found: dict[tuple[str, str], frozenset[str]] = {}
    tokens = statement.tokens
    for place, one in enumerate(tokens):
        if one.part is Part.NUMBER:
            behind = tokens[place + 1 : place + 4]
            unit = behind[0].key if behind and behind[0].part is Part.UNIT else ""
            found[one.key, unit] = statement_words.words_of(
                tokens=(*tokens[max(0, place - 3) : place], *behind)
            )
    return found


def _opposite(old: ParsedStatement, new: ParsedStatement, frame: _Frame) -> tuple[str, str] | None:
    """Return a word that only the old one has and its opposite that only the new one has."""
    poles = [{one.word for one in each.tokens if one.part is Part.POLE} for each in (old, new)]
    before = sorted(frame.only_old | (poles[0] - poles[1]))
    after = sorted(frame.only_new | (poles[1] - poles[0]))
    pairs = ((word, other) for word in before for other in after)
    return next((pair for pair in pairs if _are_opposite(*pair)), None)


def _are_opposite(word: str, other: str) -> bool:
    if word in statement_words.POLES and other in statement_words.POLES:
        (name, place), (other_name, other_place) = (
            statement_words.POLES[word],
            statement_words.POLES[other],
        )
        return name == other_name and place != other_place
    if other in _antonyms().get(word, frozenset()):
        return True
    shorter, longer = sorted((word, other), key=len)
    return len(shorter) > 3 and any(longer == prefix + shorter for prefix in _PREFIXES)


@cache
def _antonyms() -> Mapping[str, frozenset[str]]:
    """Return the antonyms of WordNet by stem, read at first use."""
    found: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
    for line in (_FOLDER / "antonyms.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            word, other = (statement_clauses.stem(word=one) for one in line.split())
            found[word] |= {other}
            found[other] |= {word}
    return dict(found)


def _changed_denial(
    old: ParsedStatement, new: ParsedStatement, frame: _Frame, opposite: tuple[str, str] | None
) -> tuple[Kind, str, str] | None:
    """Return an opposite or a denial; an opposite that is denied says the same again."""
    denied = tuple(_is_denied(each, frame.shared) for each in (old, new))
    is_flipped = denied[0] != denied[1]
    if opposite is not None:
        # “must not” against “may”
        is_duty = statement_words.POLES.get(opposite[0], ("",))[0] == "obligation"
        is_other = frame.size >= TIGHT_FRAME and (is_duty or not is_flipped)
        return (Kind.OPPOSITE, *opposite) if is_other else None
    is_same = max(len(frame.only_old), len(frame.only_new)) <= MOST_OTHER
    is_denied = frame.size >= DENIED_FRAME and is_flipped
    return (Kind.DENIAL, "", "") if is_denied and is_same else None


def _is_denied(statement: ParsedStatement, shared: frozenset[str]) -> bool:
    """Say whether an odd number of words denies, one of the next two of which both texts have."""
    count = 0
    for place in _denials(statement.tokens):
        behind = [one.key for one in statement.tokens[place + 1 :] if one.part is Part.WORD][:2]
        count += not behind or not shared.isdisjoint(behind)
    return count % 2 == 1


def _denials(tokens: tuple[Token, ...]) -> list[int]:
    """Return where words deny: “nor” only without another one, the French “plus” behind “ne”."""
    found = [n for n, one in enumerate(tokens) if one.word in statement_words.NEGATORS]
    linked = [n for n, one in enumerate(tokens) if one.word in statement_words.LINKED]
    words = [one.word for one in tokens]
    if "plus" in words and not {"ne", "n"}.isdisjoint(words):
        found.append(words.index("plus"))
    return found or linked[:1]


def _rearranged(
    old: ParsedStatement, new: ParsedStatement, is_of_another: bool
) -> tuple[Kind, str, str] | None:
    """Return what changed places, or the one run of words that became another."""
    runs, loose = _replaced_runs(old, new)
    if not runs or loose > MOST_LOOSE:
        return None
    first, *others = runs
    said, says = " ".join(first.before), " ".join(first.after)
    if [(one.after, one.before) for one in others] == [(first.before, first.after)]:
        return Kind.ORDER, said, says
    is_of_another = is_of_another or not _have_one_subject(old, new)
    may_be = _is_new(first, old, new) and _may_be_other(old, new, first, is_of_another)
    return (Kind.VALUE, said, says) if may_be and _is_one(runs) else None


class _Run(NamedTuple):
    """Words that became others, and the token of the old statement at which they begin."""

    start: int
    before: tuple[str, ...]
    after: tuple[str, ...]


def _replaced_runs(old: ParsedStatement, new: ParsedStatement) -> tuple[list[_Run], int]:
    """Lay two statements beside each other; return runs that differ, and how many words are loose.

    Small words are left aside. By the longest common blocks (Ratcliff and Metzener 1988).
    """
    places, before = _telling_tokens(old)
    _, after = _telling_tokens(new)
    runs, loose = [], 0
    laid = SequenceMatcher(None, before, after, autojunk=False)
    for step, start, end, begin, stop in laid.get_opcodes():
        run = _Run(places[min(start, len(places) - 1)], before[start:end], after[begin:stop])
        if step == "replace" and not _is_other_form(run):
            runs.append(run)
        elif step in {"insert", "delete"}:
            loose += len(run.before) + len(run.after)
    return runs, loose


def _telling_tokens(statement: ParsedStatement) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the places and the keys of all but the small words."""
    places = tuple(n for n, one in enumerate(statement.tokens) if one.part is not Part.SMALL)
    return places, tuple(statement.tokens[place].key for place in places)


def _is_other_form(run: _Run) -> bool:
    before, after = (
        "".join(filter(str.isalnum, "".join(side))) for side in (run.before, run.after)
    )
    is_word = len(run.before) == len(run.after) == 1
    return before == after or (is_word and _is_form_of(*run.before, *run.after))


def _is_one(runs: list[_Run]) -> bool:
    """Say whether all runs are the first one, again or inside of a word: `redis`, `REDIS_URL`."""
    first, *others = runs
    for other in others:
        is_again = other[1:] == first[1:]
        parts = " ".join(other.before)
        if not is_again and not any(word in parts for word in first.before):
            return False
    return True


def _is_new(run: _Run, old: ParsedStatement, new: ParsedStatement) -> bool:
    """Say whether a run is short, and neither side of it stands elsewhere in the other text."""
    said, says = ({one.key for one in each.tokens} for each in (old, new))
    is_short = max(len(run.before), len(run.after)) <= MOST_REPLACED
    return is_short and says.isdisjoint(run.before) and said.isdisjoint(run.after)


def _may_be_other(
    old: ParsedStatement, new: ParsedStatement, run: _Run, is_of_another: bool
) -> bool:
    """Say whether a run tells what is said of a subject, and its clause denies nothing.

    What begins a statement is its subject, unless there can be only one: “X is the store”.
    """
    if all(one.part is Part.SMALL for one in old.tokens[: run.start]):
        is_one = statement_words.PATTERNS["identity"].match(old.text) is not None
        return is_one and old.scopes == new.scopes
    if is_of_another or any(map(statement_words.NUMBER.fullmatch, run.before)):
        return False  # a number beside a name may be of what is named
    clause = old.tokens[run.start].clause
    denied = {one.word for one in old.tokens if one.clause == clause}.union(run.before, run.after)
    has_names = old.names & {*run.before} and new.names & {*run.after}
    return bool(has_names) and denied.isdisjoint(statement_words.NEGATORS)


def _have_one_subject(old: ParsedStatement, new: ParsedStatement) -> bool:
    """Say whether both name the same subject, or begin with the same pronoun.

    Where none is seen, in commands and parts of lists, 9 of 19 names were of something else.
    """
    if old.subject or new.subject:
        return old.subject == new.subject
    first = old.tokens[0].word
    return first in statement_words.PRONOUNS and first == new.tokens[0].word


def _swapped_around(old: ParsedStatement, new: ParsedStatement) -> tuple[str, str] | None:
    """Return what stands on either side of a word, where the two have changed places."""
    for between in sorted(statement_words.BETWEEN):
        sides = [_sides(each, between) for each in (old, new)]
        if all(sides):
            (left, right), (now_left, now_right) = sides
            near, far = left[-1], right[0]
            has_moved = near in now_right and far in now_left and now_left[-1] in right
            if has_moved and near not in now_left and far not in now_right:
                return f"{near} {between} {far}", f"{now_left[-1]} {between} {now_right[0]}"
    return None


def _sides(statement: ParsedStatement, between: str) -> tuple[tuple[str, ...], ...]:
    """Return the words before and behind one that occurs once, nothing where a side is empty."""
    places = [n for n, one in enumerate(statement.tokens) if one.word == between]
    if len(places) != 1:
        return ()
    parts = (statement.tokens[: places[0]], statement.tokens[places[0] + 1 :])
    sides = tuple(
        tuple(one.key for one in part if one.part in {Part.WORD, Part.NUMBER}) for part in parts
    )
    return sides if all(sides) else ()


def _ends(old: ParsedStatement, new: ParsedStatement, said: str) -> bool:
    """Say whether an announcement ends something of which the earlier statement speaks.

    That is what the two words behind it or before it name: “replaced X with Y”, “X was retired”.
    """
    start = new.text.lower().find(said)
    behind = new.text[start:][:80]
    if statement_words.PATTERNS["ends"].search(behind) is None:
        return False
    parts = (
        statement_words.read(text=behind[len(said) :]),
        statement_words.read(text=new.text[max(0, start - 80) : start]),
    )
    after, before = (
        [one.key for one in part.tokens if one.part in {Part.WORD, Part.NUMBER}] for part in parts
    )
    known = old.words | {one.key for one in old.tokens if one.part is Part.NUMBER}
    return not known.isdisjoint((*after[:2], *before[-2:]))
