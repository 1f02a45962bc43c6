"""The tools that check work before it is done: a plan, a diff."""

from dataclasses import asdict
from typing import Any, Final

from accounts.api.schemas import NUMBER, TEXT, WHOLE, maybe, record, several
from accounts.api.shapes import Field, Record, Text
from accounts.caller import TokenScope
from memory.api.schemas.checks import FindingParts
from memory.checks.actions import DIFF_MOST, PLAN_MOST, Check
from memory.checks.actions import check_diff as check_diff_of_checks
from memory.checks.actions import check_plan as check_plan_of_checks
from memory.checks.findings import FindingReason, Level, Verdict
from memory.mcp.shapes import BANNER, MEMORY, PROJECT, Call, Tool, shown

_GIVES: Final = record(
    notice=TEXT,
    verdict={"type": "string", "enum": list(Verdict)},
    findings=several(
        record(
            level={"type": "string", "enum": list(Level)},
            why={"type": "string", "enum": list(FindingReason)},
            memory=MEMORY,
            places=several(
                record(
                    step=maybe(WHOLE),
                    file=maybe(TEXT),
                    first_line=maybe(WHOLE),
                    last_line=maybe(WHOLE),
                )
            ),
            matched=several(TEXT),
            missing=several(TEXT),
            score=NUMBER,
            relevance=maybe(NUMBER),
        )
    ),
    usually_together=several(record(file=TEXT, other=TEXT, sessions=WHOLE, share=NUMBER)),
    left_out=WHOLE,
    degraded=several(TEXT),
)


def check_plan(call: Call) -> dict[str, Any]:
    """Check the steps of a plan."""
    given = call.arguments
    place = given["project"] or call.project or ""
    return _answer(
        check_plan_of_checks(caller=call.caller, project=place, plan=given["plan"], now=call.now)
    )


def check_diff(call: Call) -> dict[str, Any]:
    """Check the changes of a diff."""
    given = call.arguments
    place = given["project"] or call.project or ""
    return _answer(
        check_diff_of_checks(caller=call.caller, project=place, diff=given["diff"], now=call.now)
    )


def _answer(check: Check) -> dict[str, Any]:
    return {
        "notice": BANNER,
        "verdict": check.verdict,
        "findings": [
            {
                **FindingParts.model_validate(one).model_dump(),
                "memory": shown(view=one.memory, sides=one.sides),
            }
            for one in check.findings
        ],
        "usually_together": [asdict(one) for one in check.ties],
        "left_out": check.left_out,
        "degraded": list(check.degraded),
    }


CHECK_PLAN: Final = Tool(
    name="check_plan",
    title="Check a plan before you work",
    says=(
        "Holds each step of your plan against what the team tried, decided and requires. Call it "
        "when you have a plan and before you change anything. `stop`: a step repeats a known dead "
        "end or goes against a decision; read the cited memory and plan anew, or ask a person."
    ),
    scope=TokenScope.READ,
    takes=Record(
        name="check_plan",
        fields=(
            Field(
                name="plan",
                shape=Text(largest=PLAN_MOST, smallest=1),
                says="The plan, a step a line.",
                required=True,
            ),
            PROJECT,
        ),
    ),
    gives=_GIVES,
    run=check_plan,
    weighed=True,
)
CHECK_DIFF: Final = Tool(
    name="check_diff",
    title="Check a diff before you share it",
    says=(
        "Holds what you changed against known dead ends and decisions, and names files that "
        "change together with yours and are missing. Call it with the output of `git diff` before "
        "you commit or open a pull request."
    ),
    scope=TokenScope.READ,
    takes=Record(
        name="check_diff",
        fields=(
            Field(
                name="diff",
                shape=Text(largest=DIFF_MOST, smallest=1),
                says="A unified diff.",
                required=True,
            ),
            PROJECT,
        ),
    ),
    gives=_GIVES,
    run=check_diff,
    weighed=True,
)
