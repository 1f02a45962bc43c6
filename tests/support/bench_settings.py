"""Settings of benchmarks: those of tests, with the embedder that CAIRN_BENCH_EMBEDDER names."""

import os

from config.settings.test import *  # noqa: F403

CAIRN_PROVIDERS = {
    **CAIRN_PROVIDERS,  # noqa: F405
    "embedder": os.environ.get("CAIRN_BENCH_EMBEDDER", "hashing/words-384"),
}
