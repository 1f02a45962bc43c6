"""What the graph did to rankings: as two real searches show it, by day, and whom it is told."""

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import product
from random import Random
from uuid import UUID, uuid4

import numpy as np
import pytest

from accounts import tenancy
from accounts.caller import Caller, Role, TokenScope
from memory.experiments.points import Point
from memory.experiments.queries import LARGEST_DAYS, GraphChanges, report
from memory.index.actions import maintenance
from memory.index.actions.embedding import Embedded
from memory.index.models import AccessLog
from memory.injection.actions.trigger_points import PointRequest, deliver_at_point
from memory.observer.actions.prior_sessions import forget_counted
from memory.search import pool as pools
from memory.search import queries, query
from memory.search import request as search_request
from memory.search.actions import search
from memory.search.context import ContextRequest, context
from memory.search.pool import Pool
from memory.search.request import SearchRequest
from memory.sessions.actions.lifecycle import NewSession, open_session
from memory.sessions.models import Statistic
from teams import visibility
from teams.models import Project
from tests.support import crowds, memories
from tests.support.memories import CARTS, PARSER, REDIS

pytestmark = pytest.mark.usefixtures("in_organization")
DAYS = 30
QUESTIONS = (
    "lantern harbor web/app.tsx",
    "what breaks in src/billing/parser.py and Auth?",
    "copper",
    "why does web/parser.py depend on billing/parser.py",
    "violin meadow engine",
)


@pytest.fixture
def store(caller: Caller, now: datetime) -> str:
    """A project of two hundred memories of five files."""
    with tenancy.unit():
        (project,) = crowds.make_projects("store")
        members = crowds.crowd(size=200, projects=(project,), now=now)
        crowds.settle(members=members, caller=caller, now=now)
    return "store"


def gathered(caller: Caller, request: SearchRequest, now: datetime, seed: int) -> tuple[Pool, Pool]:
    """Gather a search twice: as it is, and really without what lies around its files."""
    asked = query.understand(text=request.query)
    vector = np.array([Random(seed + place).gauss() for place in range(8)], dtype=np.float32)
    embedded = Embedded(key=crowds.MODEL, vector=vector / np.linalg.norm(vector))
    with tenancy.unit():
        pool = pools.gather(caller=caller, request=request, asked=asked, embedded=embedded, now=now)
        scope = search_request.scope_of(caller=caller, request=request)
        question = search_request.question_of(
            request=request, scope=scope, asked=asked, embedded=embedded
        )
        bare = queries.find_candidates(
            question={**question, "graph_limit": 0},
            embedded=embedded,
            sight=visibility.sight_of(caller=caller),
        ).found
    known = {id: replace(one, files=()) for id, one in pool.known.items()}
    return pool, replace(pool, found=bare, known=known)


def test_what_changed_is_what_searches_show(caller: Caller, store: str, now: datetime) -> None:
    seen = set()
    for text, profile in product(QUESTIONS, ("plain", "coding", "rrf")):
        request = SearchRequest(query=text, project=store, profile=profile)
        for seed in range(6):
            pool, bare = gathered(caller, request, now, seed)
            standings = pools.rank(pool=pool, request=request)
            found = pools.graph_part_of(pool=pool, request=request, standings=standings)

            without = pools.rank(pool=bare, request=request)
            assert found is not None
            firsts = [
                [one.memory_id for one in each[: pools.FIRST]] for each in (without, standings)
            ]
            assert found.changed == (firsts[0] != firsts[1]), (text, profile)
            has_path = any("graph" in one.scores for one in pool.found)
            assert found.took_part == (has_path or any(one.boost for one in standings))
            seen.add(found.changed)
    assert seen == {True, False}


@pytest.fixture
def shop(caller: Caller, now: datetime) -> str:
    """A project with three memories of two files."""
    with tenancy.unit():
        crowds.make_projects("shop", "other")
    files = (("billing/parser.py",), ("src/cart.py",), ())
    for text, own in zip((PARSER, CARTS, REDIS), files, strict=True):
        memories.stored(
            caller, now, text, project="shop", related_files=own, type="dead_end", confidence=0.9
        )
    return "shop"


def asked(caller: Caller, now: datetime, text: str = "src/cart.py", **wanted: object) -> None:
    """Search, so that something is given."""
    given = {"project": "shop", "threshold": 0.0, **wanted}
    request = SearchRequest(query=text, **given)  # type: ignore[arg-type]
    assert search(caller=caller, request=request, now=now).hits


def changes(caller: Caller, now: datetime, project: str = "shop") -> GraphChanges:
    """Return what is told of the graph."""
    maintenance.merge_access()
    return report(caller=caller, project=project, days=DAYS, now=now).graph


def counted(shop: str, owner: UUID, searches: int, changed: int, now: datetime) -> None:
    """Store the sums of a person's searches."""
    with tenancy.unit():
        project = Project.objects.get(slug=shop).id
        counts = {"searches": searches, "took_part": searches, "changed": changed}
        Statistic.objects.create(
            kind="graph_part", audience=owner, project_id=project, day=now.date(), counts=counts,
            updated_at=now,
        )  # fmt: skip


def test_searches_and_contexts_are_counted(caller: Caller, shop: str, now: datetime) -> None:
    asked(caller, now)
    asked(caller, now, "redis unreachable")
    first = changes(caller, now)
    wanted = SearchRequest(query="src/cart.py merging", project=shop, threshold=0.0)
    context(caller=caller, request=ContextRequest(search=wanted), now=now)

    found = changes(caller, now)

    assert (first.searches, first.took_part) == (2, 1)
    assert (found.searches, found.took_part, found.is_whole) == (3, 2, True)
    assert found.share is not None
    assert 0 <= found.share.low <= found.share.value <= found.share.high <= 1
    with tenancy.unit():
        row = Statistic.objects.get(kind="graph_part")
        assert not AccessLog.objects.exists()
    assert (row.audience, row.key, row.day) == (caller.user_id, "", now.date())
    assert set(row.counts) == {"searches", "took_part", "changed"}


def test_a_brief_and_a_plan_are_counted_too(caller: Caller, shop: str, now: datetime) -> None:
    asked(caller, now, project=None)
    asked(caller, now, projects=("other",))
    asked(caller, now, is_noted=False)
    nothing = SearchRequest(query="zebra quagga", project=shop, threshold=1.0)
    assert not search(caller=caller, request=nothing, now=now).hits
    none = changes(caller, now)
    for point in (Point.BRIEF, Point.PLANNER):
        for task in ("merging carts with advisory locks in src/cart.py", "zebra quagga"):
            opened = open_session(caller=caller, new=NewSession(project=shop), now=now)
            wanted = SearchRequest(query=task, project=shop)
            given = PointRequest(point=point, session_id=opened.session.id, task=wanted)
            deliver_at_point(caller=caller, request=given, now=now)

    found = changes(caller, now)

    assert (none.searches, none.took_part, none.share) == (0, 0, None)
    assert (found.searches, found.took_part) == (2, 2)


def test_what_was_counted_a_year_ago_is_forgotten(caller: Caller, shop: str, now: datetime) -> None:
    asked(caller, now - timedelta(days=LARGEST_DAYS + 1))
    asked(caller, now)
    maintenance.merge_access()

    assert forget_counted(now=now) == 1

    with tenancy.unit():
        assert [row.day for row in Statistic.objects.filter(kind="graph_part")] == [now.date()]


def test_others_are_told_their_own_searches_and_nothing_elsewhere(
    caller: Caller, member_caller: Caller, shop: str, now: datetime
) -> None:
    asked(caller, now)
    asked(member_caller, now)
    asked(memories.as_agent(caller, user_id=None), now)
    for person in range(1, 4):
        counted(shop, UUID(int=person), 30, 30, now)

    mine, whole = changes(member_caller, now), changes(caller, now)
    reading = frozenset({TokenScope.READ})
    agent = changes(memories.as_agent(caller, scopes=reading), now)

    assert (mine.searches, mine.is_whole) == (2, False)
    assert (whole.searches, whole.is_whole) == (93, True)
    assert (agent.searches, agent.is_whole) == (2, False)
    with tenancy.unit():
        other = Project.objects.get(slug="other").id
    assert changes(caller, now, "other").searches == 0
    bound = replace(memories.as_role(caller, Role.OWNER), bound_projects=(other,))
    assert changes(bound, now, "other").searches == 0
    counted("other", uuid4(), 5, 5, now)
    assert changes(member_caller, now, "other").searches == 0


def test_those_of_few_are_told_to_nobody_else(caller: Caller, shop: str, now: datetime) -> None:
    asked(caller, now)
    for people, each in ((3, 6), (2, 30), (1, 60)):
        with tenancy.unit():
            Statistic.objects.exclude(audience=caller.user_id).delete()
        for person in range(1, people + 1):
            counted(shop, UUID(int=person), each, each, now)

        found = changes(caller, now)

        assert (found.searches, found.took_part, found.is_whole) == (1, 1, False), people
