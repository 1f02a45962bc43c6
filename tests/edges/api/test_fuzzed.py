"""The published document against the served product: every call, every check."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic
from typing import Any, Final

import pytest
import schemathesis
from schemathesis.checks import CHECKS
from schemathesis.config import SchemathesisConfig
from schemathesis.core.failures import Failure
from schemathesis.core.parameters import ParameterLocation
from schemathesis.core.transport import Response
from schemathesis.engine import events, from_schema
from schemathesis.generation.case import Case
from schemathesis.hooks import HookContext
from schemathesis.schemas import BaseSchema

from accounts.actions.tokens import NewToken, create_token
from accounts.caller import TokenScope
from memory.sessions.event_parsing import Reason
from tests.support.goals import Scale
from tests.support.live import committed, running

SAME_FIELDS = (  # those of other calls, as of create_memory and search; in full by name
    "create_memories", "edit_memory", "context", "recall_file", "about_entity", "list_similar",
    "timeline", "correct_memory", "begin_import", "check_diff", "roll_back", "rename_team",
    "add_team_member", "remove_team_member", "reject_memory", "snooze_memory", "list_sessions",
)  # fmt: skip
LONGEST_RUN = 1_800.0  # seconds after which the long form begins no further round


SHOWN: Final = 30  # failures that a message names
LONGEST_WAIT: Final = 30  # seconds; a valid `wait` is sent as 0, or the run would mostly wait
SHORT: Final = 40  # characters; shorter contents are lengthened, or the first gate refuses most
LONGEST_KEY: Final = 240  # characters of an Idempotency-Key that are kept
SOME: Final = 4  # of the cursors and versions one in so many stays as generated
PADDING: Final = " Worker {0} of the queue {1} holds the lock of its table while it waits."
NOT_HTTP: Final = b"Invalid HTTP request received."  # said before the product is asked
TOO_LARGE: Final = 413  # not among the refusals that the check knows
DOCUMENT: Final = "/api/v1/openapi.json"
MEMORY: Final = "/api/v1/memories/{id}"

EXPLAINED: Final[dict[str, str]] = {  # code or code@pointer: why no schema says so
    "precondition_required": "428 is the status RFC 6585 has for a missing If-Match",
    "precondition_failed": "only the store knows which version is the newest",
    "refused_by_gate": "the intake gates judge what a text says",
    "unstorable_text@": "the document says once for all texts that they hold no NUL",
    "blank@": "the document says once for all texts that they are not blank",
    "number_too_large@": "the document says once for all numbers that they have 64 bits",
    "cursor@/cursor": "a cursor is signed, so only the server makes one",
    "words@/q": "the query box has a grammar of its own",
    "filter@/q": "the query box has a grammar of its own",
    "unchanged@/content": "only the store knows what the memory says",
    "required@/content": "a verdict that edits needs the text that stands beside it",
    "invalid@/name": "printable is a property of Unicode that no pattern can name",
    "scope@": "who may write where depends on the caller's role and teams",
    "team@": "who may write where depends on the caller's role and teams",
    "secret@": "a scanner judges whether a text holds a secret",
    "unreadable@/file": "what a file holds decides whether it can be read",
    "empty@/file": "what a file holds decides whether there is a statement in it",
    "required@/file": "an empty body is a file too",
    "required@/query": "which points need a query stands beside it",
    "alone@/position": "no schema says that a field needs one of two others",
    "words@/query": "the query box has a grammar of its own",
    "path@/path": "no pattern says which paths lead out of a project",
    "path@/files": "no pattern says which paths lead out of a project",
    "mismatch@/files": "a hash is of the text that stands beside it",
    "required@/files": "a file comes as text or as base64, one of the two",
    "base64@/files": "what base64 is, no pattern of bounded length says",
    "index_running@/run": "only the store knows which run is the newest",
    "required@/attributes": "the payload depends on the type, which stands beside it",
    "unknown@/attributes": "the payload depends on the type, which stands beside it",
    "wrong_type@/attributes": "the payload depends on the type, which stands beside it",
    **{
        f"length@/{listed}": "a comma in one of a list parts it in two in an address"
        for listed in ("files", "modules", "projects", "tags")
    },
    "length@/attributes": "a schema cannot bound the size of a whole object",
    "nothing_chosen@": "no schema of an address says that one of several fields is needed",
    "together@/mine": "no schema says that two fields exclude each other",
    "nobody@/mine": "whether a token is somebody's stands in no schema",
    "range@/keep_events_days": "an organization has a longest time of its own",
    "diff@/diff": "a unified diff has a grammar of its own",
    "plan@/plan": "what a plan says decides whether a step of it has words",
    "unknown_model@/key": "which models there are depends on the installation",
    "invalid@/key": "which models an organization has vectors of, only the store knows",
    "choice@/type": "an organization's methodologies add types of their own",
    "wrong@/types": "a search takes one type of a methodology's own, or types of ours",
    "taken@/types": "which names are taken, only the store knows",
    "choice@/relays": "which types a methodology adds stands beside them",
    "unknown_methodology@/methodology": "an organization names methodologies of its own",
    "unknown_phase@/phase": "an organization names phases of its own",
    "name@/phases": "the document says once for all texts that they hold no NUL",
    "too_many@/name": "only the store knows how many methodologies there are",
    "wrong@/until": "no schema compares two fields",
    "range@/turns": "only the store knows which turn was the last",
    "range@/until": "the document cannot say which moments are still to come",
    "month@/month": "which months there are figures of, only the clock knows",
    "unknown@/verdicts": "which memories a session came to, only the store knows",
    "required@/verdicts": "no schema says that one of two fields is needed",
    "required@/save_all": "no schema says that one of two fields is needed",
    **{
        f"{reason}@/events": "events of any form are read; a call without one event is refused"
        for reason in Reason
    },
    **dict.fromkeys(
        ("authorization_pending", "slow_down", "access_denied", "expired_token"),
        "where a sign-in by code stands, only a person and the clock decide (RFC 8628)",
    ),
    "relay@/relays": "no schema says that two fields differ",
    "needs_session@/session": "a point of a session needs one; a context without a point does not",
    "moment@": "RFC 3339 allows leap seconds and years that no calendar here has",
}


@dataclass(slots=True, kw_only=True)
class Found:
    """What a run sent, what came back, and what was wrong about it."""

    statuses: Counter[int] = field(default_factory=Counter)
    checks: Counter[str] = field(default_factory=Counter)
    failures: dict[str, str] = field(default_factory=dict)

    @property
    def requests(self) -> int:
        """Return how many requests were answered."""
        return self.statuses.total()

    @property
    def broken(self) -> int:
        """Return how many answers were a 5xx."""
        return sum(count for status, count in self.statuses.items() if status >= 500)

    def told(self) -> str:
        """Return the failures with what was sent."""
        return "\n\n".join(f"{name}\n{text}" for name, text in [*self.failures.items()][:SHOWN])


def is_explained(*, case: Case, response: Response, failure: Failure) -> bool:
    """Say whether a failure is one of those that no schema could announce."""
    if type(failure).__name__ == "UseAfterFree":
        return case.method == "GET" and case.operation.path.startswith(MEMORY)  # archived, not gone
    if response.content == NOT_HTTP:
        return response.status_code == 400  # a made-up Content-Length: the server hears no request
    if response.status_code == TOO_LARGE:
        return type(failure).__name__ == "AcceptedNegativeData"  # refused before it is read
    if type(failure).__name__ not in {"RejectedPositiveData", "MissingHeaderNotRejected"}:
        return False
    return all(_is_listed(said) for said in _codes(response.json()))


def _codes(problem: dict[str, Any]) -> list[str]:
    pointed = [f"{one['code']}@{one['pointer']}" for one in problem.get("errors", ())]
    return pointed or [problem["code"]]


def _is_listed(said: str) -> bool:
    return any(said.startswith(one) if "@" in one else said == one for one in EXPLAINED)


def _schema(address: str, token: str, seed: int, scale: Scale) -> BaseSchema:
    """Try some examples a call, and every bound of every field where it is not left out."""
    examples = scale.of(short=2, long=25)
    sampled = [
        {"include-operation-id": name, "phases": {"coverage": {"enabled": False}}}
        for name in (() if scale.is_long else SAME_FIELDS)
    ]
    config = SchemathesisConfig.from_dict(
        {
            "seed": seed,
            "headers": {"Authorization": f"Bearer {token}"},
            "continue-on-failure": True,
            "generation": {
                "max-examples": examples,
                "deterministic": True,
                "no-shrink": True,
                "database": "none",
            },
            "phases": {"stateful": {"generation": {"max-examples": examples}}},
            "operations": sampled,
        }
    )
    schema: BaseSchema = schemathesis.openapi.from_url(f"{address}{DOCUMENT}", config=config)
    return schema


def _register(schema: Any, token_id: str) -> None:
    numbers = itertools.count()

    @schema.hooks.hook
    def map_case(context: HookContext, case: Case) -> Case:
        _lead_deeper(case, next(numbers))
        _spare(case, token_id)
        return case

    @schema.hooks.hook
    def filter_failure(
        context: HookContext, failure: Failure, case: Case, response: Response
    ) -> bool:
        return not is_explained(case=case, response=response, failure=failure)


def _lead_deeper(case: Case, number: int) -> None:
    """Change what would only be refused early: waits, keys used before, made-up cursors."""
    query = case.query or {}
    if str(query.get("wait")).isdecimal() and int(query["wait"]) <= LONGEST_WAIT:
        query["wait"] = 0
    key = (case.headers or {}).get("Idempotency-Key")
    if key and not _is_about_headers(case):
        case.headers["Idempotency-Key"] = f"{number}-{key[:LONGEST_KEY]}"
    if case.meta is not None and case.meta.generation.mode.is_positive:
        _lead_valid_deeper(case, number)


def _is_about_headers(case: Case) -> bool:
    """Say whether a header is what is wrong; touched, the case would be taken for a good one."""
    is_wrong = case.meta is not None and case.meta.generation.mode.is_negative
    return is_wrong and case.meta.phase.data.parameter_location == ParameterLocation.HEADER


def _lead_valid_deeper(case: Case, number: int) -> None:
    if number % SOME:
        (case.query or {}).pop("cursor", None)
    if number % SOME and "If-Match" in (case.headers or {}):
        case.headers["If-Match"] = "*"
    body = case.body
    if isinstance(body, dict) and len(str(body.get("content"))) < SHORT:
        said = body.get("content")
        if isinstance(said, str):
            body["content"] = said + PADDING.format(number, number * 7_919 % 10_007)


def _spare(case: Case, token_id: str) -> None:
    """Leave the run's own token alive."""
    path = case.path_parameters or {}
    if str(path.get("id", "")).lower() == token_id:
        path["id"] = "00000000-0000-4000-8000-000000000000"


def _take(event: events.EngineEvent, found: Found) -> None:
    if isinstance(event, events.NonFatalError):
        found.failures[f"engine {event.label}"] = repr(event.value)
    if isinstance(event, events.FatalError):
        raise event.exception
    if not isinstance(event, events.ScenarioFinished):
        return
    for interaction in event.recorder.interactions.values():
        if interaction.response is not None:
            found.statuses[interaction.response.status_code] += 1
    for name, text in _failures(event):
        found.failures.setdefault(name, text)
    for nodes in event.recorder.checks.values():
        found.checks.update(node.name for node in nodes)


def _failures(event: events.ScenarioFinished) -> Iterator[tuple[str, str]]:
    for case_id, nodes in event.recorder.checks.items():
        answer = event.recorder.interactions[case_id].response
        for node in nodes:
            if node.failure_info is not None:
                said = "" if answer is None else f"{answer.status_code} {answer.content[:800]!r}"
                failure = node.failure_info.failure
                yield (
                    f"{node.name} {failure.operation} {failure.title}",
                    f"{failure.message}\n{node.failure_info.code_sample}\n{said}",
                )


@pytest.fixture(scope="module")
def address(django_db_setup: None) -> Iterator[str]:
    """A running server."""
    with running() as address:
        yield address


def _round(address: str, seed: int, scale: Scale, found: Found) -> None:
    """Send what the document allows and forbids with a token for everything, in a new place."""
    with committed(slug=f"fuzz-{seed}") as place:
        new = NewToken(name="fuzzing", scopes=frozenset(TokenScope))
        issued = create_token(caller=place.caller, new=new, now=datetime.now(UTC))
        schema = _schema(address, issued.text, seed, scale)
        _register(schema, str(issued.token.id))
        for event in from_schema(schema).execute():
            _take(event, found)


@pytest.mark.slow
@pytest.mark.timeout(1_200)  # thousands of requests, beside three other processes
@pytest.mark.django_db(transaction=True)
@pytest.mark.goal(name="G7")
def test_every_answer_is_one_that_the_document_promises(
    address: str, scale: Scale, figure: Callable[[str], None]
) -> None:
    found, began, rounds = Found(), monotonic(), 0
    while found.requests < scale.of(short=1, long=50_000) and monotonic() - began < LONGEST_RUN:
        rounds += 1
        _round(address, rounds, scale, found)

    rate = found.requests / (monotonic() - began)
    figure(
        f"{found.broken} of {found.requests:,} requests answered 5xx, {len(found.failures)} "
        f"checks failed, {rounds} seeds, {rate:.0f} requests a second"
    )
    assert not found.failures, found.told()
    assert found.broken == 0
    assert set(CHECKS.get_all_names()) - {"max_response_time"} <= set(found.checks)
