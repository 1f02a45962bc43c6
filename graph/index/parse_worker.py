"""The process that parses what comes from outside: reads files, answers what they hold.

It knows no database, no secret and no Django, and the system bounds its memory and the time that a
file may take of the processor. It may die of a file at any moment; whoever asked starts another.
Asked and answered is over its pipes, in frames: a length in four bytes, and as many bytes. A file
is two frames, its path and its bytes; the answer is one, in JSON.
"""

import resource
import struct
import sys
from typing import IO, Final

import orjson

from graph.code.parse import parse

PROCESSOR_SECONDS: Final = 3  # of a file; whoever asked gives up on its own clock
LARGEST_FRAME: Final = 64_000_000  # bytes
LENGTH: Final = struct.Struct(">I")


def main() -> None:
    """Answer until nobody asks any more. The argument is how many bytes of memory it may have."""
    _bound(int(sys.argv[1]))
    asked, answers = sys.stdin.buffer, sys.stdout.buffer
    while (path := read(stream=asked)) is not None and (source := read(stream=asked)) is not None:
        _allow_time()
        parsed = parse(path=path.decode(), source=source)
        write(stream=answers, frame=orjson.dumps(parsed))


def read(*, stream: IO[bytes]) -> bytes | None:
    """Read a frame; none when the stream ends, also within one, or announces too much."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    frame = stream.read(length) if length <= LARGEST_FRAME else b""
    return frame if len(frame) == length else None


def write(*, stream: IO[bytes], frame: bytes) -> None:
    """Write a frame at once. Raises OSError when nobody reads."""
    stream.write(LENGTH.pack(len(frame)))
    stream.write(frame)
    stream.flush()


def _bound(memory_bytes: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    if sys.platform == "linux":  # elsewhere address space is not bounded by the system
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))


def _allow_time() -> None:
    """Let the system end this process when one file takes too much of the processor."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime) + 1 + PROCESSOR_SECONDS
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, hard))


if __name__ == "__main__":
    main()
