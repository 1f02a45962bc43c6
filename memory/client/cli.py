"""The command line `cairn`: its options, its commands, its exit codes.

Exit codes: 0 done, 1 an error, 2 used wrongly, 3 the token, 4 not found, 5 done in part, 6 a check
says stop. The options of the output (`--json`, `--quiet`) may stand anywhere.
"""

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Final, NoReturn

import typer

from . import configuration
from .commands import check, index, login, memories, replay, search, setup
from .errors import ERROR, INTERRUPTED, ClientError
from .terminal import Terminal

_ANYWHERE: Final = frozenset({"--json", "--quiet", "-q"})

app = typer.Typer(
    name="cairn",
    help="Team memory for AI coding agents: ask it, tell it, connect agents to it.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def begin(
    context: typer.Context,
    url: Annotated[str, typer.Option(help="Address of the server (CAIRN_URL).")] = "",
    token: Annotated[str, typer.Option(help="Token (CAIRN_TOKEN, better than here).")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One object a line.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Results and faults alone.")] = False,
) -> None:
    """Team memory for AI coding agents: ask it, tell it, connect agents to it."""
    context.obj = Terminal(
        places=configuration.places(environment=os.environ),
        environment=os.environ,
        given={"url": url, "token": token},
        is_json=as_json,
        is_quiet=quiet,
        out=sys.stdout,
        err=sys.stderr,
    )


for group in (search, memories, check, index, replay, login, setup):
    group.register(app=app)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code."""
    given = hoisted(arguments=sys.argv[1:] if arguments is None else arguments)
    try:
        app(args=list(given), prog_name="cairn")
    except ClientError as fault:
        terminal = Terminal(
            places=configuration.places(environment=os.environ),
            environment=os.environ,
            given={},
            is_json="--json" in given,
            out=sys.stdout,
            err=sys.stderr,
        )
        terminal.fault(fault)
        return fault.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader of the results has gone
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115  for the flush
        return ERROR
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else ERROR
    return 0


def run() -> NoReturn:
    """Be the program `cairn`."""
    sys.exit(main())


def hoisted(*, arguments: Sequence[str]) -> tuple[str, ...]:
    """Return arguments with those first that may stand anywhere; behind `--` nothing is moved."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    first = tuple(one for one in arguments[:end] if one in _ANYWHERE)
    rest = tuple(one for one in arguments[:end] if one not in _ANYWHERE)
    return (*first, *rest, *arguments[end:])
