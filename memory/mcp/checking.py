"""The tools that check: a plan, a diff, and which memories contradict each other."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import BeforeValidator, Field

from accounts.api.schemas import Name, Result
from accounts.caller import TokenScope
from memory.api.checks import FindingParts, Tie
from memory.checks import actions
from memory.checks.actions import DIFF_MOST, PLAN_MOST, CheckFinding
from memory.checks.check_findings import Verdict
from memory.mcp.declaration import Call, Noticed, ProjectArgument, ProjectList, ShownMemory, tool
from memory.review.queries import conflicts
from memory.review.queries.conflicts import ConflictState, ConflictVerdict


class PlanArguments(ProjectArgument):
    """A plan."""

    plan: Name = Field(max_length=PLAN_MOST, description="The plan, a step a line.")


class DiffArguments(ProjectArgument):
    """What was changed."""

    diff: Name = Field(max_length=DIFF_MOST, description="A unified diff.")


class ShownFinding(FindingParts):
    """A finding, and the memory that it rests on."""

    memory: ShownMemory


def _show_findings(findings: tuple[CheckFinding, ...]) -> list[dict[str, Any]]:
    return [
        {
            **FindingParts.model_validate(one).model_dump(),
            "memory": ShownMemory.of(one.memory, one.sides),
        }
        for one in findings
    ]


class ShownCheck(Noticed):
    """The verdict and its evidence."""

    verdict: Verdict
    findings: Annotated[tuple[ShownFinding, ...], BeforeValidator(_show_findings)]
    usually_together: tuple[Tie, ...] = Field(validation_alias="ties")
    left_out: int
    degraded: tuple[str, ...]


@tool(title="Check a plan before you work", scope=TokenScope.READ, answer=ShownCheck, weighed=True)
def check_plan(call: Call, arguments: PlanArguments) -> actions.Check:
    """Holds each step of your plan against what the team tried, decided and requires.

    Call it when you have a plan and before you change anything. `stop`: a step repeats a known dead
    end or goes against a decision; read the cited memory and plan anew, or ask a person.
    """
    place = arguments.project or ""
    return actions.check_plan(caller=call.caller, project=place, plan=arguments.plan, now=call.now)


@tool(
    title="Check a diff before you share it", scope=TokenScope.READ, answer=ShownCheck, weighed=True
)
def check_diff(call: Call, arguments: DiffArguments) -> actions.Check:
    """Holds what you changed against known dead ends and decisions.

    Names files that change together with yours and are missing. Call it with the output of
    `git diff` before you commit or open a pull request.
    """
    place = arguments.project or ""
    return actions.check_diff(caller=call.caller, project=place, diff=arguments.diff, now=call.now)


class OpenConflict(Result):
    """Two memories that contradict each other; `may_settle` are the verdicts open to the caller."""

    id: UUID
    older: ShownMemory
    newer: ShownMemory
    cause: str
    found_at: datetime
    may_settle: Annotated[
        tuple[str, ...],
        BeforeValidator(lambda bars: [one.value for one in ConflictVerdict if not bars[one]]),
    ] = Field(validation_alias="barred")


class OpenConflicts(Noticed):
    """Open conflicts, the newest first."""

    conflicts: tuple[OpenConflict, ...]


@tool(title="What contradicts itself", scope=TokenScope.READ, answer=OpenConflicts)
def check_conflicts(call: Call, arguments: ProjectList) -> dict[str, Any]:
    """Pairs of the team's memories that contradict each other and wait for a person.

    Each with both sides. Look before you rely on one of them, and say which one you went by. People
    settle them, not agents: `may_settle` is empty unless your credential decides.
    """
    page = conflicts.list_conflicts(
        caller=call.caller,
        project=arguments.project,
        state=ConflictState.OPEN,
        after=None,
        limit=arguments.limit,
        now=call.now,
    )
    return {"conflicts": page.items}
