"""What is named in another spelling counts as named: it is neither missing nor unmatched (11.1)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest

from accounts.caller import Caller
from memory.search.actions import search
from memory.search.request import SearchRequest
from tests.support.memories import stored

pytestmark = pytest.mark.usefixtures("in_organization", "clean_cache")

TOKENS = "AuthService keeps its tokens for an hour and asks k8s for new ones."
EXPORTS = "Nightly exports wait for the warehouse and give up after ten minutes."


def signs(caller: Caller, question: str, now: datetime) -> dict[UUID, Mapping[str, Any]]:
    """Return the signs of relevance of every candidate."""
    request = SearchRequest(query=question, threshold=0.0)
    hits = search(caller=caller, request=request, now=now).hits
    return {hit.memory.id: hit.explain["relevance"]["signs"] for hit in hits}


@pytest.mark.parametrize(
    "written", ["auth_service", "`auth-service`", "authService", "AuthService"]
)
def test_a_code_name_in_another_spelling_is_not_missing(
    caller: Caller, store: str, now: datetime, written: str
) -> None:
    memory = stored(caller, now, TOKENS, project=store)
    other = stored(caller, now, EXPORTS, project=store)

    found = signs(caller, f"{written} tokens, exports", now)

    assert (found[memory.id]["missing"], found[other.id]["missing"]) == (0.0, 1.0)


@pytest.mark.parametrize("written", ["kubernetes", "Kube", "k8s"])
def test_another_name_of_a_tool_is_a_matched_word(
    caller: Caller, store: str, now: datetime, written: str
) -> None:
    memory = stored(caller, now, TOKENS, project=store)

    assert signs(caller, f"{written} tokens", now)[memory.id]["matched"] == pytest.approx(1.0)


def test_what_nothing_names_stays_unmatched(caller: Caller, store: str, now: datetime) -> None:
    memory = stored(caller, now, TOKENS, project=store)

    found = signs(caller, "terraform tokens of token_store", now)[memory.id]

    assert found["matched"] < 0.5
    assert found["missing"] == 1.0
