"""The published document against the served product: every call, every check."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from time import monotonic
from typing import Any

import pytest
from schemathesis.checks import CHECKS

from accounts.actions.tokens import IssuedToken, NewToken, create_token
from accounts.caller import TokenScope
from tests.support import fuzzing
from tests.support.fuzzing import Effort, Found
from tests.support.goals import Scale
from tests.support.live import committed, running

SAME_FIELDS = (  # those of create_memory, search and list_memories; in full by name
    "create_memories", "edit_memory", "context", "recall_file", "about_entity", "list_similar",
)  # fmt: skip
LONGEST_RUN = 1_800.0  # seconds after which the long form begins no further round


@pytest.fixture(scope="module")
def address(django_db_setup: None) -> Iterator[str]:
    """A running server."""
    with running() as address:
        yield address


@contextmanager
def _token(seed: int) -> Iterator[IssuedToken]:
    """Make a token for everything, in an organization of its own."""
    with committed(slug=f"fuzz-{seed}") as place:
        new = NewToken(name="fuzzing", scopes=frozenset(TokenScope))
        yield create_token(caller=place.caller, new=new, now=datetime.now(UTC))


def _round(address: str, effort: Effort) -> Found:
    with _token(effort.seed) as issued:
        token_id = str(issued.token.id)
        return fuzzing.fuzz(address=address, token=issued.text, token_id=token_id, effort=effort)


def _rounds(address: str, scale: Scale) -> tuple[Found, int]:
    """Send rounds, each with a seed and an organization of its own, until it is enough."""
    wanted, examples = scale.of(short=1, long=50_000), scale.of(short=2, long=25)
    left_out = () if scale.is_long else SAME_FIELDS
    found, began, seed = Found(), monotonic(), 0
    while found.requests < wanted and monotonic() - began < LONGEST_RUN:
        seed += 1
        effort = Effort(seed=seed, examples=examples, sequences=examples, not_in_full=left_out)
        found.add(_round(address, effort))
    return found, seed


@pytest.mark.slow
@pytest.mark.timeout(1_200)  # thousands of requests, beside three other processes
@pytest.mark.django_db(transaction=True)
@pytest.mark.goal(name="G7")
def test_every_answer_is_one_that_the_document_promises(
    address: str,
    scale: Scale,
    figure: Callable[[str], None],
) -> None:
    began = monotonic()

    found, rounds = _rounds(address, scale)

    rate = found.requests / (monotonic() - began)
    figure(
        f"{found.broken} of {found.requests:,} requests answered 5xx, {len(found.failures)} "
        f"checks failed, {rounds} seeds, {rate:.0f} requests a second"
    )
    assert not found.failures, found.told()
    assert found.broken == 0
    assert set(CHECKS.get_all_names()) - {"max_response_time"} <= set(found.checks)


def test_a_refusal_that_no_reason_covers_is_a_failure() -> None:
    unlisted: dict[str, Any] = {"code": "invalid_input", "errors": []}

    listed = [fuzzing._is_listed(one) for one in fuzzing._codes(unlisted)]

    assert listed == [False]
