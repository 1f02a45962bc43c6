"""What the hook script costs an agent besides the server: processes, in milliseconds.

Run: `.venv/bin/python -m tests.bench.bench_hook [TIMES]`. The server of the bench answers at once,
so what is left is the shell, git and curl; the line `curl alone` is the same call without a script.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Final

SCRIPT: Final = Path(__file__).parents[2] / "deploy/plugin/bin/hook.sh"
PAYLOAD: Final = b'{"session_id": "b", "hook_event_name": "UserPromptSubmit", "prompt": "Go on."}'
TIMES: Final = 200
TOKEN: Final = "crn_pat_of_nobody"


class _Answers(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        """Answer at once."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def _serving() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Answers) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def main(*, times: int) -> None:
    """Print a line for each way to run it."""
    with _serving() as url, TemporaryDirectory() as folder:
        kept = Path(folder) / "cairn" / "config.toml"
        kept.parent.mkdir()
        kept.write_text(f'url = "{url}"\ntoken = "{TOKEN}"\nproject = "shop"\n')
        usual = {"PATH": os.environ["PATH"]}
        told = {**usual, "CAIRN_URL": url, "CAIRN_TOKEN": TOKEN, "CAIRN_PROJECT": "shop"}
        script = ("dash", str(SCRIPT), "claude-code")
        curl = ("curl", "-qfsS", "--data-binary", "@-", f"{url}/api/v1/hooks/claude-code")
        ways: dict[str, Callable[[], None]] = {
            "off (CAIRN_OFF=1)": _once(script, {**told, "CAIRN_OFF": "1"}),
            "nobody logged in": _once(script, {**usual, "HOME": folder}),
            "curl alone": _once(curl, usual),
            "with the environment": _once(script, told),
            "with what login keeps": _once(script, {**usual, "XDG_CONFIG_HOME": folder}),
        }
        print(f"{times} runs each, ms\n{'':<24}{'median':>8}{'p95':>8}")
        for name, run in ways.items():
            middle, slow = _measured(run, times)
            print(f"{name:<24}{middle:>8.1f}{slow:>8.1f}")


def _once(command: tuple[str, ...], environment: dict[str, str]) -> Callable[[], None]:
    def run() -> None:
        subprocess.run(command, input=PAYLOAD, env=environment, capture_output=True, check=True)

    return run


def _measured(run: Callable[[], None], times: int) -> tuple[float, float]:
    run()
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        run()
        taken.append((time.perf_counter() - began) * 1000)
    return median(taken), quantiles(taken, n=20)[-1]


if __name__ == "__main__":
    main(times=int(sys.argv[1]) if len(sys.argv) > 1 else TIMES)
