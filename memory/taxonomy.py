"""The vocabulary of memories: types, governance layers, sources, tags, one literal table each.

Everything that must agree on what a memory can be reads these tables. A type's code is its order:
it is stored, so rows are appended and never moved. Typed payloads of some types are checked by
`memory.intake.validation`.
"""

from enum import IntEnum, StrEnum
from typing import Final, NamedTuple


class MemoryType(StrEnum):
    """What a memory is about."""

    IDENTITY = "identity"
    CHAIN_OF_COMMAND = "chain_of_command"
    DECISION = "decision"
    CORRECTION = "correction"
    COMMITMENT = "commitment"
    REQUIREMENT = "requirement"
    PREFERENCE = "preference"
    FACT = "fact"
    REFERENCE = "reference"
    TOOL = "tool"
    PERSON = "person"
    GOTCHA = "gotcha"
    ERROR_PATTERN = "error_pattern"
    FIX = "fix"
    PATTERN = "pattern"
    WORKFLOW_RECIPE = "workflow_recipe"
    MODULE_INSIGHT = "module_insight"
    DEAD_END = "dead_end"
    CAUSAL_DEPENDENCY = "causal_dependency"
    PREFETCH_PATTERN = "prefetch_pattern"
    TASK_CALIBRATION = "task_calibration"
    CONTEXT_COST = "context_cost"
    WORK_UNIT_OUTCOME = "work_unit_outcome"
    E2E_OBSERVATION = "e2e_observation"
    WORK_STATE = "work_state"
    EVENT = "event"
    EPISODE = "episode"
    REFLECTION = "reflection"


class MemoryKind(StrEnum):
    """The psychologists' family of a type."""

    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"
    STRUCTURAL = "structural"
    EPISODIC = "episodic"
    REFLECTIVE = "reflective"


class Chip(StrEnum):
    """The color family of a type's chip on pages."""

    AMBER = "amber"
    RED = "red"
    BLUE = "blue"
    GREEN = "green"
    NEUTRAL = "neutral"


class Governance(IntEnum):
    """How firmly a memory is kept, firmest first."""

    CONSTITUTIONAL = 1
    LEGISLATIVE = 2
    FACTUAL = 3
    EPHEMERAL = 4


class Scope(StrEnum):
    """Who sees a memory."""

    PERSONAL = "personal"
    PROJECT = "project"
    TEAM = "team"
    ORGANIZATION = "organization"


class Reach(StrEnum):
    """Where in the work a memory applies."""

    GLOBAL = "global"
    MODULE = "module"
    WORK_UNIT = "work_unit"
    SESSION = "session"


class Structure(StrEnum):
    """How the text of a memory is built."""

    NARRATIVE = "narrative"
    TIMELINE = "timeline"
    LEDGER = "ledger"
    TAXONOMY = "taxonomy"


class Verification(StrEnum):
    """Whether the source still says so; evidenced: its agent was asked about what was observed."""

    UNVERIFIED = "unverified"
    EVIDENCED = "evidenced"
    VERIFIED = "verified"
    STALE = "stale"
    CONTRADICTED = "contradicted"


class Trust(StrEnum):
    """Whether outside content had a part in a memory."""

    CLEAN = "clean"
    TAINTED = "tainted"


class Status(StrEnum):
    """Where a memory is in its life."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    DELETED = "deleted"


class Tier(StrEnum):
    """How valuable a memory has proved."""

    CURRENT = "current"
    SHORT_TERM = "short_term"
    LONG_TERM = "long_term"


class LinkKind(StrEnum):
    """How one memory relates to another."""

    SUPERSEDES = "supersedes"
    CONTRADICTS = "contradicts"
    UPDATE = "update"
    EXTEND = "extend"
    DERIVE = "derive"
    CAUSED_BY = "caused_by"
    RESOLVED_BY = "resolved_by"
    DEPENDS_ON = "depends_on"
    REQUIRED_WITH = "required_with"
    CONFLICTS_WITH = "conflicts_with"
    VALIDATES = "validates"
    SEE_ALSO = "see_also"
    SIMILAR = "similar"  # nearly the same text, but for something that may matter


class ConflictCause(StrEnum):
    """Why a candidate did not replace what it contradicts, so that a person decides."""

    EQUAL = "equal"
    PROPOSED = "proposed"
    OUTRANKED = "outranked"
    PROTECTED = "protected"
    ELSEWHERE = "elsewhere"
    OLDER = "older"
    UNREVIEWED = "unreviewed"
    JUDGED = "judged"
    SHARE = "share"
    UNSURE = "unsure"


PROPOSALS: Final = (  # where the candidate would replace what only people change
    ConflictCause.PROPOSED, ConflictCause.OUTRANKED, ConflictCause.PROTECTED,
)  # fmt: skip


class Verdict(StrEnum):
    """What a person decides about a memory."""

    KEEP = "keep"
    EDIT = "edit"
    REJECT = "reject"
    MERGE = "merge"
    SNOOZE = "snooze"
    UNLINK = "unlink"  # of a link, where its memory is shown; never suggested
    ROLL_BACK = "rollback"  # of all that somebody produced; never suggested


class SourceInterface(StrEnum):
    """The tool a memory came from."""

    CLAUDE_CODE = "claude-code"
    CURSOR = "cursor"
    CODEX = "codex"
    CHATGPT = "chatgpt"
    CLAUDE_AI = "claude-ai"
    PERPLEXITY = "perplexity"
    DASHBOARD = "dashboard"
    API = "api"
    IMPORT = "import"
    UNKNOWN = "unknown"


class Source(StrEnum):
    """The way a memory came about."""

    USER_TAUGHT = "user_taught"
    AGENT_EXPLICIT = "agent_explicit"
    QA_AUTO = "qa_auto"
    TOOL_AUTO = "tool_auto"
    COMMIT_AUTO = "commit_auto"
    IMPORT = "import"
    OBSERVER_INFERRED = "observer_inferred"
    EXTRACTED = "extracted"


LEARNED: Final = frozenset({Source.OBSERVER_INFERRED, Source.EXTRACTED})  # what sessions showed
FIX: Final = "fix"  # attribute of an error: what went through after it, as a session showed
STATED_BY: Final = "stated_by"  # attribute of what was said in a session: whose words it is
PERSON: Final = "person"


class Authority(IntEnum):
    """Whose word settles a conflict: the lower wins; the order between the ends is a default."""

    HUMAN = 1
    AGENT = 2
    QA = 3
    TOOL = 4
    OBSERVER = 5
    EXTRACTOR = 6


class TypeRow(NamedTuple):
    """One type: stored code, defaults, what it says; `half_life_days` None = never decays."""

    type: MemoryType
    code: int
    kind: MemoryKind
    governance: Governance
    half_life_days: int | None
    chip: Chip
    says: str


class SourceRow(NamedTuple):
    """One source: how far it is trusted and whose word it is."""

    source: Source
    trust_multiplier: float
    authority: Authority


# fmt: off
_TYPE_TABLE: tuple[tuple[str, str, int, int | None, str, str], ...] = (
    ("identity", "semantic", 1, None, "neutral", "who someone or the assistant is"),
    ("chain_of_command", "semantic", 1, None, "neutral", "who decides what"),
    ("decision", "semantic", 2, None, "blue", "a choice and its rationale"),
    ("correction", "semantic", 2, None, "neutral", "a fix of something believed before"),
    ("commitment", "semantic", 2, None, "neutral", "a promise"),
    ("requirement", "semantic", 2, None, "blue", "what must hold"),
    ("preference", "semantic", 2, None, "neutral", "how a person or project likes it"),
    ("fact", "semantic", 3, 90, "neutral", "a statement about the world"),
    ("reference", "semantic", 3, 90, "neutral", "where to look"),
    ("tool", "semantic", 3, 90, "neutral", "how a tool is used"),
    ("person", "semantic", 3, 180, "neutral", "about a person"),
    ("gotcha", "semantic", 3, 60, "amber", "a trap, a non-obvious constraint"),
    ("error_pattern", "semantic", 3, 60, "amber", "a recurring error and its fix"),
    ("fix", "procedural", 3, 60, "green", "what resolved a problem"),
    ("pattern", "procedural", 3, 180, "green", "a reusable way to build"),  # days: ours
    ("workflow_recipe", "procedural", 3, 120, "green", "ordered steps for a kind of task"),
    ("module_insight", "semantic", 3, 90, "neutral", "what a module is for"),
    ("dead_end", "semantic", 3, 90, "red", "an approach that failed, and why"),
    ("causal_dependency", "structural", 3, 120, "neutral", "change A, then B must change"),
    ("prefetch_pattern", "structural", 3, 120, "neutral", "files read together"),  # days: ours
    ("task_calibration", "structural", 3, 180, "neutral",
     "actual against planned steps of a module"),
    ("context_cost", "structural", 3, 180, "neutral", "tokens a module costs"),  # days: ours
    ("work_unit_outcome", "episodic", 4, 90, "neutral", "how a unit of work ended"),  # days: ours
    ("e2e_observation", "episodic", 4, 30, "neutral", "what the running product did"),
    ("work_state", "episodic", 4, 7, "neutral", "where unfinished work stands"),
    ("event", "episodic", 4, 14, "neutral", "something that happened"),
    ("episode", "episodic", 4, 14, "neutral", "a verbatim turn"),
    ("reflection", "reflective", 2, None, "neutral", "a periodic look at what was learned"),
)
# fmt: on

TYPES: tuple[TypeRow, ...] = tuple(
    TypeRow(MemoryType(type), code, MemoryKind(kind), Governance(layer), days, Chip(chip), says)
    for code, (type, kind, layer, days, chip, says) in enumerate(_TYPE_TABLE, 1)
)

ACTIVATION_FLOORS: dict[Governance, float] = {  # of ACT-R's base level, by layer
    Governance.CONSTITUTIONAL: 5.0,
    Governance.LEGISLATIVE: 2.0,
    Governance.FACTUAL: -0.5,
    Governance.EPHEMERAL: -2.0,
}

SOURCES: tuple[SourceRow, ...] = (  # authority: ours
    SourceRow(Source.USER_TAUGHT, 1.4, Authority.HUMAN),
    SourceRow(Source.AGENT_EXPLICIT, 1.2, Authority.AGENT),
    SourceRow(Source.QA_AUTO, 1.1, Authority.QA),
    SourceRow(Source.TOOL_AUTO, 1.0, Authority.TOOL),
    SourceRow(Source.COMMIT_AUTO, 1.0, Authority.TOOL),
    SourceRow(Source.IMPORT, 1.0, Authority.TOOL),
    SourceRow(Source.OBSERVER_INFERRED, 0.85, Authority.OBSERVER),
    SourceRow(Source.EXTRACTED, 0.85, Authority.EXTRACTOR),
)

CODE_TAG = "code"  # marks source text, of which searches weigh the meaning more
PROTECTED_TAGS: frozenset[str] = frozenset({  # these always prevent archival
    "correction", "decision", "identity", "emotional_anchor",
    "commitment", "exact_value", "chain_of_command", "person",
})  # fmt: skip

LAYER_TAGS: tuple[tuple[Governance, frozenset[str]], ...] = (  # firmest first
    (Governance.CONSTITUTIONAL, frozenset({"identity", "chain_of_command"})),
    (Governance.LEGISLATIVE, frozenset({"decision", "correction", "commitment", "exact_value"})),
)

DEFAULT_GOVERNANCE = Governance.FACTUAL
DEFAULT_CONFIDENCE = 0.8  # 0..1
CITATION_LENGTH = 40  # characters

_TYPE_ROWS = {row.type: row for row in TYPES}
_SOURCE_ROWS = {row.source: row for row in SOURCES}


def type_row(*, type: MemoryType) -> TypeRow:
    """Return the registry's row of a type."""
    return _TYPE_ROWS[type]


def source_row(*, source: Source) -> SourceRow:
    """Return the row of a source."""
    return _SOURCE_ROWS[source]


def governance_of(*, type: MemoryType | None, tags: tuple[str, ...], pinned: bool) -> Governance:
    """Choose the layer of a memory.

    A telling tag decides, else the type's row (None: a type that the registry does not know, so the
    default layer); a pinned memory is in layer 2 at least.
    """
    tagged = next((layer for layer, telling in LAYER_TAGS if telling.intersection(tags)), None)
    by_type = DEFAULT_GOVERNANCE if type is None else type_row(type=type).governance
    layer = by_type if tagged is None else tagged
    return min(layer, Governance.LEGISLATIVE) if pinned else layer


def is_protected(*, tags: tuple[str, ...]) -> bool:
    """Say whether a tag forbids archival, whatever the layer."""
    return not PROTECTED_TAGS.isdisjoint(tags)


def may_be_forgotten_by_agent(*, governance: Governance, tags: tuple[str, ...]) -> bool:
    """Say whether an agent may archive or delete a memory."""
    return governance > Governance.LEGISLATIVE and not is_protected(tags=tags)


def activation_floor(*, governance: Governance, protected_or_pinned: bool) -> float:
    """Return the lowest activation of a memory; at least 0 when protected or pinned."""
    floor = ACTIVATION_FLOORS[governance]
    return max(floor, 0.0) if protected_or_pinned else floor
