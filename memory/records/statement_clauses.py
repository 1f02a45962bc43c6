"""What a text is for, what it is against, and what it takes away, clause by clause.

“Store amounts as integers, never as floats” is for integers and against floats; “replace Celery
with RQ” is for RQ and takes Celery away. A memory's rejected clauses are what a plan must not be
for; a plan's own are left out of what it proposes, so that “do not use floats” is no offence. The
expressions are bounded, so a scan stays linear; English and French.

What a text is about is told by the stems of its telling words, so that a plan and a memory can be
held against each other without a model: `useCart`, `use_cart` and “use the cart” have the same
stems, and so have `caching`, `cached` and “cache”. Compounds are taken apart and endings are cut,
crudely and alike on both sides. A tool has one name, whatever a text calls it. Words that any plan
has (“add”, “change”, “step”) tell nothing.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memory.entities import rules as entities_rules
from memory.records import assertions
from memory.text import text as texts

LONGEST: Final = 160  # characters of a clause; default
SHORTEST_APPROACH: Final = 12  # characters; a shorter first clause says too little; default
# A sign within a clause; a full stop is one where a name goes on: `config.yaml`, `.env`.
_END: Final = r"(?:[^.;:,()\n\u2014\u2013!?]|\.(?=\w))"
_TABLES: Final = texts.read_tables(file=Path(__file__).with_name("tables") / "clauses.toml")
_PATTERNS: Final = texts.compile_patterns(
    table={name: text.replace("@", _END) for name, text in _TABLES["patterns"].items()}
)
_ONLY_A_FILE: Final = re.compile(r"changing \S+\Z", re.IGNORECASE)
SHORTEST: Final = 3  # letters of a stem; default, not measured
COVERAGE: Final = 0.6  # of a clause's stems, from which it is met; fitted by bench_checks
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s|\n")
_WORD: Final = re.compile(r"[^\W\d_][^\W_]+")
_CODE_WORD: Final = re.compile(r"[^\W\d_]\w{2,79}")
_QUANTITY: Final = re.compile(r"(?<![\w.])(\d[\d.,]{0,12})\s?(%|[^\W\d_]{1,20})")
_UNITS: Final = {word: unit for unit, words in _TABLES["units"].items() for word in words.split()}
PROTOCOLS: Final = frozenset({"https", "ftps", "wss", "smtps", "imaps", "ldaps"})  # no plurals
_HUMP: Final = re.compile(r"[a-z][A-Z]")
_IDENTIFIER: Final = re.compile(r"(?<![\w.])\.?[^\W\d]\w{0,79}(?:\.[^\W\d]\w{0,79}){0,9}")
_HUMPS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Z_]+|\d+")
_CODE: Final = re.compile(r"`([^`]{1,160})`")
_CAPITALS: Final = re.compile(r"[A-Z][A-Z\d]{2,}\Z")
_ELISION: Final = re.compile(r"\b(?:n|l|d|s|j|c|m|t|qu)['\u2019](?=\w)", re.IGNORECASE)
_ENDINGS: Final = (  # the longest that leaves a stem is cut
    "ments", "ement", "ment", "ings", "ing", "ions", "ion", "ies", "ers", "er",
    "ed", "es", "ly", "s",
)  # fmt: skip
_SAYS_NOTHING: Final = (
    assertions.SMALL
    | assertions.FILLERS
    | assertions.NEGATORS
    | assertions.POSITIVES
    | frozenset(_TABLES["generic"]["words"].split())
) - entities_rules.CANONICAL.keys()
_CALLING: Final = frozenset(_TABLES["calling"]["words"].split())
_NAMING: Final = frozenset({entities_rules.EntityKind.CODE, entities_rules.EntityKind.TOOL})


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """What a text is against, and in which case it is not; empty where there is none.

    `taken` is what of it the text is against taking away: of “replacing moment with dayjs”, moment.
    """

    what: str
    unless: str = ""
    taken: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clauses:
    """A text taken apart: what it is for, what it is against, what it takes away."""

    affirmed: str
    rejected: tuple[Rejected, ...]
    taken: tuple[str, ...]


def read(*, text: str) -> Clauses:
    """Take a text apart."""
    text = _tight(text)
    against = tuple(
        _spans(text, *(_PATTERNS[name] for name in ("rejecting", "chosen", "rejected")))
    )
    passive = tuple(_PATTERNS["passive"].finditer(text))
    only = tuple(_PATTERNS["only"].finditer(text))
    away = tuple(_spans(text, _PATTERNS["taking"]))
    spans = (*against, *away, *_spans(text, _PATTERNS["without"]))
    read_below = {number for one in passive for number in range(one.end("what"), one.end())}
    active = ((start, end) for start, end in against if start not in read_below)
    return Clauses(
        affirmed=_outside(text, spans),
        rejected=(
            *(rejected(clause=_with_antecedent(text, start, end)) for start, end in active),
            *map(_passive, passive),
            *(
                rejected(clause=text[start:end])
                for start, end in _spans(text, _PATTERNS["failing"])
            ),
            *(Rejected(what=one["what"].strip(), unless=one["unless"].strip()) for one in only),
        ),
        taken=tuple(text[start:end].strip() for start, end in away),
    )


def approach(*, content: str) -> str:
    """Return what a dead end tried: its first clause, as far as it does not say how it failed."""
    begun = _PATTERNS["tried"].sub("", _PATTERNS["task"].sub("", _tight(content), count=1), count=1)
    found = next(
        (
            one.start()
            for one in _PATTERNS["failed"].finditer(begun)
            if one.start() >= SHORTEST_APPROACH
        ),
        len(begun),
    )
    return begun[:found][:LONGEST].strip()


def affirmed_beside(*, text: str, clause: str) -> str:
    """Return what the sentence of a rejected clause is for, without its reasons."""
    sentences = (one for one in _SENTENCE_END.split(_tight(text)) if clause in one)
    place = (sentence := next(sentences, "")).find(clause)
    sentence = sentence[max(0, place - 2 * LONGEST) : place + len(clause) + 2 * LONGEST]
    return _PATTERNS["reason"].sub(" ", read(text=sentence.replace(clause, " ")).affirmed)


def names_only_a_file(*, approach: str) -> bool:
    """Say whether what was tried says no more than which file: every later change would be one."""
    return _ONLY_A_FILE.match(approach) is not None


def _tight(text: str) -> str:
    """Return a text with straight apostrophes whose runs of spaces are one, as expressions want."""
    plain = texts.straighten_apostrophes(text=text)
    return "\n".join(" ".join(line.split()) for line in plain.split("\n") if line.strip())


def _outside(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text without some spans of it, which may overlap."""
    kept: list[str] = []
    last = 0
    for start, end in sorted(spans):
        if start >= last:
            kept.append(text[last:start])
        last = max(last, end)
    return " ".join((*kept, text[last:]))


def _spans(text: str, *patterns: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    for pattern in patterns:
        for match in pattern.finditer(text):
            start, end = match.span("what")
            stop = _PATTERNS["stops"].search(text, start, end)
            end = stop.start() if stop else end
            if pattern is _PATTERNS["taking"]:
                instead = _PATTERNS["taken_for"].search(text, start, end)
                end = instead.start() if instead else end
            if text[start:end].strip():
                yield start, end


def rejected(*, clause: str) -> Rejected:
    """Read a clause of what a text is against, or of what was tried."""
    unless = _PATTERNS["unless"].search(clause)
    what, case = clause, ""
    if unless is not None:
        what, case = clause[: unless.start()], clause[unless.end() :]
    removal = _PATTERNS["removal"].match(what)
    if removal is None:
        away = (what[start:end].strip() for start, end in _spans(what, _PATTERNS["taking"]))
        return Rejected(what=what.strip(), unless=case.strip(), taken=" ".join(away))
    what = what[removal.end() :]
    instead = _PATTERNS["taken_for"].search(what)
    taken = what[: instead.start()] if instead else what
    return Rejected(what=what.strip(), unless=case.strip(), taken=taken.strip())


def _passive(found: re.Match[str]) -> Rejected:
    """Read “X must not be done”: what is against removing X is for X."""
    is_removal = _PATTERNS["removed"].match(found["verb"]) is not None
    rest = rejected(clause=found["rest"])
    what = found["what"] if is_removal else f"{found['what']} {found['verb']} {rest.what}"
    what = what.strip()
    return Rejected(what=what, unless=rest.unless, taken=what if is_removal else rest.taken)


def _with_antecedent(text: str, start: int, end: int) -> str:
    """Return a rejected clause, what is before it in the sentence where it says only “it”."""
    if _PATTERNS["pronoun"].match(text, start, end) is None:
        return text[start:end]
    before = text[max(0, start - 2 * LONGEST) : start].rpartition(". ")[2]
    return before.rpartition(",")[0]


def identifiers(*, text: str) -> frozenset[str]:
    """Return the names of code in a text, in one spelling: `redis.keys`, `service_role`.

    A plain word is none; one in capitals is.
    """
    return _spelled(token for token in _IDENTIFIER.findall(text) if _is_name(token))


def code_names(*, clause: str) -> frozenset[str]:
    """Return the names of code in a clause: those of `identifiers`, without words such as SQL.

    A bare word in capitals is one where it is written as code, or where the clause says no more.
    """
    tokens = {token for token in _IDENTIFIER.findall(clause) if _is_name(token)}
    as_code = set(_IDENTIFIER.findall(" ".join(_CODE.findall(clause))))
    said = stems(text=clause)
    return _spelled(
        one
        for one in tokens
        if not _CAPITALS.match(one) or one in as_code or said <= stems(text=one)
    )


def beside_names(*, clause: str) -> frozenset[str]:
    """Return the stems of what a clause says besides names of code, and that they are called."""
    calling = frozenset(stem(word=word) for word in _CALLING)
    return stems(text=clause) - stems(text=" ".join(code_names(clause=clause))) - calling


def _is_name(token: str) -> bool:
    """Say whether a word is written as code writes names."""
    is_joined = "." in token or "_" in token.strip("_")
    return is_joined or bool(_HUMP.search(token) or _CAPITALS.match(token))


def _spelled(tokens: Iterable[str]) -> frozenset[str]:
    """Return names of code in one spelling."""
    spelled = (
        ".".join(filter(None, ("_".join(_HUMPS.findall(piece)) for piece in token.split("."))))
        for token in tokens
    )
    return frozenset(filter(None, map(str.lower, spelled)))


def holds_name(*, named: frozenset[str], name: str) -> bool:
    """Say whether one of these names is that one, or has it in it: `DB_SERVICE_ROLE`.

    A name of one word must be a whole piece: `redis.keys` has `keys`, `cache_keys` does not.
    """
    if "_" not in name and "." not in name:
        return any(name in one.split(".") for one in named)
    bare = f"_{name}_".replace(".", "_")
    return any(bare in f"_{one}_".replace(".", "_") for one in named)


def stems(*, text: str) -> frozenset[str]:
    """Return the stems of what a text is about."""
    plain = _ELISION.sub("", text.replace("\u2019", "'"))
    words = {
        word.lower()  # a compound is taken apart below
        for word in _WORD.findall(plain)
        if word.lower() in entities_rules.CANONICAL or _HUMP.search(word) is None
    }
    ascii_only = " ".join(word for word in plain.split() if word.isascii())
    words.update(texts.identifier_parts(text=ascii_only))  # knows no humps of other letters
    return frozenset(
        stem(word=word)
        for word in words
        if word not in _SAYS_NOTHING and len(word) >= SHORTEST and word.isalpha()
    )


def stem(*, word: str) -> str:
    """Return a word without its ending, a tool by its one name."""
    if word in entities_rules.CANONICAL:
        return entities_rules.CANONICAL[word]
    if word in PROTOCOLS:
        return word
    fitting = (end for end in _ENDINGS if word.endswith(end) and len(word) - len(end) >= SHORTEST)
    ending = next(fitting, "")
    cut = word.removesuffix(ending).rstrip("eiy") if ending else word.rstrip("ey")
    cut = cut if len(cut) >= SHORTEST else word
    is_doubled = len(cut) > SHORTEST and cut[-1] == cut[-2]
    return cut[:-1] if is_doubled else cut


def quantities(*, text: str) -> Mapping[str, frozenset[str]]:
    """Return by unit the numbers of a text: `12 times`, `170 kB`, `30 %`."""
    found: dict[str, frozenset[str]] = {}
    for number, unit in _QUANTITY.findall(text.lower()):
        kind = _UNITS.get(unit, stem(word=unit))
        if unit in _UNITS or unit not in assertions.SMALL:
            found[kind] = found.get(kind, frozenset()) | {number.strip(".,")}
    return found


def names(*, text: str) -> frozenset[str]:
    """Return the stems of what a text calls by name: tools, services, names of code."""
    spans = entities_rules.find_entities(text=text)
    named = " ".join(one.text for one in spans if one.kind in _NAMING)
    return stems(text=named)


def compounds(*, text: str) -> tuple[str, ...]:
    """Return the telling words of code, in their order, compounds first whole and then in parts."""
    found = dict.fromkeys(_CODE_WORD.findall(text))
    parts = texts.identifier_parts(text=" ".join(found))
    told_of = (word for word in (*found, *parts) if word.lower() not in _SAYS_NOTHING)
    return tuple(dict.fromkeys(word for word in told_of if len(word) >= SHORTEST))
