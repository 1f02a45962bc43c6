"""Check a plan before the work: which of its steps meet what the project knows."""

from datetime import datetime
from typing import Final

from accounts.caller import Caller
from accounts.errors import wrong_field
from accounts.messages import message
from memory.checks import parts, plans
from memory.checks.actions import run
from memory.checks.actions.run import Ahead, Check
from memory.search.actions import SECRET_LEFT_OUT
from memory.text.text import check_text

LONGEST_PLAN: Final = 100_000  # characters, ours
STEPS_LEFT_OUT: Final = "steps_left_out"


def check_plan(*, caller: Caller, project: str, plan: str, now: datetime) -> Check:
    """Hold the steps of a plan against what is known.

    Raises InvalidInput for a plan without a word, NotFound for a project the caller cannot see.
    """
    _check(plan)
    clean, had_secrets = run.without_secrets(text=plan)
    read = plans.read(text=clean)
    ahead = tuple(
        Ahead(parts=(parts.of_step(step=step),), question=step.text) for step in read.steps
    )
    if not ahead:
        raise wrong_field(
            pointer="/plan",
            detail="This plan has no step in words.",
            hint="Write what is to be done, a step a line.",
            code="plan",
        )
    degraded = (
        *((SECRET_LEFT_OUT,) if had_secrets else ()),
        *((STEPS_LEFT_OUT,) if read.left_out else ()),
    )
    return run.hold(caller=caller, project=project, ahead=ahead, degraded=degraded, now=now)


def _check(plan: str) -> None:
    if len(plan) > LONGEST_PLAN:
        raise wrong_field(
            pointer="/plan",
            detail=message("Use at most {most} characters.", most=LONGEST_PLAN),
            hint="Send the steps without what explains them.",
            code="length",
        )
    if check_text(text=plan):
        raise wrong_field(pointer="/plan", detail="Leave out unstorable characters.", code="text")
