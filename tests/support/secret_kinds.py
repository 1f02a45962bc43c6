"""Kinds of secrets by their published forms, each made up anew at run time.

`secret_kinds.tsv` has a kind a line: its name, what a configuration calls it, and its form. A form
is a template whose parts in braces are drawn: an alphabet's letter and a length; PASSWORD is one as
people choose them, and `@` names a function below. What no configuration names is a whole line. No
value stands here, and none was ever anybody's; a scanner over the repository finds nothing.
"""

import base64
import json
import random
import re
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from accounts import token_format
from accounts.token_format import TokenKind

ALPHABETS: Final[Mapping[str, str]] = {
    "A": string.ascii_letters + string.digits,
    "U": string.ascii_uppercase + string.digits,
    "L": string.ascii_lowercase + string.digits,
    "c": string.ascii_letters,
    "h": "0123456789abcdef",
    "d": string.digits,
    "t": string.ascii_uppercase + "234567",
    "w": string.ascii_letters + string.digits + "_-",
    "b": string.ascii_letters + string.digits + "+/",
}
FILE: Final = Path(__file__).with_suffix(".tsv")
PART: Final = re.compile(r"{([AULchdtwb])(\d+)}")
WORDS: Final = ("Tractor", "maple", "Quartz", "violet", "Harbor", "lantern", "Copper", "thistle")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind: its name, what a configuration calls it, and its form."""

    name: str
    variable: str
    form: str
    is_line: bool  # it is a whole line of its own, not a value that is assigned

    def value(self, *, draw: random.Random) -> str:
        """Make one up."""
        if self.form.startswith("@"):
            maker, *details = self.form.split()
            return MAKERS[maker](draw, *details)
        form = self.form.replace("PASSWORD", password(draw)) if self.is_line else self.form
        return filled(form=form, draw=draw)

    def heart(self, *, value: str) -> str:
        """Return the part that nobody could guess: the middle of what is secret."""
        secret = value
        if self.is_line and not self.form.startswith("@"):
            before, _, after = PART.sub("PASSWORD", self.form).partition("PASSWORD")
            secret = value[len(before) : len(value) - len(after)]
        return secret[len(secret) // 3 : -len(secret) // 4].strip()


def filled(*, form: str, draw: random.Random) -> str:
    """Fill in the parts of a form."""

    def part(found: re.Match[str]) -> str:
        return "".join(draw.choices(ALPHABETS[found[1]], k=int(found[2])))

    return PART.sub(part, form)


def password(draw: random.Random) -> str:
    """Make up a password as people choose them: words, figures, a sign."""
    word = draw.choice(WORDS)
    return f"{word}{draw.choice('!#$%*?')}{draw.randrange(100, 9_999)}{draw.choice(WORDS)[:3]}"


def _own(draw: random.Random) -> str:
    kind = draw.choice(tuple(TokenKind))
    return token_format.mint(kind=kind, entropy=draw.randbytes(token_format.ENTROPY_BYTES)).text


def _jwt(draw: random.Random) -> str:
    parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": filled(form="{h24}", draw=draw), "iat": 17})
    head = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode() for part in parts)
    return ".".join((*(part.rstrip("=") for part in head), filled(form="{w43}", draw=draw)))


def _pem(draw: random.Random, *details: str) -> str:
    name, lines = " ".join(details[:-1]), int(details[-1])
    body = "\n".join(filled(form="{b64}", draw=draw) for _ in range(lines))
    return f"-----BEGIN {name}-----\n{body}\n-----END {name}-----"


def _basic(draw: random.Random) -> str:
    return base64.b64encode(f"deploy:{password(draw)}".encode()).decode()


def _kind(line: str) -> Kind:
    name, variable, form = line.split("\t")
    is_line = variable == "-"
    return Kind(
        name=name, variable=name.upper() if is_line else variable, form=form, is_line=is_line
    )


MAKERS: Final[Mapping[str, Callable[..., str]]] = {
    "@own": _own, "@token": _jwt, "@password": password, "@pem": _pem, "@basic": _basic,
}  # fmt: skip
KINDS: Final = tuple(map(_kind, FILE.read_text(encoding="utf-8").splitlines()))
