"""What a session is given, over REST: between its steps, packed for a task, and its ledger."""

import time
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from pydantic import AliasPath, Field

from accounts.api.endpoints import Call, get, post
from accounts.api.schemas import Body, Choice, Identifier, Result, fields_of
from accounts.caller import TokenScope
from accounts.errors import wrong_field
from memory.api.schemas.memories import Files, Memory, Modules
from memory.api.schemas.search import Context, ContextBasics, MemoryOfContext, OptionalQuestion
from memory.experiments.points import POINTS, Point
from memory.injection import rules
from memory.injection.actions.deliver import Delivery
from memory.injection.actions.trigger_points import PointRequest, deliver_at_point
from memory.injection.queries import DeliveryEntry, DeliveryLog, delivery_log
from memory.search import presentation, ranking
from memory.search.context import Context as PackedContext
from memory.search.context import ContextRequest
from memory.search.context import context as pack
from memory.search.request import LONGEST_QUERY, SearchRequest

LARGEST_STEP: Final = 1_000_000_000  # as of events


class AgentStep(Body):
    """Where an agent is."""

    step: int = Field(
        ge=1,
        le=LARGEST_STEP,
        description="The step that comes next; before the fifth, nothing is given.",
        examples=[7],
    )
    files: Files = Field(
        (),
        description="The files just touched; those of the last events, when left out.",
        examples=[["src/cart/prices.py"]],
    )


class MemoryGiven(Result):
    """A memory that was given, with the tokens that it took."""

    memory: Memory
    id: UUID = Field(validation_alias=AliasPath("memory", "id"))
    tokens: int


class GivenBack(Result):
    """What to tell the agent."""

    text: str
    memories: tuple[MemoryGiven, ...]
    tokens: int
    point: str


@fields_of(DeliveryEntry, hidden={"after_event"})
class LedgerEntry(Result):
    """A memory that a session was given; its place among the events is for our own pages."""


class Ledger(Result):
    """The ledger."""

    items: tuple[LedgerEntry, ...] = Field(validation_alias="entries")
    memories: int
    beside: int
    tokens: int


@post(
    "sessions/{id}/step", tag="sessions", scope=TokenScope.READ, answer=GivenBack, idempotent=False
)
def step(call: Call, body: AgentStep) -> dict[str, Any]:
    """Ask for warnings between two steps.

    Warnings of files that were just touched, at most four, never the same memory twice in a
    session; where the project asks for it, what is known of an entry just recorded, or what answers
    the last searches. Most often the text is empty.
    """
    request = PointRequest(point=Point.STEP, session_id=call.id, step=body.step, files=body.files)
    given = deliver_at_point(caller=call.caller, request=request, now=call.now)
    return _show_delivery(given.delivery, Point.STEP)


@get("sessions/{id}/injections", tag="sessions", answer=Ledger)
def list_injections(call: Call) -> DeliveryLog:
    """List what a session was given back.

    In its order, with the tokens that each memory took and, from the session's end on, what came of
    it; only memories that you may see. An agent beside the first one is named. What was said beside
    memories took the tokens of `beside`.
    """
    return delivery_log(caller=call.caller, session_id=call.id)


def _show_delivery(delivery: Delivery, point: Point) -> dict[str, Any]:
    return {
        "text": delivery.text,
        "memories": delivery.memories,
        "tokens": delivery.tokens,
        "point": point,
    }


@fields_of(rules.PlannedFile)
class SuggestedFile(Result):
    """A file to have at hand."""


@fields_of(rules.FilePlan)
class SuggestedFiles(Result):
    """Files to have at hand."""

    files: tuple[SuggestedFile, ...]


@fields_of(rules.WorkState)
class WorkState(Result):
    """Work that was left unfinished."""


@fields_of(rules.PlanAdvice)
class PlannerAdvice(Result):
    """What a plan should know."""


class ContextQuestion(ContextBasics):
    """What a context is packed for, or given at a point of a session."""

    query: OptionalQuestion = Field("", examples=["clear the price cache in the cart tests"])
    working_files: Files = Field(
        (), description="Files that are worked on: what is about them comes first."
    )
    point: Choice[Point] | None = Field(
        None,
        description=("A point of a session at which memory is given back, never the same twice."),
    )
    session: Identifier | None = Field(
        None, description="The session of yours that is at this point."
    )
    modules: Modules = Field((), description="Modules of the task, at first_message and planner.")
    step: int = Field(5, ge=1, le=LARGEST_STEP, description="The step that comes next, at step.")
    estimate: int | None = Field(
        None, ge=1, le=rules.STEPS_MOST, description="Steps of the plan, at planner."
    )

    def request(self) -> ContextRequest:
        """Return the value of it where it names no point. Raises InvalidInput."""
        if not self.wanted().query:
            raise wrong_field(
                pointer="/query",
                detail="Nothing says what to look for.",
                hint="Say what the work is about in query, or name its working_files or modules.",
                code="required",
            )
        return replace(super().request(), working_files=self.working_files)

    def wanted(self) -> SearchRequest:
        """Return the search behind it; the names of files and modules stand in for a question."""
        found = super().wanted()
        return (
            found
            if found.query.strip()
            else replace(found, query=" ".join(self.near).strip()[:LONGEST_QUERY])
        )

    @property
    def near(self) -> tuple[str, ...]:
        """The files and modules that it names beside the query."""
        return (*self.working_files, *self.modules)

    def at_point(self, point: Point) -> PointRequest:
        """Return the value of it where it names a point. Raises InvalidInput."""
        if self.session is None:
            raise wrong_field(
                pointer="/session",
                detail="A point belongs to a session.",
                hint="POST /api/v1/sessions opens one; leave the point out to pack a context.",
                code="needs_session",
            )
        return PointRequest(
            point=point,
            session_id=self.session,
            task=self.wanted(),
            files=self.working_files,
            modules=self.modules,
            step=self.step,
            estimate=self.estimate,
        )


class MemoryInContext(MemoryOfContext):
    """A memory of the text; its tokens are counted at a point of a session alone."""

    relevance: float | None = None
    contradicts: tuple[UUID, ...] = ()
    tokens: int | None = None


class ContextAnswer(Context):
    """The text and what it is made of, in one shape; null is what a point does not have."""

    memories: tuple[MemoryInContext, ...] = Field(validation_alias="told")
    point: Point | None
    prefetch: SuggestedFiles | None
    work_state: WorkState | None
    advice: PlannerAdvice | None


@post("context", tag="search", scope=TokenScope.READ, answer=ContextAnswer, idempotent=False)
def context(call: Call, body: ContextQuestion) -> dict[str, Any]:
    """Pack a context.

    What an agent should know for a piece of work, as text within a token budget: whole memories,
    each with a short id to cite, both sides of a contradiction together. `left_out` names what was
    found and is not in the text, and why. With `point` and `session` it gives what that point has
    for the session instead, and enters it into the session's ledger: the brief (system_prompt),
    files to have at hand and unfinished work (first_message), warnings (tool_result), what belongs
    between steps (step), and what a plan should know (planner). Most often nothing. The answer has
    one shape: null is what a point does not have.
    """
    if body.point is None:
        packed = pack(caller=call.caller, request=body.placed(call.caller), now=call.now)
        return {
            **{name: getattr(packed, name) for name in PackedContext.__dataclass_fields__},
            **dict.fromkeys(("point", "prefetch", "work_state", "advice")),
        }
    started = time.perf_counter()
    request = body.at_point(body.point)
    given = deliver_at_point(caller=call.caller, request=request, now=call.now)
    return {
        **_show_at_point(given.delivery, body.point, started),
        "prefetch": given.prefetch,
        "work_state": given.unfinished,
        "advice": given.advice,
    }


def _show_at_point(delivery: Delivery, point: Point, started: float) -> dict[str, Any]:
    """Show a delivery in the shape of a packed context."""
    order, told = presentation.Order.SCORE, len(delivery.memories)
    return {
        **_show_delivery(delivery, point),
        "left_out": (),
        "budget_tokens": POINTS[point].tokens,
        "phase": None,
        "order": order,
        "hint": presentation.hint(order=order, told=told, disagreeing=0, left_out=0),
        "nothing_relevant": not delivery.text,
        "degraded": (),
        "took_ms": round((time.perf_counter() - started) * 1_000, 2),
        "profile": ranking.DEFAULT.name,
        "style": None,
    }
