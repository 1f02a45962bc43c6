"""Checks over REST: a plan or a diff, held against what is known."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply
from accounts.api.schemas import NUMBER, TEXT, WHOLE, maybe, record, ref
from accounts.api.schemas import several as list_of
from accounts.api.shapes import Field, Record, Text
from accounts.caller import TokenScope
from memory.api import examples, output
from memory.checks.actions import DIFF_MOST, PLAN_MOST, Check, CheckFinding, check_diff, check_plan
from memory.checks.findings import FindingReason, Level, Verdict

PROJECT: Final = Field(
    name="project",
    shape=Text(largest=64, smallest=1),
    says="A project's slug or id.",
    required=True,
)
PLAN: Final = Record(
    name="PlanToCheck",
    fields=(
        PROJECT,
        Field(
            name="plan",
            shape=Text(largest=PLAN_MOST, smallest=1),
            says="What is to be done: Markdown or plain words, a step a line.",
            required=True,
        ),
    ),
)
DIFF: Final = Record(
    name="DiffToCheck",
    fields=(
        PROJECT,
        Field(
            name="diff",
            shape=Text(largest=DIFF_MOST, smallest=1),
            says="A unified diff, as `git diff` prints it.",
            required=True,
        ),
    ),
)
_PLACE: Final = record(
    step=maybe(WHOLE), file=maybe(TEXT), first_line=maybe(WHOLE), last_line=maybe(WHOLE)
)
SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Check": record(
        verdict={"type": "string", "enum": list(Verdict)},
        findings=list_of(
            record(
                level={"type": "string", "enum": list(Level)},
                why={"type": "string", "enum": list(FindingReason)},
                memory=ref("Memory"),
                places=list_of(_PLACE),
                matched=list_of(TEXT),
                missing=list_of(TEXT),
                score=NUMBER,
                relevance=maybe(NUMBER),
            )
        ),
        usually_together=list_of(record(file=TEXT, other=TEXT, sessions=WHOLE, share=NUMBER)),
        parts=WHOLE,
        files=WHOLE,
        left_out=WHOLE,
        degraded=list_of(TEXT),
        took_ms=NUMBER,
    )
}
_EXAMPLE: Final[Mapping[str, Any]] = {
    "verdict": "stop",
    "findings": [
        {
            "level": "stop",
            "why": "tried_before",
            "memory": {
                **examples.MEMORY,
                "type": "dead_end",
                "content": "Caching prices in the browser failed: shoppers saw stale prices.",
            },
            "places": [{"step": 2, "file": None, "first_line": 4, "last_line": 4}],
            "matched": ["brows", "cach", "pric"],
            "missing": [],
            "score": 1.0,
            "relevance": 0.83,
        }
    ],
    "usually_together": [],
    "parts": 5,
    "files": 1,
    "left_out": 0,
    "degraded": [],
    "took_ms": 64.2,
}


def plan(ask: Ask) -> Answer:
    """Return what is known of the steps of a plan."""
    given = ask.body
    found = check_plan(caller=ask.caller, project=given["project"], plan=given["plan"], now=ask.now)
    return Answer(body=shown(found))


def diff(ask: Ask) -> Answer:
    """Return what is known of the changes of a diff."""
    given = ask.body
    found = check_diff(caller=ask.caller, project=given["project"], diff=given["diff"], now=ask.now)
    return Answer(body=shown(found))


def shown(check: Check) -> dict[str, Any]:
    """Return a check as callers see it."""
    return {
        "verdict": check.verdict,
        "findings": [
            {**finding(told=one), "memory": output.together(one.memory, one.sides)}
            for one in check.findings
        ],
        "usually_together": [asdict(one) for one in check.ties],
        "parts": check.parts,
        "files": check.files,
        "left_out": check.left_out,
        "degraded": list(check.degraded),
        "took_ms": check.took_ms,
    }


def finding(*, told: CheckFinding) -> dict[str, Any]:
    """Return a finding without its memory; what a place does not have is null."""
    places = [
        {name: value or None for name, value in asdict(place).items()} for place in told.places
    ]
    return {
        "level": told.level,
        "why": told.why,
        "places": places,
        "matched": list(told.matched),
        "missing": list(told.missing),
        "score": told.score,
        "relevance": told.relevance,
    }


_REPLIES: Final = (
    Reply(status=200, says="The verdict and its evidence.", schema="Check", example=_EXAMPLE),
)
ENDPOINTS: Final = (
    Endpoint(
        method="POST",
        path="checks/plan",
        name="check_plan",
        tag="checks",
        summary="Check a plan",
        says=(
            "Before the work: each step is held against dead ends, decisions, requirements and "
            "files that change together. `stop` means that a step is for what was tried and "
            "failed, or for what was decided against; each finding cites its memory. When nothing "
            "fits, nothing is said. The plan is not stored."
        ),
        scope=TokenScope.READ,
        run=plan,
        body=PLAN,
        weighed=True,
        example={"project": "shop", "plan": "1. Measure.\n2. Cache prices in the browser.\n"},
        replies=_REPLIES,
    ),
    Endpoint(
        method="POST",
        path="checks/diff",
        name="check_diff",
        tag="checks",
        summary="Check a diff",
        says=(
            "Each changed place of a unified diff is held against what is known, and the files "
            "that usually change with it are named. Combined diffs of merges are refused. The diff "
            "is not stored."
        ),
        scope=TokenScope.READ,
        run=diff,
        body=DIFF,
        weighed=True,
        example={
            "project": "shop",
            "diff": (
                "--- a/cart/prices.py\n+++ b/cart/prices.py\n@@ -1 +1,2 @@\n"
                "+@lru_cache\n def price(item):\n"
            ),
        },
        replies=_REPLIES,
    ),
)
