"""What runs in a program of ours once it is loaded: the web server, the worker, the clock.

`loader` forks after `load`; run by itself (`python -m config.embedded.serving web 3 4`), a program
loads first. Without descriptors `web` listens by itself, for containers and systemd. What the
supervisor knows of them stands in `fleet`.
"""

# ruff: noqa: PLC0415 - the supervisor knows this module too, and must stay small

import gc
import logging
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Final

log = logging.getLogger(__name__)

CELERY: Final = ("worker", "beat")
ROOT_WARNING: Final = "You're running the worker with superuser"  # containers do so by design


def load() -> None:
    """Import the product and prepare what its programs share. Opens no connection, no thread."""
    gc.disable()
    import_module("config.asgi")  # first: it sets Django up
    import_module("config.urls")
    from memory.providers import registry
    from memory.secrets import scanner

    if fault := scanner.fault():  # writes are refused then, everything else is served
        log.error("The rules about secrets cannot be read, so nothing can be stored: %s", fault)
    registry.preload()
    gc.collect()
    gc.freeze()  # forks share it, and no collection looks through it again
    gc.enable()


def run(name: str, *, arguments: Sequence[str], descriptors: Sequence[int]) -> int:
    """Be a program to its end; return its exit code.

    `arguments` are those of Celery's command line; `descriptors` those of `web`: the listening
    socket, and where it reports that it is ready; without them it listens by itself.
    """
    if name in CELERY:
        from config.celery import app

        warnings.filterwarnings("ignore", message=ROOT_WARNING)
        return int(app.start(argv=["-q", name, *arguments]) or 0)
    from config.embedded import web

    if descriptors:
        listener, report = descriptors
        web.serve(listener=listener, report=report)
    else:
        web.serve_alone()
    return 0


def main(arguments: Sequence[str]) -> int:
    """Load, then be the program named first, with its arguments or descriptors after it."""
    name, *rest = arguments
    load()
    if name in CELERY:
        return run(name, arguments=rest, descriptors=())
    return run(name, arguments=(), descriptors=[int(one) for one in rest])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
