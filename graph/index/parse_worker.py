"""The process that parses what comes from outside: reads files, answers what they hold.

It knows no database, no secret and no Django, and the system bounds its memory and the time that a
file may take of the processor. It may die of a file at any moment; whoever asked starts another.
A file is two messages, its path and its bytes; the answer is one, in JSON.
"""

import resource
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Final

import orjson

from graph.code.parse import parse

PROCESSOR_SECONDS: Final = 3  # of a file; whoever asked gives up on its own clock
LARGEST_MESSAGE: Final = 64_000_000  # bytes


def main() -> None:
    """Answer until nobody asks any more.

    The arguments are how many bytes of memory it may have, and the number of its line.
    """
    memory_bytes, line = int(sys.argv[1]), Connection(int(sys.argv[2]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    if sys.platform == "linux":  # elsewhere address space is not bounded by the system
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    with suppress(EOFError):
        while True:
            path, source = line.recv_bytes(), line.recv_bytes(LARGEST_MESSAGE)
            _allow_time()
            line.send_bytes(orjson.dumps(parse(path=path.decode(), source=source)))


def _allow_time() -> None:
    """Let the system end this process when one file takes too much of the processor."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime) + 1 + PROCESSOR_SECONDS
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, hard))


if __name__ == "__main__":
    main()
