"""Settings of a project over REST: pauses, hooks, and what is compared."""

from typing import Any

from pydantic import Field

from accounts.api.endpoints import Call, get, patch, post
from accounts.api.schemas import Body, Changes, Identifier, Result, unsent
from accounts.caller import Caller
from teams.actions import project_settings
from teams.queries import (
    PERCENTS,
    Experiments,
    Hook,
    Hooks,
    Pauses,
    experiments_of,
    hooks_of,
    pauses_of,
)


class Pause(Body):
    """What is paused or resumed."""

    paused: bool = Field(True, description="Or resumed.", examples=[True])
    token: Identifier | None = Field(
        None,
        description=(
            "A token of yours that is given nothing there; the whole project when left out."
        ),
    )
    mine: bool = Field(False, description="Every token of yours, later ones too, instead of one.")


class PausesShown(Result):
    """What is paused now, of the caller's own credential alone."""

    paused: bool
    this_token_paused: bool


class HookChanges(Changes):
    """Which hooks are switched."""

    brief: bool = unsent(description="The brief at the first prompt.")
    prefetch: bool = unsent(
        description="Files to have at hand and unfinished work, when a session begins."
    )
    warnings: bool = unsent(
        description="Warnings of a file that was just read or edited.", examples=[False]
    )
    step: bool = unsent(description="Anything between steps; off, the two below are off as well.")
    step_recorded: bool = unsent(
        description="Between steps, what is known of an entry that the agent just recorded."
    )
    step_searched: bool = unsent(
        description="Between steps, what answers the agent's last searches."
    )
    planner: bool = unsent(description="What a plan should know, and its checklist.")


class HooksShown(Result):
    """Which hooks are on."""

    brief: bool
    prefetch: bool
    warnings: bool
    step: bool
    step_recorded: bool
    step_searched: bool
    planner: bool


def _percent(name: str, description: str, **more: Any) -> Any:
    least, most = PERCENTS[name]
    return unsent(ge=least, le=most, description=description, **more)


class ExperimentChanges(Changes):
    """What is to be compared."""

    enabled: bool = unsent(description="Whether sessions are compared.", examples=[True])
    control_percent: float = _percent(
        "control_percent", "Of 100 sessions, how many are given nothing by themselves."
    )
    passive_percent: float = _percent(
        "passive_percent", "Of 100 sessions, how many are given something at their beginning alone."
    )
    withheld_percent: float = _percent(
        "withheld_percent",
        "Of 100 sessions that would be given a memory, how many are not.",
        examples=[10],
    )


class ExperimentSettings(Result):
    """Whether sessions are compared, and in which shares."""

    enabled: bool
    control_percent: float
    passive_percent: float
    withheld_percent: float


@post("projects/{ref}/pause", tag="projects", answer=PausesShown)
def pause_project(call: Call, body: Pause) -> dict[str, bool]:
    """Pause what agents are given.

    What agents tell is kept on; nothing is given back to them until somebody resumes. The whole
    project is paused by who manages projects, one token by whoever sees it, and with `mine` all of
    your own.
    """
    done = project_settings.pause(
        caller=call.caller, ref=call.ref, token_id=body.token, paused=body.paused, mine=body.mine
    )
    return _pauses(call.caller, done)


@get("projects/{ref}/pause", tag="projects", answer=PausesShown)
def get_pause(call: Call) -> dict[str, bool]:
    """Say whether agents are given anything."""
    return _pauses(call.caller, pauses_of(caller=call.caller, ref=call.ref))


@get("projects/{ref}/hooks", tag="projects", answer=HooksShown)
def get_hooks(call: Call) -> Hooks:
    """Say what gives memory back."""
    return hooks_of(caller=call.caller, ref=call.ref)


@patch("projects/{ref}/hooks", tag="projects", answer=HooksShown, idempotent=True)
def switch_hooks(call: Call, body: HookChanges) -> Hooks:
    """Switch what gives memory back.

    Each hook by itself; one that is off stays off, whatever the others say.
    """
    switched = {Hook(name): is_on for name, is_on in body.sent.items()}
    return project_settings.switch_hooks(caller=call.caller, ref=call.ref, switched=switched)


@get("projects/{ref}/experiments", tag="projects", answer=ExperimentSettings)
def get_experiment_settings(call: Call) -> Experiments:
    """Say whether sessions of a project are compared."""
    return experiments_of(caller=call.caller, ref=call.ref)


@patch("projects/{ref}/experiments", tag="projects", answer=ExperimentSettings, idempotent=True)
def change_experiments(call: Call, body: ExperimentChanges) -> Experiments:
    """Compare sessions of a project, or stop it.

    Off as long as nobody switches it on. A session keeps the group in which it was when something
    could have been given to it for the first time. What agents search for is never withheld.
    """
    return project_settings.change_experiments(caller=call.caller, ref=call.ref, changed=body.sent)


def _pauses(caller: Caller, found: Pauses) -> dict[str, bool]:
    is_own = caller.token_id in found.tokens or caller.user_id in found.people
    return {"paused": found.paused, "this_token_paused": is_own}
