"""How far a person trusts the memory of a project: the dial, and what comes next."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from frontend.labels import session_labels
from frontend.labels.memory_labels import Name
from frontend.views import base
from frontend.views.base import Frame
from memory.sessions.actions.trust import set_trust
from memory.sessions.queries import trust_evidence
from memory.sessions.queries.trust_evidence import TrustView
from teams.permissions import Act, allows
from teams.trust import LEVELS, LevelRow, TrustLevel

NAMES: Final[Mapping[TrustLevel, Name]] = {
    TrustLevel.CAUTIOUS: _("Cautious"),
    TrustLevel.STANDARD: _("Standard"),
    TrustLevel.CONFIDENT: _("Confident"),
    TrustLevel.AUTONOMOUS: _("Autonomous"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """One position of the dial: where it stands, and why it cannot be taken, if so."""

    value: str
    name: Name
    least: float
    asked: Name
    is_here: bool
    is_open: bool
    is_for_owners: bool


@base.member
def trust(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the dial, and set it."""
    ref = frame.project.slug if frame.project else ""
    if request.method == "POST":
        level = _level(request.POST.get("level", ""))
        set_trust(caller=frame.caller, ref=ref, level=level, now=frame.now)
        return base.moved(request, to=base.address("trust", frame))
    view = trust_evidence.get_trust(caller=frame.caller, ref=ref)
    below = TrustLevel(max(view.level - 1, TrustLevel.CAUTIOUS))
    context = {
        "section": "connections",
        "trust": view,
        "dial": tuple(_position(row, view, frame) for row in LEVELS),
        "here": NAMES[view.level],
        "value": view.level.name.lower(),
        "below": NAMES[below],
        "below_value": below.name.lower(),
        "following": None if view.following is None else NAMES[view.following.level],
        "may_set": _may_set(frame),
    }
    return base.page(request, "pages/trust.html", context)


def _level(text: str) -> TrustLevel:
    """Read a position of the dial; what is none is the most careful one."""
    return next((one for one in TrustLevel if one.name.lower() == text), TrustLevel.CAUTIOUS)


def _position(row: LevelRow, view: TrustView, frame: Frame) -> Position:
    return Position(
        value=row.level.name.lower(),
        name=NAMES[row.level],
        least=row.injects_from_confidence,
        asked=session_labels.ASKED[row.asking.value],
        is_here=row.level is view.level,
        is_open=row.level in view.open_to and _may_set(frame),
        is_for_owners=row.level is TrustLevel.AUTONOMOUS,
    )


def _may_set(frame: Frame) -> bool:
    return allows(role=frame.caller.role, act=Act.WRITE)
