"""Compile the catalogs of the pages' languages with Babel; no GNU gettext is needed.

Run as `python -m config.translations compile`. That no text lacks a translation is checked by
`tests.support.catalogs`.
"""

import os
import sys
from pathlib import Path
from typing import Final

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from config.env import ROOT

LANGUAGES: Final = ("fr",)


def compile_all() -> None:
    """Write the compiled catalog of each language, unless it is newer than its source."""
    for language in LANGUAGES:
        source = _path(language)
        target = source.with_suffix(".mo")
        if target.exists() and target.stat().st_mtime >= source.stat().st_mtime:
            continue
        written = target.with_suffix(f".mo.{os.getpid()}")  # tests compile at once
        with written.open("wb") as file:
            write_mo(file, catalog(language=language))
        written.replace(target)


def catalog(*, language: str) -> Catalog:
    """Return the catalog of a language."""
    with _path(language).open("rb") as file:
        return read_po(file, locale=language)


def _path(language: str) -> Path:
    return ROOT / "frontend" / "locale" / language / "LC_MESSAGES" / "django.po"


if __name__ == "__main__":
    if sys.argv[1:] != ["compile"]:
        sys.exit("Use: python -m config.translations compile")
    compile_all()
