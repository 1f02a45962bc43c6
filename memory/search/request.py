"""What a search is asked: the request, checked, as a question to the database.

Everything a caller may narrow a search by stands here. `Narrowing` holds the same filters for the
lookups that ask without words. Nothing is given after the deadline of who asks, nor written down as
given: what comes later reaches nobody.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from itertools import islice
from typing import Any, Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import FieldError, InvalidInput
from accounts.messages import message
from memory.customization import custom_type_rules, phases
from memory.customization import queries as customization_queries
from memory.index.actions.embedding import Embedded
from memory.index.queries import PREFIX_SURPLUS
from memory.records.filters import LIVE, States
from memory.search import fusion, ranking, refinement
from memory.search.query import MOST_IDENTIFIERS, Query, understand
from memory.taxonomy import MemoryType, type_row
from memory.text import globs
from memory.text.text import check_text
from memory.topics import queries as topics_queries
from teams import queries as places
from teams import visibility

DENSE_LIMIT: Final = 30
KEYWORD_LIMIT: Final = 20
GRAPH_LIMIT: Final = 15
NAMED_LIMIT: Final = 15
TOPICS_LIMIT: Final = 15  # the last two are defaults, not measured
MOST_NEAR: Final = 64  # names around which the graph path looks, the first ones
MOST_STEPS: Final = 12  # of a path whose folders stand for modules; this and the next: defaults
MOST_HERE: Final = 256  # names of where somebody works
LARGEST_LIMIT: Final = 100
LARGEST_FILTER: Final = 10_000  # values of one filter
LONGEST_QUERY: Final = 20_000  # characters
PROFILES: Final = tuple(ranking.PROFILES)  # names
NO_WORDS: Final = "anything"


class TooLate(Exception):
    """Whoever asked has left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadline:
    """A moment of a clock that only goes forward, in its seconds."""

    ends_at: float
    clock: Callable[[], float]

    def is_past(self) -> bool:
        """Say whether whoever asked has left."""
        return self.clock() >= self.ends_at


NEVER: Final = Deadline(ends_at=math.inf, clock=lambda: 0.0)


class Mode(StrEnum):
    """How a search looks: by meaning and by words, or by words alone."""

    HYBRID = "hybrid"
    KEYWORD = "keyword"


class Silence(StrEnum):
    """What a search leaves out when relevance stays below the threshold.

    `QUERY`: everything, where no result reaches it; one that does vouches for the ranking. `HIT`:
    each that does not, in what is given to agents that did not ask. `NONE`: nothing.
    """

    QUERY = "query"
    HIT = "hit"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Where somebody works who asks: what is out of reach there is not given.

    That is what their own session wrote, and what applies in another session, in another unit of
    work, or to other files and modules than those of the question and `near`; where `near` is None,
    all that is looked for is about the same files and modules. `locate` finds the session and its
    unit in the unit of the search, which then needs no other.
    """

    session_id: UUID | None = None
    unit: Mapping[str, str] = field(default_factory=dict)
    near: tuple[str, ...] | None = ()
    locate: Callable[[], "Work"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowing:
    """What memories are narrowed by; what is empty lets everything through.

    `types`: any of ours, or one that a methodology adds; `tags`: all of them; `files`: any of these
    paths, suffixes or globs; `projects`: any of these; `topics`: any of these, by id or by words of
    the name; `author`: a person's id, an agent or a tool; `since`, `until`: when it was learned;
    `work`: where an agent asks, None for who is given everything.
    """

    project: str | None = None
    projects: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    author: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    limit: int = 10
    work: Work | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest(Narrowing):
    """What someone asks.

    `modules`: any of these; `states`: also what is not live; `least_sure`, `most_sure`: bounds of
    the confidence; `phase`: of the work, raises some types; `threshold` 0 returns the ranking
    without silence; `hyde`: a model may write the memory that is missing when little is found;
    `is_noted`: that the results were given out; `asked_at`: what yesterday is relative to, now
    where it is None.
    """

    query: str
    profile: str | None = None
    threshold: float | None = None
    modules: tuple[str, ...] = ()
    states: States = LIVE
    least_sure: float | None = None
    most_sure: float | None = None
    phase: str | None = None
    rerank: str = refinement.Rerank.USUAL.value
    hyde: bool = False
    mode: str = Mode.HYBRID.value
    silence: Silence = Silence.QUERY
    is_noted: bool = True
    asked_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchScope:
    """Where a search looks: the projects and topics (None: all of them).

    `threshold` is the request's or the one that the only project sets, `own` its weights of phases.
    """

    projects: tuple[UUID, ...] | None = None
    threshold: float | None = None
    topics: tuple[UUID, ...] | None = None
    own: phases.Own = field(default_factory=dict)

    @property
    def only_project(self) -> UUID | None:
        """The project, where there is one alone."""
        return self.projects[0] if self.projects and len(self.projects) == 1 else None


def check(*, request: SearchRequest) -> None:
    """Raise InvalidInput naming every wrong field."""
    errors = tuple(
        FieldError(pointer=pointer, detail=detail, code="wrong")
        for pointer, is_wrong, detail in (*_faults(request), *_filter_faults(request))
        if is_wrong
    )
    if errors:
        raise InvalidInput(
            detail=errors[0].detail, hint="Correct the named fields and ask again.", errors=errors
        )


def check_narrowing(*, narrowing: Narrowing) -> None:
    """Raise InvalidInput naming every wrong field."""
    check(request=_as_request(narrowing))


def scope_of(*, caller: Caller, request: SearchRequest) -> SearchScope:
    """Find the projects of a request. In a unit. Raises NotFound for one the caller cannot see.

    Raises InvalidInput for a type that nobody knows.
    """
    named = dict.fromkeys((*((request.project,) if request.project else ()), *request.projects))
    visibility.sight_of(caller=caller, refs=tuple(filter(str.isprintable, named)))
    customization_queries.check_custom_types(caller=caller, names=request.types)
    found = tuple(_project_scope(caller, ref) for ref in named)
    only = found[0] if len(found) == 1 else SearchScope()
    meant = topics_queries.named_by(caller=caller, refs=request.topics) if request.topics else None
    return SearchScope(
        topics=meant,
        projects=tuple(project_id for one in found for project_id in one.projects or ()) or None,
        threshold=only.threshold if request.threshold is None else request.threshold,
        own=only.own,
    )


def _project_scope(caller: Caller, ref: str) -> SearchScope:
    """Return a project and what it sets, read once in a unit for what the caller may see."""
    memo = tenancy.memo()
    sight = visibility.sight_of(caller=caller)
    key = (SearchScope, sight, ref)
    if key not in memo:
        read = visibility.settings_of(sight=sight, ref=ref)
        if read is None:
            row = places.find_project(caller=caller, ref=ref)
            read = row.id, row.settings
        project_id, settings = read
        memo[key] = SearchScope(
            projects=(project_id,),
            threshold=places.setting_of(settings=settings, name=places.THRESHOLD),
            own=phases.read_weights(settings=settings).weights,
        )
    found: SearchScope = memo[key]
    return found


def is_narrowed(*, request: SearchRequest) -> bool:
    """Say whether a request lets only some memories of its projects through."""
    lists = (request.types, request.tags, request.files, request.modules, request.topics)
    single = (
        *(request.since, request.until, request.author, request.as_of),
        *(request.least_sure, request.most_sure),
    )
    is_one_given = any(lists) or any(value is not None for value in single)
    return is_one_given or request.states != LIVE


def question_of(
    *, request: SearchRequest, scope: SearchScope, asked: Query, embedded: Embedded | None = None
) -> dict[str, Any]:
    """Return what the database is asked: the fields of the SQL type search_request but visibility.

    None lets everything through. `type_names` say the same as `types`, for where rows have names.
    """
    profile = ranking.profile_of(name=request.profile)
    surplus = PREFIX_SURPLUS if embedded is not None and embedded.is_long else 1
    near = (name for name in (*asked.identifiers, *request.files) if len(name) <= globs.LONGEST)
    is_of_files = bool(request.files or request.modules)  # what is found is about them
    words = None if is_of_files else (*asked.identifiers, *asked.normalized.split())
    return {
        **work_fields(work=request.work, names=words),
        "words": asked.keyword_text,
        "projects": scope.projects and list(scope.projects),
        **_list_filters(request),
        "moment": request.as_of,
        "since": request.since,
        "until": request.until,
        "by_author": request.author,
        "by_topics": None if scope.topics is None else list(scope.topics),
        "no_states": request.states.none_of,
        "least_sure": request.least_sure,
        "most_sure": request.most_sure,
        "near": list(islice(near, MOST_NEAR)),
        "named": list(asked.named),
        "spelled": list(asked.named.values()),
        "kinds": asked.kinds,
        "dense_limit": max(DENSE_LIMIT, request.limit) * surplus,
        "keyword_limit": max(KEYWORD_LIMIT, request.limit),
        "graph_limit": GRAPH_LIMIT,
        "named_limit": NAMED_LIMIT,
        "topics_limit": TOPICS_LIMIT if profile.paths.get(fusion.Path.COMMUNITIES) else 0,
        "identifiers": list(asked.identifiers)[:MOST_IDENTIFIERS],
        "keys": list(asked.identifiers.values())[:MOST_IDENTIFIERS],
        "with_text": request.rerank in refinement.ASKED,
        "with_beside": not is_narrowed(request=request),  # for them no filter was asked
    }


def _list_filters(request: SearchRequest) -> dict[str, list[Any] | None]:
    """Return what a request filters by lists; an empty one filters nothing."""
    own = _custom_types(request)
    types = () if own else request.types
    files, marks = request.files, (custom_type_rules.mark(name=name) for name in own)
    filters: dict[str, list[Any]] = {
        "types": [type_row(type=MemoryType(name)).code for name in types],
        "type_names": list(types),
        "by_tags": [*request.tags, *marks],
        "by_files": [file for file in files if not globs.is_glob(text=file)],
        "by_globs": [globs.like(glob=file) for file in files if globs.is_glob(text=file)],
        "by_modules": list(request.modules),
        "by_states": list(request.states.all_of),
    }
    return {name: values or None for name, values in filters.items()}


def narrowed_question(*, caller: Caller, narrowing: Narrowing) -> dict[str, Any]:
    """Return filters and the caller's sight as the database takes them. In a unit.

    Raises NotFound for a project the caller cannot see.
    """
    request = _as_request(narrowing)
    scope = scope_of(caller=caller, request=request)
    return {
        **question_of(request=request, scope=scope, asked=understand(text=NO_WORDS)),
        **visibility.parameters(sight=visibility.sight_of(caller=caller)),
    }


def _as_request(narrowing: Narrowing) -> SearchRequest:
    values = {name: getattr(narrowing, name) for name in Narrowing.__dataclass_fields__}
    return SearchRequest(query=NO_WORDS, **values)


def work_fields(*, work: Work | None, names: Iterable[str] | None) -> dict[str, Any]:
    """Return what the database is told of where somebody works and which names a question has.

    A path stands for the modules that it lies in as well. Without names any file will do. In a
    unit.
    """
    if work is None:
        return {"in_work": False, "own_session": None, "unit": None, "here": None}
    found = work.locate() if work.locate is not None else work
    return {
        "in_work": True,
        "own_session": found.session_id,
        "unit": json.dumps(dict(found.unit)),
        "here": _here(found.near, names),
    }


def _here(near: tuple[str, ...] | None, names: Iterable[str] | None) -> list[str] | None:
    if near is None or names is None:
        return None
    short = (name for name in (*near, *names) if len(name) <= globs.LONGEST)
    first = tuple(islice(dict.fromkeys(short), MOST_NEAR))
    parents = (part for name in first for part in _parents(name))
    return list(islice(dict.fromkeys((*first, *parents)), MOST_HERE))


def _parents(path: str) -> Iterator[str]:
    """Yield the folders of a path, each by its whole path and by its name; of the first few."""
    steps = [step for step in path.split("/", MOST_STEPS + 1) if step][:-1]
    for count, step in enumerate(steps, start=1):
        yield "/".join(steps[:count])
        yield step


def _custom_types(request: SearchRequest) -> tuple[str, ...]:
    return tuple(name for name in request.types if custom_type_rules.is_own(name=name))


def _faults(request: SearchRequest) -> Iterator[tuple[str, bool, str]]:
    too_long = message("Use at most {most} characters.", most=LONGEST_QUERY)
    limits = message("Use 1 to {most}.", most=LARGEST_LIMIT)
    share = message("Use a number from 0 to 1.")
    unstorable = message("Leave out unstorable characters.")
    yield "/query", not request.query.strip(), message("Write what to look for.")
    yield "/query", bool(check_text(text=request.query)), unstorable
    yield "/query", len(request.query) > LONGEST_QUERY, too_long
    yield "/limit", not 1 <= request.limit <= LARGEST_LIMIT, limits
    yield "/profile", request.profile not in {None, *PROFILES}, _one_of(PROFILES)
    yield "/threshold", not 0 <= (request.threshold or 0) <= 1, share
    yield "/mode", request.mode not in set(Mode), _one_of(Mode)
    yield "/rerank", request.rerank not in set(refinement.Rerank), _one_of(refinement.Rerank)
    yield "/phase", request.phase not in {None, *phases.Phase}, _one_of(phases.Phase)


def _one_of(names: Iterable[str]) -> str:
    return message("Use one of: {names}.", names=tuple(names))


def _holds_wrong(values: Iterable[str]) -> bool:
    return any(not value.strip() or check_text(text=value) for value in values)


def _filter_faults(request: SearchRequest) -> Iterator[tuple[str, bool, str]]:
    own = _custom_types(request)
    wrong_type = next((name for name in request.types if name not in {*MemoryType, *own}), None)
    alone = message("A search looks for one type of a methodology's own, or for types of ours.")
    no_type = message("{name!r} is not a type of memory.", name=wrong_type or "")
    too_many = message("Name at most {most} of them.", most=LARGEST_FILTER)
    globbed = message("Use at most {most} of them with * or ?.", most=globs.MOST_GLOBS)
    yield "/types", wrong_type is not None, no_type
    yield "/types", bool(own) and len(request.types) > 1, alone
    for name in ("tags", "files", "modules", "projects", "topics"):
        values = getattr(request, name)
        yield f"/{name}", len(values) > LARGEST_FILTER, too_many
        yield (
            f"/{name}",
            _holds_wrong(values),
            message("Leave out empty values and unstorable characters."),
        )
    globbing = sum(globs.is_glob(text=file) for file in request.files)
    yield "/files", globbing > globs.MOST_GLOBS, globbed
    authors = () if request.author is None else (request.author,)
    yield "/author", _holds_wrong(authors), message("Name a person's id, an agent or a tool.")
    since, until = request.since, request.until
    late = since is not None and until is not None and since >= until
    yield "/until", late, message("Let “until” come after “since”.")
