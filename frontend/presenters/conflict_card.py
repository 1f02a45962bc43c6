"""A conflict as pages show it: who wrote what, why a person decides, who may.

What a reader may not do is shown as well, switched off, with who can do it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext_lazy as _

from accounts.caller import Caller
from accounts.queries.directory import people
from frontend.labels.memory_labels import Name
from memory.review.conflict_rules import Bar, ConflictVerdict
from memory.review.queries.conflicts import ConflictView

CAUSES: Final[Mapping[str, Name]] = {
    "equal": _("Both have the same authority."),
    "outranked": _("The newer one comes from an agent, the older one from somebody above it."),
    "protected": _("The older one is protected, so no agent replaces it."),
    "elsewhere": _("One of them is yours alone, others see the other one."),
    "older": _("The newer one describes an earlier time."),
    "unreviewed": _("The newer one still needs review."),
    "judged": _("A model says that it replaces the older one, and no word of it does."),
    "share": _("The call that brought it had replaced its share already."),
}
OPTIONS: Final[Mapping[ConflictVerdict, tuple[Name, str]]] = {  # what is offered, and its key
    ConflictVerdict.KEEP_OLDER: (_("Keep the older one"), "1"),
    ConflictVerdict.KEEP_NEWER: (_("Keep the newer one"), "2"),
    ConflictVerdict.BOTH: (_("Both are true, each in its own case"), "b"),
    ConflictVerdict.EDIT: (_("Neither: write what is right"), "e"),
}
ENDED: Final[Mapping[str, Name]] = {
    ConflictVerdict.KEEP_OLDER.value: _("The older one was kept."),
    ConflictVerdict.KEEP_NEWER.value: _("The newer one was kept."),
    ConflictVerdict.BOTH.value: _("Both are true, each in its own case."),
    ConflictVerdict.EDIT.value: _("Another text took the place of both."),
}
WHO: Final[Mapping[Bar, Name]] = {
    Bar.VIEWER: _("Viewers read. Members and above decide."),
    Bar.AGENT: _("People decide, not agents."),
    Bar.OVER: _("This conflict is over: it was settled, or a memory has left."),
    Bar.OPEN: _("This conflict is open: there is nothing to take back."),
    Bar.OWN: _(
        "You wrote one of the two, so you may only withdraw it. Stewards, admins and owners who "
        "wrote neither decide; whoever wrote the other one may withdraw that."
    ),
    Bar.STEWARD: _("Stewards, admins and owners decide. Who wrote one of the two may withdraw it."),
    Bar.PERSONAL: _(
        "A personal memory does not take the place of one that others see. Share it first."
    ),
}
WHO_REOPENS: Final = _("Whoever settled it takes it back, or a steward, admin or owner.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictCard:
    """A conflict with what a page says of it.

    An option is a verdict with its name and key, and the bar that keeps the reader from it, empty
    where they may; `whys` says what each bar means. `reopen_why` is empty where they may reopen.
    """

    view: ConflictView
    older_by: str
    newer_by: str
    settled_by: str
    cause: Name
    options: tuple[tuple[str, Name, str, str], ...]
    whys: Mapping[str, Name]
    may_settle: bool
    may_edit: bool
    reopen_why: Name
    ended: Name


def cards(*, caller: Caller, views: tuple[ConflictView, ...]) -> tuple[ConflictCard, ...]:
    """Return the cards of conflicts that the caller sees."""
    sides = [side for view in views for side in (view.older, view.newer)]
    named = (*(side.author_user for side in sides), *(view.settled_by for view in views))
    ids = {person for person in named if person is not None}
    names = people(caller=caller, ids=ids) if ids else {}
    made = []
    for view in views:
        older_by, newer_by = (
            " · ".join(
                filter(
                    None,
                    (
                        side.author_agent,
                        names.get(side.author_user, "") if side.author_user else "",
                    ),
                )
            )
            for side in (view.older, view.newer)
        )
        rights = view.rights
        allowed, reopen = rights.allowed(), rights.reopen
        card = ConflictCard(
            view=view,
            older_by=older_by,
            newer_by=newer_by,
            settled_by=names.get(view.settled_by, "") if view.settled_by else "",
            cause=CAUSES.get(view.cause, view.cause),
            options=tuple(
                (verdict.value, *OPTIONS[verdict], "" if bar is None else bar.value)
                for verdict, bar in rights.verdicts
            ),
            whys={bar.value: WHO[bar] for _verdict, bar in rights.verdicts if bar is not None},
            may_settle=bool(allowed),
            may_edit=ConflictVerdict.EDIT in allowed,
            reopen_why=WHO_REOPENS if reopen is Bar.STEWARD else WHO[reopen] if reopen else "",
            ended=ENDED.get(view.verdict, ""),
        )
        made.append(card)
    return tuple(made)
