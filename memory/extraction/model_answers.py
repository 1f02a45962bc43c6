"""What models are asked, and what they answered, checked one by one.

Nothing is taken on trust: a candidate names a turn that was shown, says what that turn says in
mostly the same words, has the length of a statement and one of the types. What fails is dropped and
counted by its reason, never mended and never stored half.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from pydantic import BaseModel, FiniteFloat, ValidationError

from memory.extraction import chatter
from memory.extraction.extract import LONGEST, SHORTEST, Candidate, without_twins
from memory.intake import echoes_and_alarms
from memory.intake.integrate import Judged, Relation
from memory.records import assertions
from memory.records.assertions import Difference
from memory.secrets import scanner
from memory.sessions import turns as spoken
from memory.sessions.turns import Speaker, Turn
from memory.taxonomy import MemoryType
from memory.text import text as texts

# The shapes of answers: what a model is asked for, and what is taken of it. What comes back must
# at least be a list of objects (`ModelQuestion.accepts`); each of them is then checked alone, so
# one that is wrong does not cost the others.

MOST: Final = 40  # candidates an answer; default, not measured
CERTAINTY: Final = 0.7  # of what a model wrote down, before a person looked; default, not measured
KEPT_TYPES: Final = tuple(  # what a conversation can teach; the others are made in other ways
    type.value
    for type in MemoryType
    if type
    not in {
        MemoryType.EPISODE,
        MemoryType.REFLECTION,
        MemoryType.CHAIN_OF_COMMAND,
        MemoryType.PREFETCH_PATTERN,
        MemoryType.TASK_CALIBRATION,
        MemoryType.CONTEXT_COST,
        MemoryType.WORK_UNIT_OUTCOME,
    }
)
SYNTHESIZED: Final = (  # what the sums of a module can teach
    MemoryType.CAUSAL_DEPENDENCY.value,
    MemoryType.ERROR_PATTERN.value,
    MemoryType.GOTCHA.value,
    MemoryType.MODULE_INSIGHT.value,
    MemoryType.PREFETCH_PATTERN.value,
    MemoryType.TASK_CALIBRATION.value,
)
JUDGED: Final[Mapping[str, Relation]] = {
    "update": Relation.UPDATE,
    "contradicts": Relation.CONTRADICT,
    "extend": Relation.EXTEND,
    "derive": Relation.DERIVE,
    "none": Relation.NEW,
}
_TEXT: Final = {"type": "string"}
_NUMBER: Final = {"type": "integer"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelQuestion:
    """A question to a model: its prompt, the list that answers it, and what each entry has."""

    prompt: str
    answer: str
    fields: Mapping[str, object]

    @property
    def schema(self) -> dict[str, object]:
        """The schema that is asked for: objects with all of these fields and no others."""
        item = {
            "type": "object",
            "properties": self.fields,
            "required": [*self.fields],
            "additionalProperties": False,
        }
        entries = {self.answer: {"type": "array", "items": item}}
        return {**self.accepts, "properties": entries, "additionalProperties": False}

    @property
    def accepts(self) -> dict[str, object]:
        """The schema that an answer must fit at least: a list of whatever."""
        entries = {self.answer: {"type": "array"}}
        return {"type": "object", "properties": entries, "required": [self.answer]}

    def rules(self, *, nonce: str) -> str:
        """Return the text of the prompt, with the mark that data stands between."""
        text = (Path(__file__).parent / f"prompts/{self.prompt}.md").read_text(encoding="utf-8")
        return text.replace("{nonce}", nonce)


EXTRACT: Final = ModelQuestion(
    prompt="extract",
    answer="memories",
    fields={
        "turn": _NUMBER,
        "text": _TEXT,
        "type": {"type": "string", "enum": [*KEPT_TYPES]},
        "importance": {"type": "number"},
        "files": {"type": "array", "items": _TEXT},
        "event_time": {"type": ["string", "null"]},
    },
)
RELATE: Final = ModelQuestion(
    prompt="relate",
    answer="relations",
    fields={
        "pair": _NUMBER,
        "relation": {"type": "string", "enum": [*JUDGED]},
        "certainty": {"type": "number"},
    },
)
PHRASE: Final = ModelQuestion(
    prompt="phrase", answer="phrases", fields={"signal": _NUMBER, "text": _TEXT}
)
SYNTHESIZE: Final = ModelQuestion(
    prompt="synthesize",
    answer="syntheses",
    fields={
        "facts": {"type": "array", "items": _NUMBER},
        "type": {"type": "string", "enum": [*SYNTHESIZED]},
        "text": _TEXT,
    },
)

# Turns as a model reads them: numbered, bounded, between two marks.
#
# What others wrote is data. It stands between two lines with a mark that nobody can have known
# before (`nonce`); what looks like the mark inside is taken out. Only people and their agents are
# shown, and of them only their own words: what a tool answered, what was quoted or pasted is not
# learned from, so it need not be read, and an instruction planted there reaches no model.
#
# The mode `hybrid` leaves out turns that are mere talk, and no others. A gate of words that looked
# for signs of value (an error, a decision, code, …) missed 8 of 23 turns worth keeping in foreign
# conversations; this one missed none of them, and 6 of 35 of a second set (`bench_foreign`).

MOST_TURNS: Final = 30  # a call
LONGEST_TURN: Final = 6_000  # characters of a turn in a call; default, not measured
LONGEST_CALL: Final = 40_000  # characters of all turns in a call; default, not measured
CUT: Final = " […] "
LEAST_WORDS: Final = 6  # of a sentence that is worth a call; default, not measured


def worth_asking(*, turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Return the turns that are more than talk, each with the one before it."""
    marked = {place for place, turn in enumerate(turns) if is_worth_asking(turn=turn)}
    wanted = marked | {place - 1 for place in marked if place}
    return tuple(turn for place, turn in enumerate(turns) if place in wanted)


def is_worth_asking(*, turn: Turn) -> bool:
    """Say whether a speaker states something in a turn that gives the machine no orders."""
    sentences = spoken.own_words(turn=turn)
    if any(chatter.speaks_to_the_machine(text=one.text) for one in sentences):
        return False
    is_agent = turn.speaker is Speaker.ASSISTANT
    return any(
        len(one.text.split()) >= LEAST_WORDS
        and chatter.has_substance(text=one.text)
        and not chatter.is_talk(text=one.text, is_agent=is_agent)
        for one in sentences
    )


def batches(*, turns: tuple[Turn, ...]) -> tuple[tuple[Turn, ...], ...]:
    """Cut a conversation into parts of at most 30 turns and so many characters, in order."""
    found: list[list[Turn]] = []
    length = 0
    for turn in turns:
        size = min(len(turn.text), LONGEST_TURN)
        if not found or len(found[-1]) >= MOST_TURNS or length + size > LONGEST_CALL:
            found.append([])
            length = 0
        found[-1].append(turn)
        length += size
    return tuple(tuple(batch) for batch in found)


def written(*, turns: tuple[Turn, ...], nonce: str) -> str:
    """Return the turns between their marks; empty when nobody says anything in them.

    Secrets are taken out of what somebody says: as it is read here, it may hold one that the turn
    hid between marks of emphasis.
    """
    told = tuple(line for turn in turns if (line := _line(turn, nonce)))
    if not told:
        return ""
    return "\n".join((f"<<<{nonce}", *told, f"{nonce}>>>"))


def _line(turn: Turn, nonce: str) -> str:
    if turn.speaker not in {Speaker.USER, Speaker.ASSISTANT}:
        return ""
    said = scanner.without_secrets(text=spoken.prose(turn=turn).replace(nonce, ""))
    if len(said) > LONGEST_TURN:
        half = (LONGEST_TURN - len(CUT)) // 2
        said = f"{said[:half]}{CUT}{said[-half:]}"
    return f"[turn {turn.sequence}] {turn.speaker.value}: {said}" if said.strip() else ""


# What a model wrote down of a conversation.

Cosines = Callable[[str, Sequence[str]], Sequence[float]]  # of a text with each of others

GROUNDED: Final = 0.6  # share of a candidate's words that its turn has too; default, not measured
# Of 65 foreign paraphrases in other words 49 are at least so close, of 56 statements that only
# look alike 13, before names, numbers and negations are compared.
MEANT: Final = 0.7  # cosine of all-minilm-l6-v2
MOST_FILES: Final = 8  # of a candidate; default, not measured
LONGEST_FILE: Final = 200  # characters of one; default, not measured


def read(
    *, data: Mapping[str, Any], turns: tuple[Turn, ...], cosines: Cosines | None = None
) -> tuple[tuple[Candidate, ...], Counter[str]]:
    """Return the candidates of an answer that hold, and how many were dropped for which reason.

    `cosines` compares a candidate in other words than its turn with the sentences of that turn.
    """
    shown = {turn.sequence: turn for turn in turns}
    listed = data["memories"]
    dropped: Counter[str] = Counter()
    found: list[Candidate] = []
    for entry in listed[:MOST]:
        checked = _checked(entry, shown, cosines)
        if isinstance(checked, str):
            dropped[checked] += 1
        else:
            found.append(checked)
    kept = without_twins(candidates=tuple(found))
    dropped["twin"] += len(found) - len(kept)
    dropped["too_many"] += max(0, len(listed) - MOST)
    return kept, +dropped


class _Extracted(BaseModel, strict=True):
    """A candidate as a model writes it."""

    turn: int
    text: str
    type: str
    importance: FiniteFloat = 0.5
    files: Any = None
    event_time: Any = None


def _checked(entry: Any, shown: Mapping[int, Turn], cosines: Cosines | None) -> Candidate | str:
    """Return a candidate, or the first thing that is wrong with it."""
    try:
        found = _Extracted.model_validate(entry)
    except ValidationError:
        return "shape"
    turn = shown.get(found.turn)
    if turn is None or turn.speaker not in {Speaker.USER, Speaker.ASSISTANT}:
        return "turn"
    content = " ".join(found.text.split())
    has_length = SHORTEST <= len(content) <= LONGEST and not texts.check_text(text=content)
    checks = (
        ("type", found.type in KEPT_TYPES),
        ("length", has_length),
        ("instruction", not chatter.speaks_to_the_machine(text=content)),
        ("ungrounded", _is_grounded(content, spoken.prose(turn=turn), cosines)),
    )
    fault = next((fault for fault, holds in checks if not holds), None)
    return fault or Candidate(
        content=content,
        type=MemoryType(found.type),
        turn=turn.sequence,
        line=1,
        speaker=turn.speaker,
        files=_files(found.files),
        event_at=_timestamp(found.event_time),
        importance=min(1.0, max(0.0, found.importance)),
        certainty=CERTAINTY,
    )


def _is_grounded(content: str, said: str, cosines: Cosines | None) -> bool:
    """Say whether a turn says this: every number and quoted value is there, and most words.

    Where words are others, a sentence of the turn must mean the same.
    """
    words = texts.content_words(text=content)
    there = texts.content_words(text=said)
    if not words:
        return False
    values = assertions.hard_values(text=said) | frozenset(said.lower().split())
    if assertions.hard_values(text=content) - values:
        return False
    if len(words & there) < GROUNDED * len(words):
        return cosines is not None and _means_the_same(content, said, cosines)
    return _difference(content, said) is not Difference.POLARITY


def _means_the_same(content: str, said: str, cosines: Cosines) -> bool:
    """Say whether a sentence means this, with the same names and the same yes or no."""
    sentences = tuple(part for part in said.replace("\n", ". ").split(". ") if part.strip())
    if not sentences or assertions.names(text=content) - assertions.words(text=said):
        return False
    closeness = cosines(content, sentences)
    nearest = sentences[closeness.index(max(closeness))]
    negated = [assertions.is_negated(text=one) for one in (content, nearest)]
    ends = all(chatter.PATTERNS["ends"].search(one) for one in (content, nearest))
    return max(closeness) >= MEANT and (ends or negated[0] == negated[1])


def _difference(content: str, said: str) -> Difference:
    """Compare polarity with the sentence that is nearest, not with a whole turn."""
    words = assertions.words(text=content)
    near, nearest = max(
        (
            (assertions.jaccard(left=words, right=assertions.words(text=part)), part)
            for part in said.replace("\n", ". ").split(". ")
        ),
        key=lambda each: each[0],
    )
    if near < GROUNDED:
        return Difference.NONE
    return assertions.difference_of_restatement(old=nearest, new=assertions.assertion(text=content))


def _files(value: Any) -> tuple[str, ...]:
    fitting = (
        one
        for one in (value if isinstance(value, list) else ())
        if isinstance(one, str) and 0 < len(one) <= LONGEST_FILE and not one.isspace()
    )
    clean = dict.fromkeys(one for one in fitting if not texts.check_text(text=one))
    return tuple(clean)[:MOST_FILES]


def _timestamp(value: Any) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value[:40])
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


# What a model said that candidates are to what is known.
#
# Pairs of a new statement and a stored one are numbered and shown between two marks that nobody
# can have known. An answer is taken only for a pair that was shown, with a relation of the list
# and a certainty that is high enough; of two answers about a pair neither. Whatever is missing or
# wrong is left to words: nothing is guessed from a broken answer.

MOST_PAIRS: Final = 24  # a call; default, not measured
LONGEST_SIDE: Final = 600  # characters of a statement in a call; default, not measured
LEAST_CERTAINTY: Final = 0.6  # below, words decide; default, not measured


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementPair:
    """A candidate, by its place in a part, and a stored memory near it, as it was read."""

    candidate: int
    new: str
    known_id: UUID
    version: int | None
    known: str


def write_pairs(*, pairs: tuple[StatementPair, ...], nonce: str) -> str:
    """Return the pairs between their marks, without secrets."""
    told = (
        f"[pair {number}]\nstored: {_side(pair.known, nonce)}\nnew: {_side(pair.new, nonce)}"
        for number, pair in enumerate(pairs, 1)
    )
    return "\n".join((f"<<<{nonce}", *told, f"{nonce}>>>"))


def _side(text: str, nonce: str) -> str:
    clean = scanner.without_secrets(text=text.replace(nonce, ""))
    return " ".join(clean.split())[:LONGEST_SIDE]


def read_relations(
    *, data: Mapping[str, Any], pairs: tuple[StatementPair, ...]
) -> tuple[dict[int, tuple[Judged, ...]], Counter[str]]:
    """Return by candidate what was judged of it, and how many answers were dropped and why."""
    dropped: Counter[str] = Counter()
    found: dict[int, Judged] = {}
    twice: set[int] = set()
    for entry in data["relations"]:
        number, checked = _checked_relation(entry, pairs)
        if isinstance(checked, str):
            dropped[checked] += 1
            continue
        twice |= {number} & found.keys()
        found[number] = checked
    dropped["relation_twice"] += len(twice)
    by_candidate: dict[int, tuple[Judged, ...]] = {}
    for number, judged in sorted(found.items()):
        if number not in twice:
            place = pairs[number - 1].candidate
            by_candidate[place] = (*by_candidate.get(place, ()), judged)
    return by_candidate, +dropped


class _Related(BaseModel, strict=True):
    """What a pair is as a model writes it."""

    pair: int
    relation: str
    certainty: FiniteFloat


def _checked_relation(entry: Any, pairs: tuple[StatementPair, ...]) -> tuple[int, Judged | str]:
    """Return the number of a pair, and what was judged of it, or why the answer is dropped."""
    try:
        found = _Related.model_validate(entry)
    except ValidationError:
        return 0, "relation_shape"
    if found.relation not in JUDGED:
        return 0, "relation_shape"
    if not 1 <= found.pair <= len(pairs):
        return 0, "relation_pair"
    if not LEAST_CERTAINTY <= found.certainty <= 1.0:
        return 0, "relation_unsure"
    pair = pairs[found.pair - 1]
    return found.pair, Judged(
        known_id=pair.known_id,
        version=pair.version,
        relation=JUDGED[found.relation],
        certainty=found.certainty,
    )


# What observers saw, put into better words.
#
# Entries are numbered and shown as JSON between two marks. What comes back is taken only where it
# is one to three sentences that say what was said: no file, number, name, quoted or code-like
# word, program or alarm that was not there, its negations, and most of its words. Everything else
# is left to the template.

LONGEST_PHRASE: Final = 500  # characters of what is taken; default, not measured
SENTENCES_MOST: Final = 3
_END: Final = re.compile(r"[.!?](?=\s|$)")
_CODE_LIKE: Final = re.compile(r"[\d/\\_=$#@{}()<>\[\]|;&*]|\w\.\w|^-|[a-z][A-Z]|^[A-Z]{2}")
_QUOTED: Final = re.compile(r"[`“\"]([^`”\"]{1,500})[`”\"]")
_PROGRAMS: Final = frozenset({  # what does not name one does not call for it
    "apt", "bash", "bun", "cargo", "chmod", "chown", "curl", "dd", "deno", "docker", "eval", "exec",
    "git", "gradle", "helm", "kill", "kubectl", "make", "mvn", "node", "npm", "npx", "pip", "pnpm",
    "poetry", "powershell", "psql", "python", "rm", "ruby", "scp", "sh", "ssh", "sudo", "terraform",
    "uv", "wget", "yarn",
})  # fmt: skip


def write_entries(
    *,
    name: str,
    entries: Iterable[Mapping[str, object]],
    nonce: str,
    longest: int,
    head: Mapping[str, object] | None = None,
) -> str:
    """Return entries between their marks, without secrets, each of at most so many characters."""

    def written(entry: Mapping[str, object]) -> str:
        text = json.dumps(entry, ensure_ascii=False).replace(nonce, "")
        return scanner.without_secrets(text=text)[:longest]

    lines = [f"[{name} {number}]\n{written(entry)}" for number, entry in enumerate(entries, 1)]
    return "\n".join((f"<<<{nonce}", *([written(head)] if head else ()), *lines, f"{nonce}>>>"))


def read_phrases(
    *, data: Mapping[str, Any], said: Sequence[str]
) -> tuple[dict[int, str], Counter[str]]:
    """Return better words by the place of what was said, and how many were dropped and why."""
    dropped: Counter[str] = Counter()
    found: dict[int, str] = {}
    twice: set[int] = set()
    for entry in data["phrases"]:
        number = entry.get("signal") if isinstance(entry, dict) else None
        if type(number) is not int or not isinstance(entry.get("text"), str):
            dropped["phrase_shape"] += 1
            continue
        if not 1 <= number <= len(said):
            dropped["phrase_signal"] += 1
            continue
        text = " ".join(entry["text"].split())
        if wrong := phrase_fault(text=text, said=said[number - 1]):
            dropped[wrong] += 1
            continue
        twice |= {number - 1} & found.keys()
        found[number - 1] = text
    dropped["phrase_twice"] += len(twice)
    return {place: text for place, text in found.items() if place not in twice}, +dropped


def phrase_fault(*, text: str, said: str) -> str:
    """Return the first thing wrong with a phrase of what was said; empty when nothing is."""
    is_clean = not texts.check_text(text=text) and texts.visible_text(text=text) == text
    sentences = len(_END.findall(text)) or 1
    has_length = SHORTEST <= len(text) <= LONGEST_PHRASE and sentences <= SENTENCES_MOST
    alarms, known = (set(echoes_and_alarms.of_content(content=one)) for one in (text, said))
    is_quiet = alarms <= known and not chatter.speaks_to_the_machine(text=text)
    words, there = texts.content_words(text=text), texts.content_words(text=said)
    checks = (
        ("phrase_length", has_length and is_clean),
        ("phrase_instruction", is_quiet),
        ("phrase_invented", not _is_invented(text, said)),
        ("phrase_turned", assertions.is_negated(text=text) == assertions.is_negated(text=said)),
        ("phrase_ungrounded", words and len(words & there) >= GROUNDED * len(words)),
    )
    return next((fault for fault, holds in checks if not holds), "")


def _is_invented(text: str, said: str) -> bool:
    """Say whether a phrase names what was not said."""
    there = " ".join(said.split()).lower()
    words = assertions.words(text=said)
    own = tuple(word.strip(".,:;!?()`'\"“”") for word in text.split())
    named = {word.lower() for word in own if word and _CODE_LIKE.search(word)}
    quoted = {" ".join(part.split()).lower() for part in _QUOTED.findall(text)}
    return (
        any(part not in there for part in named | quoted)
        or bool(assertions.names(text=text) - words)
        or bool(assertions.words(text=text) & _PROGRAMS - words)
    )
