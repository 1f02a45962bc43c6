"""The whole start as a story: hold the folder, servers, steps, programs, welcome, watch (10.1)."""

import time
from collections.abc import Mapping

from config.embedded import home as homes
from config.embedded import inside, ports, programs, servers, steps, welcome
from config.embedded import setup as setups
from config.embedded.console import Console
from config.embedded.errors import StepError
from config.embedded.group import Group, StopRequested
from config.embedded.home import Home
from config.embedded.launch import Program
from config.embedded.postgres import Durability
from config.embedded.process import After, Process
from config.embedded.setup import Setup
from config.embedded.starting import Starter, start_servers

SESSION = "session"  # under which it is kept that the demo's session has been played


def run(*, environment: Mapping[str, str], console: Console) -> None:
    """Start everything over the data folder and look after it until asked to stop.

    Raises StartError with one sentence when the start cannot go on; by then all is stopped.
    """
    setup = setups.read(environment=environment)
    home = homes.prepare(root=setup.home)
    with homes.held(home=home):
        ports.check_free(host=setup.host, port=setup.port)
        group = Group(console=console)
        group.listen()
        starter = Starter(group=group, console=console)
        console.heading(f"Cairn starts over {home.root}")
        try:
            _start(starter=starter, setup=setup, home=home, environment=environment)
            group.run_until_stopped()
        except StopRequested:
            console.say("stopping; once more Ctrl-C ends everything at once")
        finally:
            _stop(group=group, console=console)
            inside.forget(home=home)
            servers.tidy(home=home.root, environment=environment)


def _start(*, starter: Starter, setup: Setup, home: Home, environment: Mapping[str, str]) -> None:
    secrets = homes.load_secrets(home=home)
    served = start_servers(
        starter=starter, setup=setup, environment=environment, durability=Durability.SAFE
    )
    given = setups.given_to_children(setup=served, secrets=secrets, environment=environment)
    inside.remember(home=home, given=given)
    completed = {**environment, **given}
    told = tuple(setups.without_owner(environment=completed).items())
    situation = steps.Situation(
        with_demo=setup.with_demo,
        has_credentials=home.credentials.exists(),
        done=steps.read_done(home=home),
    )
    for step in steps.due(situation=situation):
        program = steps.program(
            step=step, setup=served, home=home, environment=tuple(completed.items())
        )
        _do_step(starter=starter, step=step, program=program)
        if step.when is steps.When.FIRST_WITH_DEMO:
            steps.mark_done(home=home, name=step.name)
    _start_programs(starter=starter, setup=served, home=home, environment=told)
    _greet(console=starter.console, home=home, url=served.base_url, situation=situation)
    if setup.with_demo and SESSION not in situation.done:
        _play_session(starter=starter, environment=told)
        steps.mark_done(home=home, name=SESSION)


def _greet(*, console: Console, home: Home, url: str, situation: steps.Situation) -> None:
    fields = welcome.publish(home=home, url=url)
    is_known = situation.has_credentials and welcome.NAME in situation.done
    show = welcome.show_again if is_known else welcome.show_once
    show(console=console, fields=fields, home=home)
    steps.mark_done(home=home, name=welcome.NAME)


def _do_step(*, starter: Starter, step: steps.Step, program: Program) -> None:
    with starter.step(step.title):
        child = Process(
            program=program, after=After.NOTHING, is_ready=None, console=starter.console
        )
        code = starter.group.run_to_end(child)
        if code != 0:
            raise StepError(f"{step.title}: the step failed (code {code}); see its lines above.")


def _start_programs(
    *, starter: Starter, setup: Setup, home: Home, environment: programs.Environment
) -> None:
    with starter.step("web server"):
        web = starter.keep_running(
            program=programs.web(setup=setup, environment=environment),
            is_ready=lambda: ports.is_live(host=setup.host, port=setup.port),
            after=After.RESTART,
        )
        starter.group.await_ready(web)
    for program in (
        programs.worker(setup=setup, environment=environment),
        programs.beat(run_folder=home.run, environment=environment),
    ):
        starter.keep_running(program=program, is_ready=None, after=After.RESTART)


def _play_session(*, starter: Starter, environment: programs.Environment) -> None:
    starter.keep_running(
        program=programs.session(environment=environment), is_ready=None, after=After.NOTHING
    )


def _stop(*, group: Group, console: Console) -> None:
    began = time.monotonic()
    group.stop()
    console.say(f"stopped in {time.monotonic() - began:.1f} s")
