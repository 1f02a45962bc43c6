"""Checks over REST: a plan or a diff, held against what is known; findings also for tools."""

from functools import partial
from typing import Annotated

from pydantic import BeforeValidator, Field

from accounts.api.endpoints import Call, post
from accounts.api.schemas import Body, Name, Result, fields_of
from accounts.caller import TokenScope
from memory.api.schemas.memories import Memory, Slug, with_sides
from memory.checks import actions
from memory.checks.actions import DIFF_MOST, PLAN_MOST, FilePair
from memory.checks.actions import Check as CheckValue
from memory.checks.check_findings import FindingReason, Level

DIFF = "--- a/cart/prices.py\n+++ b/cart/prices.py\n@@ -1 +1,2 @@\n+@lru_cache\n def price(item):\n"
OrNull = BeforeValidator(lambda value: value or None)  # what a place does not have is null


class PlanToCheck(Body):
    """A plan."""

    project: Slug = Field(description="A project's slug or id.", examples=["shop"])
    plan: Name = Field(
        max_length=PLAN_MOST,
        description="What is to be done: Markdown or plain words, a step a line.",
        examples=["1. Measure.\n2. Cache prices in the browser.\n"],
    )


class DiffToCheck(Body):
    """A diff."""

    project: Slug = Field(description="A project's slug or id.", examples=["shop"])
    diff: Name = Field(
        max_length=DIFF_MOST,
        description="A unified diff, as `git diff` prints it.",
        examples=[DIFF],
    )


class Place(Result):
    """Where in a plan or a diff a finding is."""

    step: Annotated[int | None, OrNull]
    file: Annotated[str | None, OrNull]
    first_line: Annotated[int | None, OrNull]
    last_line: Annotated[int | None, OrNull]


class FindingParts(Result):
    """A finding without its memory."""

    level: Level
    why: FindingReason
    places: tuple[Place, ...]
    matched: tuple[str, ...]
    missing: tuple[str, ...]
    score: float
    relevance: float | None


class Finding(FindingParts):
    """A finding, and the memory that it rests on."""

    memory: Memory


@fields_of(FilePair)
class Tie(Result):
    """A file that usually changes with one that is changed."""


@fields_of(CheckValue, hidden={"ties"})
class Check(Result):
    """The verdict and its evidence."""

    findings: tuple[Finding, ...]
    usually_together: tuple[Tie, ...] = Field(validation_alias="ties")

    @classmethod
    def of(cls, check: CheckValue) -> "Check":
        """Show a check, each memory with what contradicts it."""
        shown = cls.model_validate(check)
        findings = tuple(
            finding.model_copy(update={"memory": with_sides(one.memory, one.sides)})
            for finding, one in zip(shown.findings, check.findings, strict=True)
        )
        return shown.model_copy(update={"findings": findings})


_post = partial(
    post, tag="checks", scope=TokenScope.READ, answer=Check, weighed=True, idempotent=False
)


@_post("checks/plan")
def check_plan(call: Call, body: PlanToCheck) -> Check:
    """Check a plan.

    Before the work: each step is held against dead ends, decisions, requirements and files that
    change together. `stop` means that a step is for what was tried and failed, or for what was
    decided against; each finding cites its memory. When nothing fits, nothing is said. The plan is
    not stored.
    """
    return Check.of(
        actions.check_plan(caller=call.caller, project=body.project, plan=body.plan, now=call.now)
    )


@_post("checks/diff")
def check_diff(call: Call, body: DiffToCheck) -> Check:
    """Check a diff.

    Each changed place of a unified diff is held against what is known, and the files that usually
    change with it are named. Combined diffs of merges are refused. The diff is not stored.
    """
    return Check.of(
        actions.check_diff(caller=call.caller, project=body.project, diff=body.diff, now=call.now)
    )
