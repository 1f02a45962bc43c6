"""One predicate in three languages, a queryset, SQL and the search function, against plain words.

The model below says who may see a memory in plain words and knows nothing of audiences.
Random places, people and credentials are stored, and every form must give exactly what it says.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts import tenancy
from accounts.caller import Caller, Role
from memory.entities import queries as entities
from memory.index import queries as index_queries
from memory.index.actions import embedding
from memory.records.models import Memory
from memory.records.queries.views import visible
from memory.search.queries import find_candidates
from memory.search.query import understand
from memory.search.request import SearchRequest, SearchScope, question_of
from teams import visibility
from teams.models import Project, ProjectMember, Team, TeamMember
from tests.support import crowds

SPACE = UUID(int=0x7)
PEOPLE = ("ada", "bob", "cleo")
PROJECTS = ("shop", "vault", "lab")
TEAMS = ("core", "ops")
MANY = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A memory by words: its scope, whom it is of, where it stands, and whether it is deleted."""

    scope: str
    of: str
    project: str | None
    deleted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Who asks: a person or a service (None), a role, and the projects a token is bound to."""

    person: str | None
    role: Role
    bound: frozenset[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """Closed projects, who belongs where, what is stored, who asks."""

    closed: frozenset[str]
    project_members: frozenset[tuple[str, str]]
    team_members: frozenset[tuple[str, str]]
    stored: tuple[Stored, ...]
    asking: Asking


def may_enter(situation: Situation, project: str) -> bool:
    """Say whether who asks belongs to a project."""
    asking = situation.asking
    is_member = (project, asking.person) in situation.project_members
    return project not in situation.closed or is_member or asking.role in {Role.OWNER, Role.ADMIN}


def may_see(situation: Situation, one: Stored) -> bool:
    """Say whether who asks may see a memory."""
    asking = situation.asking
    if one.deleted or (asking.bound is not None and one.project not in asking.bound):
        return False
    return {
        "personal": asking.person == one.of,
        "team": (one.of, asking.person) in situation.team_members,
        "organization": True,
        "project": one.project is not None and may_enter(situation, one.project),
    }[one.scope]


def an_id(name: str) -> UUID:
    return uuid5(SPACE, name)


def memories() -> st.SearchStrategy[Stored]:
    place = st.sampled_from((*PROJECTS, None))
    return st.one_of(
        st.builds(Stored, scope=st.just("personal"), of=st.sampled_from(PEOPLE), project=place,
                  deleted=st.booleans()),
        st.builds(Stored, scope=st.just("team"), of=st.sampled_from(TEAMS), project=place,
                  deleted=st.just(False)),
        st.builds(Stored, scope=st.just("organization"), of=st.just("all"), project=place,
                  deleted=st.just(False)),
        st.builds(Stored, scope=st.just("project"), of=st.just("members"),
                  project=st.sampled_from(PROJECTS), deleted=st.booleans()),
    )  # fmt: skip


SITUATIONS = st.builds(
    Situation,
    closed=st.frozensets(st.sampled_from(PROJECTS)),
    project_members=st.frozensets(st.tuples(st.sampled_from(PROJECTS), st.sampled_from(PEOPLE))),
    team_members=st.frozensets(st.tuples(st.sampled_from(TEAMS), st.sampled_from(PEOPLE))),
    stored=st.lists(memories(), max_size=8).map(tuple),
    asking=st.builds(
        Asking,
        person=st.sampled_from((*PEOPLE, None)),
        role=st.sampled_from(Role),
        bound=st.none() | st.frozensets(st.sampled_from(PROJECTS)),
    ),
)


def ask_as(caller: Caller, asking: Asking) -> Caller:
    """Return the caller who asks."""
    return replace(
        caller,
        user_id=None if asking.person is None else an_id(asking.person),
        role=asking.role,
        bound_projects=None if asking.bound is None else tuple(map(an_id, sorted(asking.bound))),
    )


@contextmanager
def lived(situation: Situation, caller: Caller, now: datetime) -> Iterator[dict[UUID, Stored]]:
    """Store a situation; take it away again."""
    rows = {an_id(f"{number} {one}"): one for number, one in enumerate(situation.stored)}
    with transaction.atomic():
        with tenancy.unit():
            _settle(situation)
            _store(rows, caller, now)
            yield rows
        transaction.set_rollback(True)


def _settle(situation: Situation) -> None:
    for name in PROJECTS:
        is_open = name not in situation.closed
        Project.objects.create(id=an_id(name), slug=name, name=name, open_to_all=is_open)
    for name in TEAMS:
        Team.objects.create(id=an_id(name), slug=name, name=name)
    for place, person in situation.project_members:
        ProjectMember.objects.create(project_id=an_id(place), user_id=an_id(person))
    for place, person in situation.team_members:
        TeamMember.objects.create(team_id=an_id(place), user_id=an_id(person))


def _store(rows: dict[UUID, Stored], caller: Caller, now: datetime) -> None:
    for key, one in rows.items():
        project_id = None if one.project is None else an_id(one.project)
        audience = {"organization": caller.organization_id, "project": an_id(str(one.project))}
        row = Memory.objects.create(
            id=key, scope=one.scope, audience=audience.get(one.scope, an_id(one.of)),
            project_id=project_id, content=f"lantern {key}",
            content_hash=key.hex, citation="", type="fact", created_at=now, updated_at=now,
            valid_from=now, source="import", source_interface="import",
            status="deleted" if one.deleted else "active",
        )  # fmt: skip
        row.names = (crowds.named("lantern"),)
        entities.write(rows=(row,))
    if rows:
        code = embedding.code_of("fact")
        index_queries.write_keywords(rows=tuple((key, code, "lantern") for key in rows))


def by_sql(sight: visibility.Sight) -> set[UUID]:
    """Ask in SQL."""
    with connection.cursor() as cursor:
        predicate = visibility.as_sql(alias="m")
        cursor.execute(
            f"SELECT m.id FROM memory_memory AS m WHERE m.status <> 'deleted' AND {predicate}",
            visibility.parameters(sight=sight),
        )
        return {row[0] for row in cursor.fetchall()}


def by_search(sight: visibility.Sight, **asked: Any) -> set[UUID]:
    """Ask the search function."""
    open_one = question_of(
        request=SearchRequest(query=""), scope=SearchScope(), asked=understand(text="")
    )
    question = {**open_one, "keyword_limit": MANY, **asked}
    found = find_candidates(question=question, embedded=None, sight=sight).found
    return {one.memory_id for one in found}


@pytest.mark.usefixtures("in_organization")
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(situation=SITUATIONS)
def test_every_form_of_the_predicate_says_what_the_spec_says(
    caller: Caller, now: datetime, situation: Situation
) -> None:
    asker = ask_as(caller, situation.asking)
    with lived(situation, caller, now) as rows:
        expected = {key for key, one in rows.items() if may_see(situation, one)}
        sight = visibility.sight_of(caller=asker)

        assert {row.id for row in visible(caller=asker)} == expected
        assert by_sql(sight) == expected
        assert by_search(sight, words="lantern") == expected
        assert by_search(sight, words="", named=("lantern",)) == expected


@pytest.mark.usefixtures("in_organization")
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(situation=SITUATIONS)
def test_projects_are_seen_by_those_who_belong(
    caller: Caller, now: datetime, situation: Situation
) -> None:
    asker = ask_as(caller, situation.asking)
    bound = situation.asking.bound
    with lived(situation, caller, now):
        sight = visibility.sight_of(caller=asker)
        seen: Any = Project.objects.filter(visibility.projects_q(sight=sight))

        assert {row.slug for row in seen} == {
            name for name in PROJECTS
            if may_enter(situation, name) and (bound is None or name in bound)
        }  # fmt: skip
