"""Settings of benchmarks: those of tests, with the embedder that BENCH_EMBEDDER names."""

import os

from config.settings.test import *  # noqa: F403

CAIRN_PROVIDERS = {
    **CAIRN_PROVIDERS,  # noqa: F405
    "embedder": os.environ.get("BENCH_EMBEDDER", "hashing/words-384"),
}
