"""The version of the script that programs run as their hook, which it tells with each call."""

from typing import Final

VERSION: Final = 3  # of `deploy/plugin/bin/hook.sh`; raised with every change of what it does
