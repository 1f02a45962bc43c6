"""The shapes of what callers send about memories, and the values made of it.

Content is bounded loosely here: the length gate says its own bounds, with a hint, and in a bulk it
refuses one memory instead of the whole request. Bounds of the other fields are the columns'.
"""

from collections.abc import Mapping
from typing import Any, Final

from accounts.api.shapes import (
    Field,
    Fraction,
    Free,
    Identifier,
    Moment,
    Record,
    Several,
    Shape,
    Text,
    Truth,
    Whole,
)
from accounts.caller import Caller, is_person
from accounts.errors import wrong_field
from memory.customization.custom_type_rules import FORM, LONGEST
from memory.customization.phases import Phase
from memory.injection.actions.trigger_points import PointRequest
from memory.injection.planner import STEPS_MOST as MOST_STEPS
from memory.intake.actions.remember import NewMemory
from memory.records import states
from memory.records.actions.validation import LARGEST_LINE
from memory.records.filters import STATES
from memory.review.actions.correct import KINDS
from memory.search.context import LARGEST_BUDGET, ContextRequest
from memory.search.lookups import Closeness
from memory.search.refinement import Rerank
from memory.search.request import (
    LARGEST_FILTER,
    LARGEST_LIMIT,
    LONGEST_QUERY,
    PROFILES,
    Mode,
    Narrowing,
    SearchRequest,
)
from memory.sessions.points import Point
from memory.taxonomy import MemoryType, Reach, Scope, Source, Status

CONTENT: Final = Text(largest=100_000)
TYPE: Final = Text(  # ours, or one that a methodology adds
    largest=LONGEST,
    smallest=1,
    choices=tuple(item.value for item in MemoryType),
    form=FORM,
)
STATUS: Final = Text(
    largest=12, choices=tuple(item.value for item in Status if item is not Status.DELETED)
)
SCOPE: Final = Text(largest=12, choices=tuple(item.value for item in Scope))
NEW_SCOPE: Final = Text(  # a team is named where a memory is moved to it
    largest=12, choices=tuple(item.value for item in Scope if item is not Scope.TEAM)
)
TAGS: Final = Several(of=Text(largest=64, smallest=1), largest=64)
FILES: Final = Several(of=Text(largest=400, smallest=1), largest=64)
MODULES: Final = Several(of=Text(largest=200, smallest=1), largest=64)
PROJECT: Final = Field(
    name="project", shape=Text(largest=64, smallest=1), says="A project's slug or id."
)
MOST_IN_ADDRESS: Final = (
    32  # values of one filter: an address of 64 kB is the longest a server reads
)
LARGEST_STEP: Final = 1_000_000_000  # as of events
AGENT_SOURCES: Final = tuple(  # what an agent may say of itself; a person's word is its own
    item.value for item in Source if item is not Source.USER_TAUGHT
)


def _values(longest: int, most: int) -> Several:
    return Several(of=Text(largest=longest, smallest=1), largest=most)


def _optional(name: str, shape: Shape, says: str, default: Any = None) -> Field:
    return Field(name=name, shape=shape, says=says, default=default)


REASON: Final = _optional("reason", Text(largest=200), "Why, for the history.", "")
MEMORY_FIELDS: Final = (
    Field(name="content", shape=CONTENT, says="One statement worth keeping.", required=True),
    _optional("type", TYPE, "What it is about; found by itself when left out."),
    _optional("external_id", Text(largest=200), "Your own id, unique in a project: upserts.", ""),
    _optional("tags", TAGS, "Words to find it by.", ()),
    _optional("related_files", FILES, "Paths it is about.", ()),
    _optional("related_modules", MODULES, "Modules it is about.", ()),
    _optional("scope", SCOPE, "Who sees it; the project, when there is one."),
    _optional("team", Text(largest=64, smallest=1), "The team's slug, for the scope team."),
    _optional("attributes", Free(), "The typed payload of some types.", {}),
    _optional("confidence", Fraction(), "How sure, 0 to 1."),
    _optional("pinned", Truth(), "Whether it never fades.", False),
    _optional("event_at", Moment(), "When it happened."),
    _optional(
        "reach",
        Text(largest=12, choices=tuple(item.value for item in Reach)),
        "Where in the work it applies.",
        Reach.GLOBAL.value,
    ),
    _optional("phase", Text(largest=20), "The phase of work.", ""),
    _optional("methodology", Text(largest=40), "The methodology.", ""),
    _optional("source", Text(largest=20, choices=AGENT_SOURCES), "How it was learned."),
    _optional("source_uri", Text(largest=500), "Where it was found.", ""),
    _optional("source_line", Whole(smallest=0, largest=LARGEST_LINE), "The line there."),
    _optional("commit_sha", Text(largest=64), "The commit it was true at.", ""),
)
NEW_MEMORY: Final = Record(name="NewMemory", fields=(PROJECT, *MEMORY_FIELDS))
NEW_MEMORIES: Final = Record(
    name="NewMemories",
    fields=(
        PROJECT,
        Field(
            name="memories",
            shape=Several(of=NEW_MEMORY, largest=1_000),
            says="At most 1,000; a memory may name another project of its own.",
            required=True,
        ),
    ),
)
CHANGES: Final = Record(
    name="MemoryChanges",
    partial=True,
    fields=(
        _optional("content", CONTENT, "The new text."),
        _optional("type", TYPE, "The new type."),
        _optional("external_id", Text(largest=200), "Your own id."),
        _optional("tags", TAGS, "All tags from now on."),
        _optional("related_files", FILES, "All paths from now on."),
        _optional("related_modules", MODULES, "All modules from now on."),
        _optional("scope", SCOPE, "Who sees it."),
        _optional("team", Text(largest=64, smallest=1), "The team's slug, for the scope team."),
        _optional("pinned", Truth(), "Whether it never fades."),
        _optional("attributes", Free(), "The typed payload."),
        _optional("reason", Text(largest=200), "Why, for the history."),
    ),
)
CORRECTION: Final = Record(
    name="Correction",
    fields=(
        Field(name="content", shape=CONTENT, says="What is right.", required=True),
        _optional("kind", Text(largest=12, choices=KINDS), "What was wrong.", "wrong"),
        REASON,
        _optional(
            "scope", NEW_SCOPE, "Who sees the corrected one; else whoever saw the wrong one."
        ),
    ),
)
PIN: Final = Record(name="Pin", fields=(_optional("pinned", Truth(), "Or let go.", True),))
NOTHING: Final = Record(name="Nothing", fields=())
REST: Final = Record(
    name="Rest",
    fields=(
        Field(
            name="until", shape=Moment(), says="When it waits again, in a year at most.",
            required=True,
        ),
    ),
)  # fmt: skip
QUERY: Final = Field(
    name="query",
    shape=Text(largest=LONGEST_QUERY, smallest=1),
    says="What to look for, in words.",
    required=True,
)
PATTERN: Final = "pattern"
MODES: Final = (*Mode, PATTERN)
LIMIT: Final = _optional("limit", Whole(smallest=1, largest=LARGEST_LIMIT), "How many at most.", 10)
PATH: Final = Field(
    name="path", shape=Text(largest=400, smallest=1), says="The path of a file.", required=True
)
CLOSENESS: Final = _optional(
    "closeness",
    Text(largest=8, choices=tuple(Closeness)),
    "How far from the file: it, paths that end alike, or its folder.",
    Closeness.NAME.value,
)


MOST_TOPICS: Final = 64  # as in lists and over MCP


def _narrowing(most: int) -> tuple[Field, ...]:
    return (
        PROJECT,
        _optional("projects", _values(64, most), "Only these projects, by slug or id.", ()),
        _optional("types", Several(of=TYPE, largest=len(MemoryType)), "Only these types.", ()),
        _optional("tags", _values(64, most), "With all of these tags.", ()),
        _optional(
            "files", _values(400, most), "About one of these: paths, ends of paths, or globs.", ()
        ),
        _optional(
            "topics",
            _values(200, MOST_TOPICS),
            "In one of these topics, by id or by words of its name.",
            (),
        ),
        _optional("author", Text(largest=120, smallest=1), "A person's id, an agent or a tool."),
    )


MOMENTS: Final = (
    _optional("since", Moment(), "Learned at that moment or later."),
    _optional("until", Moment(), "Learned before that moment."),
    _optional("as_of", Moment(), "What was known at that moment."),
)
NARROWING: Final = _narrowing(MOST_IN_ADDRESS)
STORY: Final = (*NARROWING, *MOMENTS)
FILTERS: Final = (*_narrowing(LARGEST_FILTER), *MOMENTS)
RANKING: Final = (
    _optional("profile", Text(largest=20, choices=PROFILES), "How to rank."),
    _optional(
        "rerank",
        Text(largest=8, choices=tuple(Rerank)),
        "Whether a second model puts the best results in order; usual: turns of conversations.",
        Rerank.USUAL.value,
    ),
    _optional("threshold", Fraction(), "Least relevance; 0 returns the bare ranking."),
)
SEARCH: Final = Record(
    name="Search",
    fields=(
        QUERY,
        *FILTERS,
        _optional(
            "states",
            Several(of=Text(largest=10, choices=STATES), largest=len(STATES)),
            "Memories in these states; else those that are live. `any` is every one.",
            (),
        ),
        LIMIT,
        _optional(
            "mode",
            Text(largest=8, choices=MODES),
            "How to look: by meaning and words, by words alone, or by a regular expression.",
            MODES[0],
        ),
        _optional("phase", Text(largest=12, choices=tuple(Phase)), "Raises the phase's types."),
        *RANKING,
        _optional("hyde", Truth(), "Whether a model may write what is missing.", False),
        _optional("explain", Truth(), "Whether each result says why it stands there.", False),
        _optional(
            "organize",
            Truth(),
            "Whether results stand in their story's order, each with what it is linked with.",
            False,
        ),
    ),
)
CONTEXT: Final = Record(
    name="ContextRequest",
    fields=(
        QUERY,
        _optional("phase", Text(largest=40, smallest=1), "The phase of work, or its own name."),
        _optional("methodology", Text(largest=40, smallest=1), "Whose names of phases are used."),
        _optional(
            "budget_tokens",
            Whole(smallest=1, largest=LARGEST_BUDGET),
            "Tokens the text may take; the phase's own when left out.",
        ),
        _optional(
            "topic",
            Text(largest=LONGEST_QUERY, smallest=1),
            "What the session is about, for the style of answers; else the query says it.",
        ),
        _optional("style", Truth(), "Whether the style that fits begins the text.", True),
        _optional(
            "working_files", FILES, "Files that are worked on: what is about them comes first.", ()
        ),
        _optional(
            "point",
            Text(largest=20, choices=tuple(Point)),
            "A point of a session at which memory is given back, never the same twice.",
        ),
        _optional("session", Identifier(), "The session of yours that is at this point."),
        _optional("modules", MODULES, "Modules of the task, at first_message and planner.", ()),
        _optional(
            "step", Whole(smallest=1, largest=LARGEST_STEP), "The step that comes next, at step.", 5
        ),
        _optional(
            "estimate", Whole(smallest=1, largest=MOST_STEPS), "Steps of the plan, at planner."
        ),
        *FILTERS,
        *RANKING,
    ),
)


OF_CONTEXT: Final = (  # not the search's
    "phase", "methodology", "budget_tokens", "topic", "style", "working_files",
)  # fmt: skip
OF_POINT: Final = ("point", "session", "modules", "step", "estimate")
SHOWING: Final = frozenset({"explain", "organize"})  # how the answer is shown


def new_memory(*, caller: Caller, body: dict[str, Any], project: str | None = None) -> NewMemory:
    """Make the value of a checked NEW_MEMORY; `project` stands in when it names none."""
    given = {**body, "project": body["project"] or project}
    usual = Source.USER_TAUGHT if is_person(caller=caller) else Source.AGENT_EXPLICIT
    return NewMemory(**{**given, "source": body["source"] or usual.value})


def search_request(*, body: dict[str, Any]) -> SearchRequest:
    """Make the value of a checked SEARCH."""
    given = {name: body[name] for name in body if name not in SHOWING}
    return SearchRequest(**{**given, "states": states.named(names=body["states"])})


def narrowing(*, given: Mapping[str, Any]) -> Narrowing:
    """Make the value of checked FILTERS, and of the limit where there is one."""
    names = (*(field.name for field in FILTERS), "limit")
    return Narrowing(**{name: given[name] for name in names if given.get(name) is not None})


def context_request(*, body: dict[str, Any]) -> ContextRequest:
    """Make the value of a checked CONTEXT."""
    own = {name: body[name] for name in OF_CONTEXT}
    return ContextRequest(search=_wanted(body), **own)


def at_point(*, body: dict[str, Any]) -> PointRequest:
    """Make the value of a checked CONTEXT that names a point. Raises InvalidInput."""
    if body["session"] is None:
        raise wrong_field(
            pointer="/session",
            detail="A point belongs to a session.",
            hint="POST /api/v1/sessions opens one; leave the point out to pack a context.",
            code="needs_session",
        )
    return PointRequest(
        point=Point(body["point"]),
        session_id=body["session"],
        task=_wanted(body),
        files=body["working_files"],
        modules=body["modules"],
        step=body["step"],
        estimate=body["estimate"],
    )


def _wanted(body: dict[str, Any]) -> SearchRequest:
    own = {*OF_CONTEXT, *OF_POINT}
    return SearchRequest(**{name: value for name, value in body.items() if name not in own})
