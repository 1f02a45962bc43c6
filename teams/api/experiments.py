"""What a project compares, over REST: on or off, and the shares."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply
from accounts.api.schemas import NUMBER, TRUTH, record
from accounts.api.shapes import Field, Fraction, Record, Truth
from accounts.caller import TokenScope
from teams.actions.project_settings import change_experiments
from teams.queries import PERCENTS, USUAL_EXPERIMENTS, experiments_of

SAYS: Final[Mapping[str, str]] = {
    "control_percent": "Of 100 sessions, how many are given nothing by themselves.",
    "passive_percent": "Of 100 sessions, how many are given something at their beginning alone.",
    "withheld_percent": "Of 100 sessions that would be given a memory, how many are not.",
}
CHANGES: Final = Record(
    name="ExperimentChanges",
    partial=True,
    fields=(
        Field(name="enabled", shape=Truth(), says="Whether sessions are compared."),
        *(
            Field(name=name, shape=Fraction(smallest=least, largest=most), says=SAYS[name])
            for name, (least, most) in PERCENTS.items()
        ),
    ),
)
_USUAL: Final = asdict(USUAL_EXPERIMENTS)
SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "ExperimentSettings": record(enabled=TRUTH, **dict.fromkeys(PERCENTS, NUMBER))
}


def look(ask: Ask) -> Answer:
    """Say what a project compares."""
    return Answer(body=asdict(experiments_of(caller=ask.caller, ref=ask.path["ref"])))


def change(ask: Ask) -> Answer:
    """Change it."""
    done = change_experiments(caller=ask.caller, ref=ask.path["ref"], changed=ask.body)
    return Answer(body=asdict(done))


ENDPOINTS: Final = (
    Endpoint(
        method="GET",
        path="projects/{ref}/experiments",
        name="get_experiment_settings",
        tag="projects",
        summary="Say whether sessions of a project are compared",
        scope=TokenScope.READ,
        run=look,
        replies=(
            Reply(
                status=200,
                says="Whether, and in which shares.",
                schema="ExperimentSettings",
                example=_USUAL,
            ),
        ),
    ),
    Endpoint(
        method="PATCH",
        path="projects/{ref}/experiments",
        name="change_experiments",
        tag="projects",
        summary="Compare sessions of a project, or stop it",
        says=(
            "Off as long as nobody switches it on. A session keeps the group in which it was when "
            "something could have been given to it for the first time. What agents search for is "
            "never withheld."
        ),
        scope=TokenScope.WRITE,
        run=change,
        body=CHANGES,
        example={"enabled": True, "withheld_percent": 10},
        idempotent=True,
        replies=(
            Reply(
                status=200,
                says="What holds now.",
                schema="ExperimentSettings",
                example={**_USUAL, "enabled": True, "withheld_percent": 10.0},
            ),
        ),
    ),
)
