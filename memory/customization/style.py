"""Which communication style fits a session: how answers should read there.

A style names its contexts: topics, as “coding” or “quick notes”, and the tools it is for. One that
names both fits where both do; one that names neither fits nowhere by itself and can only be the
default. Of those that fit, the more is known of the session the better: a topic tells more than a
tool, a topic of more words more than one of fewer, and a person's own style comes before the
organization's of the same fit. The same session always gets the same style, and is told why.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from uuid import UUID

from accounts.errors import wrong_field
from accounts.messages import message
from memory.taxonomy import Scope, SourceInterface
from memory.text.text import check_text, visible_text

NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}\Z")
LONGEST_TEXT: Final = 600  # characters of a style; default, not measured
LONGEST_TOPIC: Final = 40  # characters; default, not measured
MOST_TOPICS: Final = 20  # of a style; default, not measured
INTERFACES: Final = tuple(item.value for item in SourceInterface)
SCOPES: Final = (Scope.ORGANIZATION, Scope.PERSONAL)  # whose a style is
_WORD: Final = re.compile(r"\w+")


class Fit(StrEnum):
    """Why a style was picked, the most telling first."""

    TOPIC_AND_INTERFACE = "topic_and_interface"
    TOPIC = "topic"
    INTERFACE = "interface"
    DEFAULT = "default"


FITS: Final = {  # by whether a style is for the topic, and for the tool
    (True, True): Fit.TOPIC_AND_INTERFACE,
    (True, False): Fit.TOPIC,
    (False, True): Fit.INTERFACE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NewStyle:
    """A way to write answers: `text` says how, the contexts where; personal ones are a person's."""

    name: str
    text: str
    scope: str = Scope.ORGANIZATION.value
    topics: tuple[str, ...] = ()
    interfaces: tuple[str, ...] = ()
    is_default: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Style(NewStyle):
    """A style that was defined."""

    id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """The style that fits a session, why, and by which of its topics (empty: by none)."""

    style: Style
    fit: Fit
    topic: str


def compose(*, styles: Sequence[Style], topic: str, interface: str) -> Composed | None:
    """Pick the style that fits a session best; None when none fits and none is the default.

    `topic` is what the session is about, in a few words or a sentence; empty when nobody said.
    """
    wanted = _words(topic)
    found = tuple(one for style in styles if (one := _fitting(style, wanted, interface)))
    return min(found, key=_rank, default=None)


def check(*, new: NewStyle) -> None:
    """Check a style that somebody defines. Raises InvalidInput naming the field."""
    if not NAME.match(new.name):
        raise wrong_field(
            pointer="/name",
            detail=message("{name!r} cannot be the name of a style.", name=new.name[:60]),
            hint="Use 1 to 40 small letters, digits, hyphens and underscores.",
            code="name",
        )
    if new.scope not in SCOPES:
        raise wrong_field(
            pointer="/scope",
            detail="A style is the organization's or a person's own.",
            hint=message("Use one of these: {names}.", names=SCOPES),
            code="choice",
        )
    is_blank = not visible_text(text=new.text).strip()
    if is_blank or len(new.text) > LONGEST_TEXT or check_text(text=new.text):
        raise wrong_field(
            pointer="/text",
            detail=message(
                "A style says in 1 to {most} characters how to write.", most=LONGEST_TEXT
            ),
            hint="Say it shorter, as you would to a colleague.",
            code="length",
        )
    _check_contexts(new.topics, new.interfaces)


def _check_contexts(topics: tuple[str, ...], interfaces: tuple[str, ...]) -> None:
    if len(topics) > MOST_TOPICS:
        raise wrong_field(
            pointer="/topics",
            detail=message("A style has at most {most} topics.", most=MOST_TOPICS),
            hint="Make a second style for the others.",
            code="length",
        )
    for place, topic in enumerate(topics):
        if not _words(topic).strip() or len(topic) > LONGEST_TOPIC or check_text(text=topic):
            raise wrong_field(
                pointer=f"/topics/{place}",
                detail=message("{name!r} cannot be a topic.", name=topic[:60]),
                hint=message("Use words, 1 to {most} characters.", most=LONGEST_TOPIC),
                code="topic",
            )
    for place, name in enumerate(interfaces):
        if name not in INTERFACES:
            raise wrong_field(
                pointer=f"/interfaces/{place}",
                detail=message("{name!r} is no tool that sessions come from.", name=name[:60]),
                hint=message("Use one of these: {names}.", names=INTERFACES),
                code="choice",
            )


def _fitting(style: Style, wanted: str, interface: str) -> Composed | None:
    """Return how a style fits, by the longest topic whose words the session has in a row."""
    topics = tuple(topic for topic in style.topics if _words(topic) in wanted)
    topic = min(topics, key=lambda one: (-len(_words(one).split()), one), default="")
    met = (bool(topic), interface in style.interfaces)
    is_met = met == (bool(style.topics), bool(style.interfaces))
    if is_met and any(met):
        return Composed(style=style, fit=FITS[met], topic=topic)
    return Composed(style=style, fit=Fit.DEFAULT, topic="") if style.is_default else None


def _rank(found: Composed) -> tuple[int, int, bool, str, str]:
    style = found.style
    words = len(_words(found.topic).split())
    is_shared = style.scope != Scope.PERSONAL
    return tuple(Fit).index(found.fit), -words, is_shared, style.name, str(style.id)


def _words(text: str) -> str:
    """Return the words of a text in small letters, with a space around each; one for no words."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return f" {' '.join(_WORD.findall(plain))} "
