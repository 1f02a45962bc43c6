"""Benchmarks: they print times and ratios, and are never part of the test command."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.support.bench_settings")
django.setup()

from tests.support import operator  # noqa: E402

operator.install()
