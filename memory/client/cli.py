"""The command line `cairn`: its options, its commands, its exit codes.

Exit codes: 0 done, 1 an error, 2 used wrongly, 3 the token, 4 not found, 5 done in part, 6 a check
says stop. The options of the output (`--json`, `--quiet`) may stand anywhere.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Final, NoReturn

import typer

from .commands import index, memories, replay, reviews, setup
from .errors import ERROR, INTERRUPTED, ClientError
from .terminal import Terminal

COMMANDS: Final[Mapping[str, Callable[..., None]]] = {
    "search": memories.search,
    "recent": memories.recent,
    "stats": memories.stats,
    "whoami": memories.whoami,
    "status": memories.status,
    "pause": memories.pause,
    "resume": memories.resume,
    "mcp": memories.mcp,
    "add": memories.add,
    "import": memories.import_files,
    "export": memories.export,
    "check": memories.check,
    "inbox": reviews.inbox,
    "keep": reviews.keep,
    "index": index.index,
    "replay": replay.send,
    "sync": replay.sync,
    "watch": replay.watch,
    "login": setup.login,
    "init": setup.init,
    "uninstall": setup.uninstall,
    "doctor": setup.examine,
}
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
    given = {"url": url, "token": token}
    context.obj = Terminal(given=given, is_json=as_json, is_quiet=quiet)


for name, command in COMMANDS.items():
    app.command(name=name)(command)
app.command(name="hook", hidden=True)(replay.send_of_hook)  # for hook.sh, not for people


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code."""
    given = hoisted(arguments=sys.argv[1:] if arguments is None else arguments)
    try:
        app(args=list(given), prog_name="cairn")
    except ClientError as fault:
        name = next((one for one in given if one in COMMANDS), "")
        fault.command = fault.command or f"cairn {name} --help"
        Terminal(is_json="--json" in given).fault(fault)
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
