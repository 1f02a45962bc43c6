"""A conflict as pages show it: who wrote what, why a person decides, who may.

What a reader may not do is shown as well, switched off, with who can do it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.utils.translation import gettext_lazy

from accounts.caller import Caller
from accounts.queries.directory import people
from frontend.labels.memory_labels import Name
from memory.records.queries.views import MemoryView
from memory.review.conflict_rules import Bar, ConflictVerdict
from memory.review.queries.conflicts import ConflictView

CAUSES: Final[Mapping[str, Name]] = {
    "equal": gettext_lazy("Both have the same standing."),
    "outranked": gettext_lazy(
        "The newer one comes from an agent, the older one from somebody above it."
    ),
    "protected": gettext_lazy("The older one is protected, so no agent replaces it."),
    "elsewhere": gettext_lazy("One of them is yours alone, others see the other one."),
    "older": gettext_lazy("The one that came later tells of an earlier time."),
    "unreviewed": gettext_lazy("The newer one still waits for review."),
    "judged": gettext_lazy("A model says that it replaces the older one, and no word of it does."),
    "share": gettext_lazy("The call that brought it had replaced its share already."),
}
VERDICTS: Final[Mapping[str, Name]] = {
    ConflictVerdict.KEEP_OLDER.value: gettext_lazy("Keep the older one"),
    ConflictVerdict.KEEP_NEWER.value: gettext_lazy("Keep the newer one"),
    ConflictVerdict.BOTH.value: gettext_lazy("Both are true, each in its own case"),
    ConflictVerdict.EDIT.value: gettext_lazy("Neither: write what is right"),
}
ENDED: Final[Mapping[str, Name]] = {
    ConflictVerdict.KEEP_OLDER.value: gettext_lazy("The older one was kept."),
    ConflictVerdict.KEEP_NEWER.value: gettext_lazy("The newer one was kept."),
    ConflictVerdict.BOTH.value: gettext_lazy("Both are true, each in its own case."),
    ConflictVerdict.EDIT.value: gettext_lazy("Another text took the place of both."),
}
KEYS: Final[Mapping[ConflictVerdict, str]] = {
    ConflictVerdict.KEEP_OLDER: "1",
    ConflictVerdict.KEEP_NEWER: "2",
    ConflictVerdict.BOTH: "b",
    ConflictVerdict.EDIT: "e",
}
WHO: Final[Mapping[Bar, Name]] = {
    Bar.VIEWER: gettext_lazy("Viewers read. Members and above decide."),
    Bar.AGENT: gettext_lazy("People decide, not agents."),
    Bar.OVER: gettext_lazy("This conflict is over: it was settled, or a memory has left."),
    Bar.OPEN: gettext_lazy("This conflict is open: there is nothing to take back."),
    Bar.OWN: gettext_lazy(
        "You wrote one of the two, so you may only withdraw it. Stewards, admins and owners who "
        "wrote neither decide; whoever wrote the other one may withdraw that."
    ),
    Bar.STEWARD: gettext_lazy(
        "Stewards, admins and owners decide. Who wrote one of the two may withdraw it."
    ),
    Bar.PERSONAL: gettext_lazy(
        "A personal memory does not take the place of one that others see. Share it first."
    ),
}
WHO_REOPENS: Final = gettext_lazy("Whoever settled it takes it back, or a steward, admin or owner.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A verdict with its key; `bar` names why the reader may not give it, empty where they may."""

    value: str
    name: Name
    key: str
    bar: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A conflict with what a page says of it; `whys` are the reasons that its options name."""

    view: ConflictView
    older_by: str
    newer_by: str
    settled_by: str
    cause: Name
    options: tuple[Option, ...]
    whys: tuple[tuple[str, Name], ...]
    may_settle: bool
    may_edit: bool
    reopen_why: Name
    ended: Name


def of(*, caller: Caller, views: tuple[ConflictView, ...]) -> tuple[Card, ...]:
    """Return the cards of conflicts that the caller sees."""
    ids = {
        id
        for view in views
        for id in (view.older.author_user, view.newer.author_user, view.settled_by)
        if id is not None
    }
    names = people(caller=caller, ids=ids) if ids else {}
    return tuple(_card(view, names) for view in views)


def _card(view: ConflictView, names: Mapping[UUID, str]) -> Card:
    rights = view.rights
    bars = tuple(dict.fromkeys(why for _, why in rights.verdicts if why is not None))
    allowed = rights.allowed()
    return Card(
        view=view,
        older_by=_by(view.older, names),
        newer_by=_by(view.newer, names),
        settled_by=names.get(view.settled_by, "") if view.settled_by else "",
        cause=CAUSES.get(view.cause, view.cause),
        options=tuple(_option(verdict, why) for verdict, why in rights.verdicts),
        whys=tuple((why.value, WHO[why]) for why in bars),
        may_settle=bool(allowed),
        may_edit=ConflictVerdict.EDIT in allowed,
        reopen_why=_reopen_why(rights.reopen),
        ended=ENDED.get(view.verdict, ""),
    )


def _option(verdict: ConflictVerdict, why: Bar | None) -> Option:
    return Option(
        value=verdict.value,
        name=VERDICTS[verdict.value],
        key=KEYS[verdict],
        bar="" if why is None else why.value,
    )


def _reopen_why(why: Bar | None) -> Name:
    if why is None:
        return ""
    return WHO_REOPENS if why is Bar.STEWARD else WHO[why]


def _by(memory: MemoryView, names: Mapping[UUID, str]) -> str:
    person = names.get(memory.author_user, "") if memory.author_user else ""
    return " · ".join(part for part in (memory.author_agent, person) if part)
