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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from memory.entities import rules as entities_rules
from memory.entities.rules import CANONICAL, EntityKind
from memory.records import assertions
from memory.text import text as texts

LONGEST: Final = 160  # characters of a clause; default
SHORTEST_APPROACH: Final = 12  # characters; a shorter first clause says too little; default
_END: Final = r"[^.;:,()\n\u2014\u2013!?]"
_REJECTING: Final = re.compile(
    r"\b(?:do(?:es)? not|don['\u2019]t|doesn['\u2019]t|never(?: again)?|must not|mustn['\u2019]t"
    r"|should not|shouldn['\u2019]t|cannot|can['\u2019]t|may not|not|no longer|instead of"
    r"|rather than|avoid(?:ing)?|stop(?:ped)? (?:using|doing)|ban(?:ned)?|forbid"
    r"|(?:chose|choose|chosen|prefer(?:red)?|picked|selected)\b[^.;\n]{1,80}?\bover"
    r"|no(?: more)?|ne (?:pas|jamais)|jamais|au lieu d[e']|plut[oô]t que(?: d[e'])?|[eé]vite[rz]?"
    r"|interdi(?:t|re) (?:de|d'))\s+"
    rf"(?P<what>{_END}{{2,{LONGEST}}})",
    re.IGNORECASE,
)
_WITHOUT: Final = re.compile(
    rf"\b(?:without|sans)\s+(?P<what>{_END}{{2,{LONGEST}}})", re.IGNORECASE
)
_REJECTED: Final = re.compile(
    rf"(?P<what>{_END}{{3,80}}?)\s+(?:is|are|was|were|has been|have been|est|sont)\s+"
    r"(?:always\s+|then\s+)?(?:forbidden|prohibited|not allowed|banned|rejected|removed|dropped"
    r"|disallowed|ruled out|refused|interdite?s?|abandonnée?s?|rejetée?s?)\b",
    re.IGNORECASE,
)
_FAILING: Final = re.compile(  # what a decision says went wrong, and was therefore decided against
    rf"(?P<what>{_END}{{3,80}}?)\s+(?:lost|halved|broke|failed|corrupted|doubled|slowed|deadlocked"
    r"|leaked|crashed|timed out|cost \d|(?:was|were) (?:slower|too slow|worse)|perdait|cassait)\b",
    re.IGNORECASE,
)
_ONLY: Final = re.compile(
    rf"(?P<what>{_END}{{3,80}}?)\s+(?:is|are)\s+(?:allowed|permitted|accepted)\s+only\s+"
    rf"(?P<unless>{_END}{{2,{LONGEST}}})",
    re.IGNORECASE,
)
_TAKING: Final = re.compile(
    r"\b(?:remov(?:e|es|ing)|drop(?:s|ping)?|delet(?:e|es|ing)|disabl(?:e|es|ing)"
    r"|replac(?:e|es|ing)|get(?:ting)? rid of|migrat(?:e|ing) away from|mov(?:e|ing) away from"
    r"|switch(?:ing)? (?:away )?from|mov(?:e|ing) from|migrat(?:e|ing) from|stop using"
    r"|turn(?:ing)? off|skip(?:s|ping)?|bypass(?:es|ing)?|revert(?:s|ing)?|supprim(?:er|e|ons)"
    r"|remplac(?:er|e|ons)|désactiv(?:er|e|ons)|enlev(?:er|ons)|retir(?:er|e|ons))\s+"
    rf"(?P<what>{_END}{{2,{LONGEST}}})",
    re.IGNORECASE,
)
_STOPS: Final = re.compile(  # where a clause ends though no sign says so
    r"\b(?:because|since|so that|so|which|but|and then|then|when|while|if|otherwise|until then"
    r"|parce que|car|puisque|sinon|mais)\b",
    re.IGNORECASE,
)
_TAKEN_FOR: Final = re.compile(r"\b(?:with|by|to|in favou?r of|for|par|pour)\b", re.IGNORECASE)
_UNLESS: Final = re.compile(
    r"\b(?:unless|except(?: in| for| by)?|without|outside(?: of)?|before|until|sauf|sans|avant)\b",
    re.IGNORECASE,
)
_TRIED: Final = re.compile(
    r"\A\W*(?:we|the team|somebody|someone|i|on|nous)?"
    r"(?:\s*(?:have|had|has|a|avons))?\s*"
    r"(?:tried|evaluated|attempted|try|trying|do not|don['\u2019]t|never|avoid|essayé(?: d[e'])?)"
    r"\b(?:\s+(?:to|again|out))?\s*",
    re.IGNORECASE,
)
_TASK: Final = re.compile(r"\A\W*for \u201c[^\u201d]{0,400}\u201d,?\s+", re.IGNORECASE)
_FAILED: Final = re.compile(
    r"[;:,.!]\s|\s[\u2014\u2013-]\s|\b(?:because|but|which|since|and it|so that|did not work"
    r"|does not work|didn['\u2019]t work|doesn['\u2019]t work|won['\u2019]t work|fail(?:s|ed)?"
    r"|broke|breaks?|showed|shows|(?:was|were|is|are) (?:dropped|tried|abandoned|slower|reverted"
    r"|removed|given up|a dead end)|grew|turned out|(?:led|leads?) to|caus(?:ed|es?)|ran into"
    r"|time[sd]? out|mais|parce que|échou\w*|cassait|casse)\b",
    re.IGNORECASE,
)
_ONLY_A_FILE: Final = re.compile(r"changing \S+\Z", re.IGNORECASE)
SHORTEST: Final = 3  # letters of a stem; default, not measured
COVERAGE: Final = 0.6  # of a clause's stems, from which it is met; fitted by bench_checks
_WORD: Final = re.compile(r"[^\W\d_][^\W_]+")
_CODE_WORD: Final = re.compile(r"[^\W\d_]\w{2,79}")
_QUANTITY: Final = re.compile(r"(?<![\w.])(\d[\d.,]{0,12})\s?(%|[^\W\d_]{1,20})")
_UNITS: Final = {
    "s": "second", "sec": "second", "second": "second", "seconds": "second", "secondes": "second",
    "min": "minute", "minute": "minute", "minutes": "minute", "h": "hour", "hour": "hour",
    "hours": "hour", "heures": "hour", "d": "day", "day": "day", "days": "day", "jours": "day",
}  # fmt: skip
_HUMP: Final = re.compile(r"[a-z][A-Z]")
_ELISION: Final = re.compile(r"\b(?:n|l|d|s|j|c|m|t|qu)['\u2019](?=\w)", re.IGNORECASE)
_ENDINGS: Final = (  # the longest that leaves a stem is cut
    "ments", "ement", "ment", "ings", "ing", "ions", "ion", "ies", "ers", "er",
    "ed", "es", "ly", "s",
)  # fmt: skip
_GENERIC: Final = frozenset({  # what plans and diffs say of anything
    "add", "added", "adding", "adds", "change", "changing", "make", "making", "made", "makes",
    "create", "creating", "implement", "implementing", "implementation", "update", "updating",
    "fix", "fixing", "fixed", "new", "old", "code", "file", "files", "function", "functions",
    "method", "try", "tried", "trying", "use", "used", "using", "uses", "approach", "way", "ways",
    "step", "steps", "work", "works", "working", "need", "needs", "want", "like", "get", "gets",
    "run", "running", "runs", "write", "writing", "put", "let", "look", "looking", "check", "first",
    "second", "next", "finally", "one", "two", "more", "less", "some", "own", "other", "same",
    "problem", "issue", "task", "feature", "plan", "thing", "things", "part", "case", "kind",
    "import", "from", "return", "def", "self", "const", "var", "null", "none", "true", "false",
    "class", "public", "private", "static", "void", "await", "async", "export", "default", "int",
    "str", "string", "bool", "type", "todo", "src", "app", "lib", "main", "index", "init", "py",
    "ts", "tsx", "jsx", "go", "sql", "them", "very", "well", "too", "much", "many", "how", "why",
    "keep", "kept", "take", "taken", "start", "begin", "end", "give", "given", "place", "right",
    "now", "later", "soon", "directly", "simply", "really", "better", "instead", "allow", "support",
    "ajouter", "changer", "faire", "utiliser", "mettre", "créer", "fichier", "étape",
})  # fmt: skip
_SAYS_NOTHING: Final = (
    assertions.SMALL | assertions.FILLERS | assertions.NEGATORS | assertions.POSITIVES | _GENERIC
) - CANONICAL.keys()
_NAMING: Final = frozenset({EntityKind.CODE, EntityKind.TOOL})


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """What a text is against, and in which case it is not; empty where there is none."""

    what: str
    unless: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clauses:
    """A text taken apart: what it is for, what it is against, what it takes away."""

    affirmed: str
    rejected: tuple[Rejected, ...]
    taken: tuple[str, ...]


def read(*, text: str) -> Clauses:
    """Take a text apart."""
    text = _tight(text)
    against = tuple(_spans(text, _REJECTING, _REJECTED))
    only = tuple(_ONLY.finditer(text))
    away = tuple(_spans(text, _TAKING))
    return Clauses(
        affirmed=_left_out(text, (*against, *away, *_spans(text, _WITHOUT))),
        rejected=(
            *(_rejected(text[start:end]) for start, end in against),
            *(_rejected(text[start:end]) for start, end in _spans(text, _FAILING)),
            *(Rejected(what=one["what"].strip(), unless=one["unless"].strip()) for one in only),
        ),
        taken=tuple(text[start:end].strip() for start, end in away),
    )


def approach(*, content: str) -> str:
    """Return what a dead end tried: its first clause, as far as it does not say how it failed."""
    begun = _TRIED.sub("", _TASK.sub("", _tight(content), count=1), count=1)
    found = next(
        (one.start() for one in _FAILED.finditer(begun) if one.start() >= SHORTEST_APPROACH),
        len(begun),
    )
    return begun[:found][:LONGEST].strip()


def names_only_a_file(*, approach: str) -> bool:
    """Say whether what was tried says no more than which file: every later change would be one."""
    return _ONLY_A_FILE.match(approach) is not None


def _tight(text: str) -> str:
    """Return a text with straight apostrophes whose runs of spaces are one, as expressions want."""
    plain = texts.straighten_apostrophes(text=text)
    return "\n".join(" ".join(line.split()) for line in plain.split("\n") if line.strip())


def _spans(text: str, *patterns: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    for pattern in patterns:
        for match in pattern.finditer(text):
            start, end = match.span("what")
            stop = _STOPS.search(text, start, end)
            end = stop.start() if stop else end
            if pattern is _TAKING:
                instead = _TAKEN_FOR.search(text, start, end)
                end = instead.start() if instead else end
            if text[start:end].strip():
                yield start, end


def _rejected(clause: str) -> Rejected:
    unless = _UNLESS.search(clause)
    if unless is None:
        return Rejected(what=clause.strip())
    return Rejected(what=clause[: unless.start()].strip(), unless=clause[unless.end() :].strip())


def _left_out(text: str, spans: tuple[tuple[int, int], ...]) -> str:
    kept: list[str] = []
    last = 0
    for start, end in sorted(spans):
        if start >= last:
            kept.append(text[last:start])
        last = max(last, end)
    kept.append(text[last:])
    return " ".join(kept)


def stems(*, text: str) -> frozenset[str]:
    """Return the stems of what a text is about."""
    plain = _ELISION.sub("", text.replace("\u2019", "'"))
    words = {
        word.lower()  # a compound is taken apart below
        for word in _WORD.findall(plain)
        if word.lower() in CANONICAL or _HUMP.search(word) is None
    }
    words.update(texts.identifier_parts(text=plain))
    return frozenset(
        stem(word=word)
        for word in words
        if word not in _SAYS_NOTHING and len(word) >= SHORTEST and word.isalpha()
    )


def stem(*, word: str) -> str:
    """Return a word without its ending, a tool by its one name."""
    if word in CANONICAL:
        return CANONICAL[word]
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
