"""From turns of a conversation to candidates, by words alone.

The extractor of the mode `heuristic`, and what stands in where a model fails. It prefers silence:
a sentence becomes a candidate only with a cue, in the words of somebody whose word it is, and only
where it is neither talk nor a plan and can be read alone. What a person corrects outranks what
their agent said before: of an agent's turn that is answered with “no”, nothing is kept.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from memory.entities import rules as entities_rules
from memory.entities.rules import EntityKind
from memory.extraction import chatter, statements
from memory.records import assertions, changes, restatements
from memory.sessions.turns import Speaker, SpokenSentence, Turn, own_words
from memory.taxonomy import MemoryType
from memory.text import passages
from memory.text import text as texts

# A sentence of a conversation as it can be stored: read alone, in the third person.
#
# What leads into it in a talk is left out (“No, …”, “Remember that …”), and who says “I prefer”
# becomes “the user”, since a memory is read by others.

_FIRST_PERSON = (
    (
        re.compile(
            r"^i(?:'d| would)? (?:really |strongly |much )?(prefer|like|hate|dislike)\b", re.I
        ),
        r"The user \1s",
    ),
    (re.compile(r"^i (always|never|usually) (want|use|write)\b", re.I), r"The user \1 \2s"),
    (re.compile(r"^i (work)\b", re.I), r"The user \1s"),
    (
        re.compile(
            r"^(?:I'm|I am|i'm|i am) (?=[A-Z][a-zé]+(?:,| from| on| and)"
            r"|(?:the|an?) [\w -]{0,40}\b(?:lead|engineer|developer|dev|manager|designer"
            r"|maintainer|owner|founder|architect|analyst)\b)"
        ),
        "The user is ",
    ),
    (re.compile(r"^my name is\b", re.I), "The user's name is"),
    (
        re.compile(r"^i(?:'d like| would like| want) (?=(?:the|a|an|all|each|every|our)\b)", re.I),
        "The user wants ",
    ),
)
_DAY = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)")
_AGO = ((re.compile(r"\byesterday\b|\bhier\b", re.I), 1), (re.compile(r"\blast week\b", re.I), 7))


def bare(*, text: str) -> str:
    """Return a sentence without what leads into it in a talk, as it is stored."""
    said = chatter.PATTERNS["opening"].sub("", text.strip())
    said = chatter.PATTERNS["asked_to_keep"].sub("", said).strip()
    said = chatter.PATTERNS["opening"].sub("", said)
    for pattern, told in _FIRST_PERSON:
        said = pattern.sub(told, said)
    if not said:
        return ""
    first = said.split(maxsplit=1)[0]  # a name of code keeps its spelling
    is_name = any(sign in first for sign in "_./`@") or not first.strip(",.;:").islower()
    return said[0].upper() + said[1:] if said[0].islower() and not is_name else said


def _after_problem(problem: str, fix: str, found: re.Match[str]) -> str:
    """Return what was mended, and how, without who did it; empty where the first is no problem."""
    if chatter.PATTERNS["problem"].search(problem) is None:
        return ""
    done = found["done"]
    return f"{problem} It was {done.lower()} by{fix[found.end() :]}" if done else f"{problem} {fix}"


def files_in(*, text: str) -> tuple[str, ...]:
    """Return the paths that a text names."""
    spans = entities_rules.find_entities(text=text)
    return tuple(dict.fromkeys(one.text for one in spans if one.kind is EntityKind.PATH))


def event_of(*, text: str, said_at: datetime | None) -> datetime | None:
    """Return when what a text tells happened: a date in it, or a day before it was said."""
    if said_at is None:
        return None
    if day := _DAY.search(text):
        try:
            return said_at.replace(
                year=int(day.group(1)), month=int(day.group(2)), day=int(day.group(3))
            )
        except ValueError:
            return None
    days = next((count for pattern, count in _AGO if pattern.search(text)), None)
    return None if days is None else said_at - timedelta(days=days)


LONGEST = 600  # characters of a candidate; default, not measured
SHORTEST = 20  # characters
MOST_A_TURN = 6  # candidates, the first of a turn; default, not measured
LONGEST_TURN = 40  # sentences of a person's turn that are read; a longer one is a document; default
CONTEXT = 40  # sentences before one that may complete it; default, not measured
CERTAIN = 0.6  # of what a cue marks; default, not measured
GUESSED = 0.4  # of what a weak cue marks, until somebody says more; default, not measured
MOST_WORDS_OF_AN_ANSWER = 4  # default, not measured
SHARED = 2  # words of substance that a correction has of what it corrects; default, not measured
RELATED = 0.25  # Jaccard from which two statements may be about the same; default, not measured

_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|does|do|did|can|must|should|need|use|run|go|come|belong"
    r"|mean|return|take|work|hold|own|stay|deploy|est|sont|a|ont|utilise|utilisons|tourne|doit"
    r"|passe|vient|[a-z]{3,}s)\b|n't\b|'(?:re|s|ve)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One atomic statement that may become a memory, said in a line of a turn.

    `importance` and `certainty` are 0..1. `is_asked`: a person asked to keep it, in so many words.
    """

    content: str
    type: MemoryType
    turn: int
    line: int
    speaker: Speaker
    files: tuple[str, ...] = ()
    event_at: datetime | None = None
    importance: float = 0.5
    certainty: float = CERTAIN
    is_asked: bool = False


def extract(*, turns: tuple[Turn, ...]) -> tuple[Candidate, ...]:
    """Return the candidates of a conversation in the order in which they were said."""
    found: list[Candidate] = []
    heard: dict[Speaker, tuple[str, ...]] = {}
    for turn in turns:
        whole = own_words(turn=turn)
        poisoned = _poisoned(whole)  # also by what is cut off
        said = whole[:LONGEST_TURN] if turn.speaker is Speaker.USER else whole
        other = Speaker.ASSISTANT if turn.speaker is Speaker.USER else Speaker.USER
        of_turn = (
            *_answer(turn, said, heard.get(other, ())),
            *_of_turn(turn, said, heard.get(other, ()), poisoned),
        )
        if len(whole) > len(said):  # nobody asks for anything by what they paste
            of_turn = tuple(replace(one, is_asked=False) for one in of_turn)
        if turn.speaker is Speaker.USER:
            found = _without_refuted(found, turn)
        found.extend(of_turn[:MOST_A_TURN])
        heard[turn.speaker] = tuple(
            one.text for one in said[-CONTEXT:] if one.paragraph not in poisoned
        )
    return without_twins(candidates=tuple(found))


def unread(*, turns: tuple[Turn, ...]) -> int:
    """Count the sentences of persons' turns behind those that `extract` reads."""
    lengths = (len(own_words(turn=one)) for one in turns if one.speaker is Speaker.USER)
    return sum(max(0, length - LONGEST_TURN) for length in lengths)


def firsthand_turns(*, turns: tuple[Turn, ...]) -> frozenset[int]:
    """Return the turns that are a person's own word, by their sequences.

    None is a document, nor told by a client, which may say what it likes of a person.
    """
    persons = (one for one in turns if one.speaker is Speaker.USER and one.is_of_program)
    return frozenset(one.sequence for one in persons if not unread(turns=(one,)))


def without_twins(*, candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """Leave out what says the same as an earlier one, and what a later one takes back."""
    kept: list[Candidate] = []
    for candidate in candidates:
        twin = next(
            (one for one in kept if restatements.restates(old=one.content, new=candidate.content)),
            None,
        )
        if twin is None:
            kept = [one for one in kept if not _replaces(candidate, one)]
            kept.append(candidate)
        elif candidate.speaker is Speaker.USER and twin.speaker is not Speaker.USER:
            kept[kept.index(twin)] = candidate
    return tuple(kept)


def _answer(
    turn: Turn, said: tuple[SpokenSentence, ...], other: tuple[str, ...]
) -> Iterator[Candidate]:
    """Yield a question of the agent with its short answer, which say together what was decided."""
    question = statements.SaidBefore(other=other).question
    if (
        turn.speaker is not Speaker.USER
        or not said
        or not chatter.PATTERNS["asks"].search(question)
    ):
        return
    text = said[0].text.strip()
    is_name = len(text.split()) <= MOST_WORDS_OF_AN_ANSWER and not statements.points_back(text=text)
    agrees = chatter.PATTERNS["agrees"].match(text)
    if agrees or (is_name and len(said) == 1 and text.replace(" ", "").rstrip(".").isalnum()):
        yield Candidate(
            content=f"{question} {text[0].upper()}{text[1:]}",
            type=MemoryType.DECISION,
            turn=turn.sequence,
            line=said[0].line,
            speaker=turn.speaker,
            files=files_in(text=question),
            certainty=GUESSED,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where a sentence stands: its turn, what was said before it, and what sort of talk it is."""

    turn: Turn
    before: statements.SaidBefore
    is_rejecting: bool  # the sentence before was a bare “no”

    @property
    def is_agent(self) -> bool:
        """Whether an agent speaks."""
        return self.turn.speaker is Speaker.ASSISTANT


def _of_turn(
    turn: Turn,
    said: tuple[SpokenSentence, ...],
    other: tuple[str, ...],
    poisoned: frozenset[int],
) -> Iterator[Candidate]:
    own: tuple[str, ...] = ()
    is_rejecting = False
    for one in said:
        if one.paragraph in poisoned:
            own = ()
            continue
        before = statements.SaidBefore(own=own, other=other)
        place = _Place(turn=turn, before=before, is_rejecting=is_rejecting)
        candidate = _candidate(one, place)
        if candidate is not None:
            yield candidate
        is_rejecting = _rejects(one.text) and not chatter.has_substance(text=bare(text=one.text))
        own = (*own[1 - CONTEXT :], one.text)


def _poisoned(said: tuple[SpokenSentence, ...]) -> frozenset[int]:
    """Return the paragraphs that speak to the machine."""
    return frozenset(one.paragraph for one in said if chatter.speaks_to_the_machine(text=one.text))


def _rejects(text: str) -> bool:
    return chatter.PATTERNS["rejection"].match(text.strip()) is not None


def _candidate(said: SpokenSentence, place: _Place) -> Candidate | None:
    content = bare(text=said.text)
    if not content or chatter.is_talk(text=content, is_agent=place.is_agent):
        return None
    opened = chatter.PATTERNS["opening"].sub("", said.text.strip())
    is_asked = bool(chatter.PATTERNS["asked_to_keep"].match(opened)) and not place.is_agent
    typed = _typed(said.text, content, place, is_asked=is_asked)
    if typed is None:
        return None
    type, is_guess = typed
    content = _alone(content, type, place)
    if not SHORTEST <= len(content) <= LONGEST:
        return None
    return Candidate(
        content=content,
        type=type,
        turn=place.turn.sequence,
        line=said.line,
        speaker=place.turn.speaker,
        files=files_in(text=content),
        event_at=event_of(text=content, said_at=place.turn.at),
        importance=0.6 if is_asked or type is MemoryType.CORRECTION else 0.5,
        certainty=GUESSED if is_guess else CERTAIN,
        is_asked=is_asked,
    )


def _typed(
    text: str, content: str, place: _Place, *, is_asked: bool
) -> tuple[MemoryType, bool] | None:
    """Return what a sentence is, and whether that is a guess; None for one that states nothing."""
    opened = chatter.PATTERNS["opening"].sub("", text.strip())
    marked = chatter.cue_in(speaker=place.turn.speaker, texts=(content, opened, text.strip()))
    if _is_passing(content, marked, place):
        return None
    asserts = _VERB.search(content) is not None or not content.isascii()
    if place.is_agent or not asserts:
        return marked
    if place.is_rejecting or _rejects(text):
        is_report = chatter.PATTERNS["report"].search(content) is not None
        return None if is_report else (MemoryType.CORRECTION, False)
    return marked or ((MemoryType.FACT, False) if is_asked else None)


def _is_passing(content: str, marked: tuple[MemoryType, bool] | None, place: _Place) -> bool:
    """Say whether a marked sentence reports what is so now, or an agent's error without a cure."""
    type = marked[0] if marked else None
    if type is MemoryType.REQUIREMENT:
        return chatter.PATTERNS["reports"].search(content) is not None
    is_error = place.is_agent and type in {MemoryType.ERROR_PATTERN, MemoryType.GOTCHA}
    return is_error and chatter.PATTERNS["remedy"].search(content) is None


def _alone(content: str, type: MemoryType, place: _Place) -> str:
    """Return a sentence as it can be read alone; empty if that cannot be.

    One that points back has the sentence before in front of it, or is completed from what the
    other side said.
    """
    if not chatter.has_substance(text=content):
        return ""
    lacks = chatter.PATTERNS["fix_of_what"].match(content)
    is_tail = chatter.PATTERNS["tail"].match(content) is not None
    if not (lacks or is_tail or passages.is_continuation(text=content)):
        tells_cause = type in {MemoryType.FIX, MemoryType.ERROR_PATTERN}
        return statements.complete(text=content, before=place.before, tells_cause=tells_cause)
    first = bare(text=place.before.own[-1]) if place.before.own else ""
    if first and _is_whole(first, place):
        return _after_problem(first, content, lacks) if lacks else f"{first} {content}"
    return "" if lacks else statements.complete(text=content, before=place.before)


def _is_whole(text: str, place: _Place) -> bool:
    """Say whether a sentence states something and can be read alone."""
    patterns = chatter.PATTERNS
    if chatter.is_talk(text=text, is_agent=place.is_agent) or patterns["fix_of_what"].match(text):
        return False
    states = any(patterns[name].search(text) for name in ("states", "tells", "problem"))
    alone = statements.complete(text=text, before=statements.SaidBefore())
    return states and alone == text and chatter.has_substance(text=text)


def _without_refuted(found: list[Candidate], turn: Turn) -> list[Candidate]:
    """Leave out what the agent said in the turn before one that begins with a “no”."""
    last = max((one.turn for one in found if one.turn < turn.sequence), default=-1)
    if not _rejects(turn.text) or last < turn.sequence - 2:
        return found
    return [one for one in found if one.turn != last or one.speaker is not Speaker.ASSISTANT]


def _replaces(new: Candidate, old: Candidate) -> bool:
    """Say whether a later statement of at least equal weight says otherwise than an earlier one."""
    if new.speaker is Speaker.ASSISTANT and old.speaker is Speaker.USER:
        return False
    left = texts.content_words(text=old.content)
    right = texts.content_words(text=new.content)
    if new.type is MemoryType.CORRECTION and len(left & right) >= SHARED:
        return True
    if assertions.jaccard(left=left, right=right) < RELATED:
        return False
    return changes.difference(old=old.content, new=new.content) != ""
