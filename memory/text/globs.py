"""Globs over paths, as a search and the query box take them: `middleware/*`, `*.sql`.

A glob fits a path or an end of it that begins with a name; letters are compared without case.
`*` stands for any run of characters, also across names, `?` for one.
"""

import re
from typing import Final

LONGEST: Final = 400  # characters of a path, those of a memory's files
MOST_GLOBS: Final = 100  # in one question: each is held against every path
WILD: Final = {"*": "%", "?": "_"}
LITERAL: Final = {"%": r"\%", "_": r"\_", "\\": r"\\"}
_FROM_HERE: Final = re.compile(r"\A(?:\.{0,2}/)+")


def is_glob(*, text: str) -> bool:
    """Say whether a text has a sign that stands for others."""
    return not WILD.keys().isdisjoint(text)


def bare(*, path: str) -> str:
    """Return a path without what stands before its first name: `./`, `../`, `/`."""
    return _FROM_HERE.sub("", path)


def like(*, glob: str) -> str:
    """Return the LIKE pattern of a glob, for a bare path behind a slash."""
    signs = {**LITERAL, **WILD}
    return "%/" + "".join(signs.get(sign, sign) for sign in bare(path=glob))
