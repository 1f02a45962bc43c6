"""Benchmarks: they print times and ratios, and are never part of the test command.

BENCH_HOME names a folder that keeps what they load, so that another run only measures.
"""

import os
from pathlib import Path

import django

from tests.support import servers

if home := os.environ.get("BENCH_HOME"):
    servers.start(home=Path(home))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.support.bench_settings")
django.setup()

from tests.support import operator  # noqa: E402

operator.install()
