"""What the hook script costs an agent besides the server: processes, in milliseconds.

Run: `.venv/bin/python -m tests.bench.bench_hook [TIMES]`. The server of the bench answers at once,
so what is left is the shell, git and curl; the line `curl alone` is the same call without a script.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import Final

from tests.bench import measures
from tests.support.scripted import serving

SCRIPT: Final = Path(__file__).parents[2] / "deploy/plugin/bin/hook.sh"
PAYLOAD: Final = b'{"session_id": "b", "hook_event_name": "UserPromptSubmit", "prompt": "Go on."}'
TIMES: Final = 200
TOKEN: Final = "crn_pat_of_nobody"


def main(*, times: int) -> None:
    """Print a line for each way to run it."""
    with serving((200, {}, {})) as script, TemporaryDirectory() as folder:
        url = script.url
        kept = Path(folder) / "cairn" / "config.toml"
        kept.parent.mkdir()
        kept.write_text(f'url = "{url}"\ntoken = "{TOKEN}"\nproject = "shop"\n')
        usual = {"PATH": os.environ["PATH"]}
        told = {**usual, "CAIRN_URL": url, "CAIRN_TOKEN": TOKEN, "CAIRN_PROJECT": "shop"}
        hook = ("dash", str(SCRIPT), "claude-code")
        curl = ("curl", "-qfsS", "--data-binary", "@-", f"{url}/api/v1/hooks/claude-code")
        ways: dict[str, Callable[[], object]] = {
            "off (CAIRN_OFF=1)": _once(hook, {**told, "CAIRN_OFF": "1"}),
            "nobody logged in": _once(hook, {**usual, "HOME": folder}),
            "curl alone": _once(curl, usual),
            "with the environment": _once(hook, told),
            "at a stop": _once((*hook, "Stop", "1"), told),
            "with what login keeps": _once(hook, {**usual, "XDG_CONFIG_HOME": folder}),
        }
        print(f"{times} runs each, ms\n{'':<24}{'median':>8}{'p95':>8}")
        for name, run in ways.items():
            run()
            taken = [measures.timed(run) for _ in range(times)]
            print(f"{name:<24}{median(taken):>8.1f}{quantiles(taken, n=20)[-1]:>8.1f}")


def _once(command: tuple[str, ...], environment: dict[str, str]) -> Callable[[], object]:
    return partial(
        subprocess.run, command, input=PAYLOAD, env=environment, capture_output=True, check=True
    )


if __name__ == "__main__":
    main(times=int(sys.argv[1]) if len(sys.argv) > 1 else TIMES)
