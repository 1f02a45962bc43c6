"""Guards that stand behind one another, each looked at alone: were one gone, nothing else tells."""

from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from starlette.datastructures import Headers

from accounts import tenancy
from accounts.actions.tokens import NewToken, create_token
from accounts.audit import Origin, Surface
from accounts.caller import ALL_SCOPES, Caller, Role, TokenScope
from accounts.errors import Forbidden, NotFound, RoleNotSufficient
from accounts.models import User
from frontend.consumers import same_origin
from memory.index import queries as index_queries
from memory.index.actions import embedding
from memory.injection.queries import milestones
from memory.intake.actions.revise import revise
from memory.mcp import server
from memory.mcp.app import _check_places
from memory.mcp.server import TOOLS
from memory.records.queries import memories
from memory.records.queries.memories import lock_memory
from memory.search.actions import search
from memory.search.queries import Gathered, find_candidates
from memory.search.query import understand
from memory.search.request import SearchRequest, SearchScope, question_of
from teams import idempotency, visibility
from teams.actions import create_project
from teams.idempotency import Standing
from teams.permissions import Act, require
from teams.queries import find_project
from tests.support.api import Api
from tests.support.memories import as_agent, stored

pytestmark = pytest.mark.django_db

SONG = "The canary sings in the mine every morning at six."
READING = frozenset({TokenScope.READ})
WRITING = frozenset({TokenScope.WRITE})


@pytest.fixture
def songs(in_organization: object, caller: Caller, now: datetime) -> dict[str, UUID]:
    """A memory of everybody's, one of the owner's own, and one in a project."""
    create_project(caller=caller, slug="mine", name="Mine", now=now)
    given: dict[str, dict[str, Any]] = {
        "everyone": {"scope": "organization"},
        "own": {"scope": "personal", "project": "mine"},
        "project": {"project": "mine"},
    }
    return {name: stored(caller, now, SONG, **fields).id for name, fields in given.items()}


def _gathered(caller: Caller, *, words: str, by_meaning: bool) -> Gathered:
    embedded = embedding.embed_query(text=SONG)
    assert embedded is not None
    question = question_of(
        request=SearchRequest(query=""), scope=SearchScope(), asked=understand(text=words)
    )
    with tenancy.unit():
        sight = visibility.sight_of(caller=caller)
        return find_candidates(
            question=question, embedded=embedded if by_meaning else None, sight=sight
        )


def _candidates(caller: Caller, *, words: str, by_meaning: bool) -> set[UUID]:
    read = _gathered(caller, words=words, by_meaning=by_meaning)
    return {item.memory_id for item in read.found}


@pytest.mark.parametrize(
    ("words", "by_meaning"), [("unheard", True), ("canary mine", False)], ids=["meaning", "words"]
)
def test_candidates_of_a_search_are_visible(
    songs: dict[str, UUID], caller: Caller, member_caller: Caller, words: str, by_meaning: bool
) -> None:
    askers = (caller, member_caller, replace(caller, bound_projects=(uuid4(),)))

    owner, member, bound = (
        _candidates(asking, words=words, by_meaning=by_meaning) for asking in askers
    )

    assert owner == set(songs.values())
    assert member == {songs["everyone"], songs["project"]}
    assert bound == set()


def test_a_project_outside_of_a_credential_is_not_searched(
    songs: dict[str, UUID], caller: Caller, now: datetime
) -> None:
    bound = replace(caller, bound_projects=(uuid4(),))
    request = SearchRequest(query=SONG, project="mine")

    assert search(caller=caller, request=request, now=now).hits
    with pytest.raises(NotFound):
        search(caller=bound, request=request, now=now)


def test_what_stands_beside_a_candidate_is_visible(
    in_organization: object, caller: Caller, member_caller: Caller, now: datetime
) -> None:
    said = {"scope": "organization", "type": "episode", "thread": "mine"}
    sung = stored(caller, now, SONG, position=1, **said).id
    private = {**said, "scope": "personal"}
    own = stored(caller, now, "Nobody else heard it.", position=2, **private).id
    last = stored(caller, now, "Then it was quiet.", position=3, **said).id
    bound = replace(caller, bound_projects=(uuid4(),))

    mine, theirs, nobody = (
        _gathered(asking, words="canary mine", by_meaning=False)
        for asking in (caller, member_caller, bound)
    )

    assert (mine.turns, set(mine.known)) == ({sung: (None, own)}, {sung, own})
    assert (theirs.turns, set(theirs.known)) == ({sung: (None, last)}, {sung, last})
    assert (nobody.turns, nobody.known) == ({}, {})


def test_duplicates_are_looked_for_in_one_audience(
    songs: dict[str, UUID], caller: Caller, member: User
) -> None:
    embedded = embedding.embed_query(text=SONG)
    assert embedded is not None
    assert caller.user_id is not None
    with tenancy.unit():
        project_id = find_project(caller=caller, ref="mine").id
        about = {"model_id": embedding.active_model()[0], "vector": embedded.vector, "limit": 9}

        own, others = (
            index_queries.nearest(audience=audience, project_id=project_id, **about)
            for audience in (caller.user_id, member.id)
        )

    assert [found for found, _ in own] == [songs["own"]]
    assert others == ()


def test_what_cannot_be_seen_cannot_be_locked(
    songs: dict[str, UUID], member_caller: Caller
) -> None:
    with pytest.raises(NotFound), tenancy.unit():
        lock_memory(caller=member_caller, memory_id=songs["own"])


def test_milestones_tell_nothing_of_what_cannot_be_seen(
    in_organization: object, caller: Caller, member_caller: Caller, now: datetime
) -> None:
    create_project(caller=caller, slug="mine", name="Mine", now=now)
    stored(as_agent(caller), now, SONG, scope="personal", project="mine")

    assert milestones(caller=caller, project="mine").first_memory_at is not None
    assert milestones(caller=member_caller, project="mine").first_memory_at is None


def test_earlier_versions_stay_with_their_readers(
    in_organization: object, caller: Caller, member_caller: Caller, now: datetime
) -> None:
    memory = stored(caller, now, SONG, scope="personal")
    for changes in ({"content": f"{SONG} So."}, {"scope": "organization"}):
        revise(caller=caller, memory_id=memory.id, changes=changes, if_version=None, now=now)

    mine = memories.history(caller=caller, memory_id=memory.id)
    theirs = memories.history(caller=member_caller, memory_id=memory.id)

    assert SONG in {version.content for version in mine}
    assert {version.content for version in theirs} == {f"{SONG} So."}


def test_a_kept_answer_is_for_its_own_credential(in_organization: object, caller: Caller) -> None:
    first, second = (replace(caller, token_id=uuid4()) for _ in range(2))

    idempotency.begin(caller=first, key="k", fingerprint="f")
    idempotency.finish(caller=first, key="k", status=201, headers={}, body=b"secret")
    kept = idempotency.begin(caller=second, key="k", fingerprint="f")

    assert (kept.standing, kept.body) == (Standing.NEW, b"")


@pytest.mark.parametrize(
    ("role", "scopes", "act"),
    [(Role.VIEWER, ALL_SCOPES, Act.WRITE), (Role.OWNER, READING, Act.WRITE),
     (Role.OWNER, WRITING, Act.READ)],
)  # fmt: skip
def test_an_act_takes_a_role_and_a_scope(
    caller: Caller, role: Role, scopes: frozenset[TokenScope], act: Act
) -> None:
    require(caller=caller, act=act)

    with pytest.raises(RoleNotSufficient):
        require(caller=replace(caller, role=role, scopes=scopes), act=act)


def test_a_writing_token_reads_nothing_over_rest_or_by_a_tool(
    caller: Caller, now: datetime
) -> None:
    new = NewToken(name="writes", scopes=WRITING)
    api = Api(token=create_token(caller=caller, new=new, now=now).text)
    agent, origin = replace(caller, scopes=WRITING), Origin(surface=Surface.MCP)

    assert api.get("memories").status_code == 403
    assert server._answer(TOOLS["list_recent"], {}, agent, None, origin).is_error


@pytest.mark.parametrize("origin", [b"https://evil.example", b"null", b""])
def test_a_socket_comes_from_a_page_of_ours(origin: bytes) -> None:
    host = (b"host", b"cairn.example")

    assert same_origin(scope={"headers": [host, (b"origin", b"https://cairn.example")]})
    assert not same_origin(scope={"headers": [host, (b"origin", origin)]})


@pytest.mark.parametrize("name", ["host", "origin"])
def test_an_agent_comes_from_a_place_of_ours(name: str) -> None:
    ours = {"host": "testserver", "origin": "http://testserver"}
    _check_places(Headers(ours))

    with pytest.raises(Forbidden):
        _check_places(Headers({**ours, name: "http://evil.example"}))
