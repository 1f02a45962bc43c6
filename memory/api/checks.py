"""Checks over REST: a plan or a diff, held against what is known."""

from pydantic import Field

from accounts.api.endpoints import Call, post
from accounts.api.schemas import Body, Name
from accounts.caller import TokenScope
from memory.api.schemas.checks import Check
from memory.api.schemas.memories import Slug
from memory.checks import actions
from memory.checks.actions import DIFF_MOST, PLAN_MOST

DIFF = "--- a/cart/prices.py\n+++ b/cart/prices.py\n@@ -1 +1,2 @@\n+@lru_cache\n def price(item):\n"


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


@post(
    "checks/plan", tag="checks", scope=TokenScope.READ, answer=Check, weighed=True, idempotent=False
)
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


@post(
    "checks/diff", tag="checks", scope=TokenScope.READ, answer=Check, weighed=True, idempotent=False
)
def check_diff(call: Call, body: DiffToCheck) -> Check:
    """Check a diff.

    Each changed place of a unified diff is held against what is known, and the files that usually
    change with it are named. Combined diffs of merges are refused. The diff is not stored.
    """
    return Check.of(
        actions.check_diff(caller=call.caller, project=body.project, diff=body.diff, now=call.now)
    )
