"""What a text is about, as stems of its telling words, so that a plan and a memory can be held
against each other without a model.

`useCart`, `use_cart` and “use the cart” have the same stems, and so have `caching`, `cached` and
“cache”: compounds are taken apart and endings are cut, crudely and alike on both sides. A tool has
one name, whatever a text calls it. Words that any plan has (“add”, “change”, “step”) tell nothing.
"""

import re
from collections.abc import Mapping
from typing import Final

from memory.entities import rules as entities_rules
from memory.entities.rules import EntityKind
from memory.entities.tools import CANONICAL
from memory.records import statement_words as told
from memory.text import text as texts

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
    told.SMALL | told.FILLERS | told.NEGATORS | told.POSITIVES | _GENERIC
) - CANONICAL.keys()
_NAMING: Final = frozenset({EntityKind.CODE, EntityKind.TOOL, EntityKind.SERVICE})


def stems(*, text: str) -> frozenset[str]:
    """Return the stems of what a text is about."""
    plain = _ELISION.sub("", text.replace("\u2019", "'"))
    words = {word.lower() for word in _WORD.findall(plain) if _is_simple(word)}
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
    ending = next((one for one in _ENDINGS if _is_cut(word, one)), "")
    cut = word.removesuffix(ending).rstrip("eiy") if ending else word.rstrip("ey")
    cut = cut if len(cut) >= SHORTEST else word
    is_doubled = len(cut) > SHORTEST and cut[-1] == cut[-2]
    return cut[:-1] if is_doubled else cut


def quantities(*, text: str) -> Mapping[str, frozenset[str]]:
    """Return by unit the numbers of a text: `12 times`, `170 kB`, `30 %`."""
    found: dict[str, frozenset[str]] = {}
    for number, unit in _QUANTITY.findall(text.lower()):
        kind = _UNITS.get(unit, stem(word=unit))
        if unit in _UNITS or unit not in told.SMALL:
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


def _is_simple(word: str) -> bool:
    """Say whether a word is one, and no compound that is taken apart elsewhere."""
    return word.lower() in CANONICAL or _HUMP.search(word) is None


def _is_cut(word: str, ending: str) -> bool:
    return word.endswith(ending) and len(word) - len(ending) >= SHORTEST
