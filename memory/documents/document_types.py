"""What a statement of a document is about: one ordered table of rules.

Documents speak otherwise than agents do, so they have markers of their own. The first rule that
fits decides. No rule gives a layer-1 type: what a file says never becomes constitutional (1.4).
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from memory.taxonomy import MemoryType


class Where(StrEnum):
    """What a rule looks at."""

    PROSE = "prose"
    WORDS = "prose without the code in it"
    CODE = "code"
    HEADING = "heading"
    HEADING_OF_CODE = "heading, if there is code"


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeRule:
    """A type, and the expression that gives it."""

    type: MemoryType
    where: Where
    pattern: re.Pattern[str]


def _rule(type: MemoryType, where: Where, pattern: str) -> TypeRule:
    return TypeRule(type=type, where=where, pattern=re.compile(pattern, re.IGNORECASE))


def _text(type: MemoryType, pattern: str) -> TypeRule:
    return _rule(type, Where.WORDS, pattern)


def _heading(type: MemoryType, pattern: str, where: Where = Where.HEADING) -> TypeRule:
    return _rule(type, where, rf"\b(?:{pattern})\b")


_CODE_SPAN = re.compile(r"`[^`\n]*`")
_PATH = (
    r"`?(?:[\w.@-]+/)+[\w.*@-]*`?|`?[\w-]+\.(?:py|ts|tsx|js|go|rs|java|rb|toml|ya?ml|json|sql)`?"
)
_COMMAND = (
    r"(?:\$ )?(?:make|npm|npx|pnpm|yarn|bun|uv|uvx|pip|pipx|python3?|pytest|poetry|hatch|nox|tox"
    r"|ruff|mypy|docker|git|gh|cargo|go|just|claude|curl|brew|apt(?:-get)?|kubectl|helm|terraform"
    r"|\./\w|manage\.py|django-admin|celery|redis-cli|psql)\b"
)

RULES: tuple[TypeRule, ...] = (
    _text(
        MemoryType.DEAD_END,
        r"\btried\b.{1,80}\b(?:but|and dropped)\b|\bdead end\b|\bdid ?n.t work\b|\bwas (?:dropped"
        r"|abandoned)\b|\bdoes ?n.t work because\b",
    ),
    _text(MemoryType.FIX, r"\b(?:the fix is|fixed by|resolved by|solved by|workaround)\b"),
    _text(
        MemoryType.ERROR_PATTERN,
        r"(?-i:\b[A-Z]\w+(?:Error|Exception)\b).{0,120}\b(?:means|when|if|because|caused|fix)\b"
        r"|\bif you (?:see|get|encounter|hit)\b.{0,60}\b(?:error|exception|fail\w*)\b",
    ),
    _text(
        MemoryType.GOTCHA,
        r"\b(?:beware|careful|caution|caveat|gotcha|pitfall|watch out|surprising(?:ly)?|silently"
        r"|trap|unfortunately|known (?:issue|limitation|bug)s?|easy to miss|not obvious)\b"
        r"|\b(?:does ?n.t|do not|does not|will not|won.t|cannot|can.t) (?:support|work)\b"
        r"|\b(?:breaks?|fails?|crash\w*|hangs?) (?:if|when|with|on|under|silently)\b"
        r"|^(?:never|do not|don.t|avoid)\b.{3,160}"
        r"(?:\bbecause\b|\botherwise\b|[:;,\u2013\u2014-] (?:it|they|this)\b)",
    ),
    _heading(
        MemoryType.GOTCHA,
        r"gotchas?|pitfalls?|caveats?|known (?:issues|limitations|bugs)|limitations?"
        r"|common mistakes|troubleshooting|traps?|warnings?",
    ),
    _text(
        MemoryType.CAUSAL_DEPENDENCY,
        r"\b(?:when|if|whenever|after) (?:you )?(?:add|chang|edit|modif|updat|renam|touch)\w*\b"
        r".{1,120}\b(?:must|also|need|run|update|regenerate)\b|\btogether with\b.{0,40}\bchange",
    ),
    _rule(
        MemoryType.MODULE_INSIGHT,
        Where.PROSE,
        rf"\A(?:{_PATH})(?:, (?:{_PATH}))*\s*(?:[:\u2013\u2014-]|\(|is\b|are\b)",
    ),
    _text(
        MemoryType.PREFERENCE,
        r"\A(?:prefer|favou?r|avoid|we (?:prefer|favou?r|like))\b|\bpreferred\b|\bis preferable\b"
        r"|\A(?:use|write|choose|pick)\b.{1,80}\b(?:instead of|rather than|over|, not)\b",
    ),
    _text(
        MemoryType.REQUIREMENT,
        r"\A(?:never|always|do not|don.t|ensure|make sure|keep|follow)\b",
    ),
    _rule(
        MemoryType.TOOL,
        Where.PROSE,
        rf"`{_COMMAND} \S|\A(?:or,? )?to \w+ .{{5,160}}\b(?:use|run|specify|set|pass|add)\b",
    ),
    TypeRule(
        type=MemoryType.TOOL,
        where=Where.CODE,
        pattern=re.compile(rf"```(?:sh|bash|shell|zsh|console|powershell)\n|```\w*\n{_COMMAND}"),
    ),
    _text(
        MemoryType.DECISION,
        r"\bbecause\b|\brather than\b|\binstead of\b|\bdecided\b|\bdeliberate(?:ly)?\b"
        r"|\bon purpose\b|\btrade-?offs?\b|\bin favou?r of\b|\b(?:the|this) reason\b"
        r"|\bwe (?:chose|picked)\b|, since\b|\bso that\b|\bis why\b",
    ),
    _text(
        MemoryType.REQUIREMENT,
        r"\b(?:must|shall|mandatory|forbidden|not allowed|may only|may not|needs? to be|has to"
        r"|have to|(?:is|are) (?:required|never|always|refused))\b",
    ),
    _text(
        MemoryType.REFERENCE,
        r"\A(?:see|refer to|read|documentation|docs)\b|\bdocumented (?:in|at)\b|\bcan be found\b"
        r"|\bfor (?:more|details|further)\b|\bsee (?:also|the|`|\S+ \()|\A[^.]{1,60}\(https?://\S+\)\W*\Z",
    ),
    _heading(
        MemoryType.DECISION,
        r"decisions?|rationale|why (?:we|not|no|this)|adr|trade-?offs?|design choices",
    ),
    _heading(
        MemoryType.REQUIREMENT,
        r"requirements?|rules?|conventions?|guidelines?|principles?|code style|style|standards?"
        r"|checklist|policy|prerequisites?",
    ),
    _text(MemoryType.PATTERN, r"\b(?:pattern|convention|idiom|boilerplate)\b|\bfollows the\b"),
    _heading(MemoryType.REFERENCE, r"links?|resources?|documentation|further reading|see also"),
    _heading(
        MemoryType.TOOL,
        r"commands?|usage|cli|install(?:ation|ing)?|set ?-?up|quick ?start|getting started"
        r"|scripts?",
        Where.HEADING_OF_CODE,
    ),
)


def type_of(*, prose: str, code: str, headings: tuple[str, ...], is_warning: bool) -> MemoryType:
    """Return the type of a statement (its words, its code blocks) under these headings."""
    if is_warning:
        return MemoryType.GOTCHA
    under = " / ".join(headings[-2:])
    has_code = bool(code) or "`" in prose
    looked_at = {
        Where.PROSE: prose,
        Where.WORDS: _CODE_SPAN.sub("`", prose),
        Where.CODE: code,
        Where.HEADING: under,
        Where.HEADING_OF_CODE: under if has_code else "",
    }
    for rule in RULES:
        if rule.pattern.search(looked_at[rule.where]):
            return rule.type
    return MemoryType.FACT
