"""The steps between started servers and a started product, as data.

Each is a command of its own, run to its end in order; every one may be run again, except those
that belong to the first start only, whose names are kept in the data folder once they are done.
"""

import json
import sys
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from config import env
from config.embedded.home import Home, write_private
from config.embedded.launch import NOTHING, Program
from config.embedded.programs import Environment
from config.embedded.setup import Setup

CREDENTIALS = r'^[{}]$|^ *"(url|email|password|token|organization|project)": '  # shown at the end
DONE_NAME = "steps.json"
MANAGE = (sys.executable, str(env.ROOT / "manage.py"))


class When(Enum):
    """At which starts a step is done."""

    ALWAYS = "always"
    WITHOUT_CREDENTIALS = "while the owner has none"
    FIRST_WITH_DEMO = "until done once, if the demo is wanted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One command with the sentence shown for it; `{…}` stands for a path of the data folder."""

    name: str
    title: str
    command: tuple[str, ...]
    when: When = When.ALWAYS
    noise: str = NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What decides which steps a start has; `done` are the names of those done for good."""

    with_demo: bool
    has_credentials: bool
    done: frozenset[str]


STEPS = (
    Step(
        name="weights",
        title="model weights",
        command=(sys.executable, "-m", "memory.providers.weights", "--into", "{models}"),
    ),
    Step(
        name="rules",
        title="rules about secrets",
        command=(sys.executable, "-m", "memory.secrets.secret_catalog", "--into", "{models}"),
    ),
    Step(
        name="words",
        title="translations",
        command=(sys.executable, "-m", "config.translations", "compile"),
    ),
    Step(name="migrate", title="tables", command=(*MANAGE, "migrate", "-v", "0", "--skip-checks")),
    Step(
        name="bootstrap",
        title="owner account",
        command=(*MANAGE, "bootstrap", "--skip-checks", "--credentials", "{credentials}"),
        when=When.WITHOUT_CREDENTIALS,
        noise=CREDENTIALS,
    ),
    Step(
        name="demo",
        title="demo data",
        command=(*MANAGE, "demo", "--skip-checks"),
        when=When.FIRST_WITH_DEMO,
    ),
)


def due(*, situation: Situation) -> tuple[Step, ...]:
    """Return the steps of a start in their order."""
    return tuple(step for step in STEPS if _is_due(step, situation))


def program(*, step: Step, setup: Setup, home: Home, environment: Environment) -> Program:
    """Describe the process of a step."""
    paths = {"models": setup.models, "credentials": home.credentials}
    return Program(
        name=step.name,
        command=tuple(_filled(part, paths) for part in step.command),
        environment=environment,
        folder=env.ROOT,
        noise=step.noise,
    )


def read_done(*, home: Home) -> frozenset[str]:
    """Return the names of the first start's steps that are done."""
    path = home.run / DONE_NAME
    return frozenset(json.loads(path.read_text())) if path.exists() else frozenset()


def mark_done(*, home: Home, name: str) -> None:
    """Keep that something is done that is done once."""
    names = sorted({*read_done(home=home), name})
    write_private(path=home.run / DONE_NAME, text=json.dumps(names))


def _is_due(step: Step, situation: Situation) -> bool:
    if step.when is When.WITHOUT_CREDENTIALS:
        return not situation.has_credentials
    if step.when is When.FIRST_WITH_DEMO:
        return situation.with_demo and step.name not in situation.done
    return True


def _filled(part: str, paths: dict[str, Path]) -> str:
    return part.format_map(paths) if part.startswith("{") else part
