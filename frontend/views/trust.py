"""How far a person trusts the memory of a project: the dial, and what comes next."""

from collections.abc import Mapping
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from frontend import labels
from frontend.views import base
from frontend.views.base import Frame
from memory.sessions.actions.trust import get_trust, set_trust
from teams.permissions import Act
from teams.trust import LEVELS, TrustLevel

NAMES: Final[Mapping[TrustLevel, labels.Name]] = {
    TrustLevel.CAUTIOUS: _("Cautious"),
    TrustLevel.STANDARD: _("Standard"),
    TrustLevel.CONFIDENT: _("Confident"),
    TrustLevel.AUTONOMOUS: _("Autonomous"),
}


@base.member
def trust(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the dial, and set it; what is no position of it is the most careful one."""
    if request.method == "POST":
        named = {one.name.lower(): one for one in TrustLevel}
        level = named.get(request.POST.get("level", ""), TrustLevel.CAUTIOUS)
        set_trust(caller=frame.caller, ref=frame.slug, level=level, now=frame.now)
        return base.moved(request, to=base.address("trust", frame))
    view = get_trust(caller=frame.caller, ref=frame.slug)
    below = TrustLevel(max(view.level - 1, TrustLevel.CAUTIOUS))
    may_set = frame.may(Act.WRITE)
    context = {
        "section": "connections",
        "trust": view,
        "dial": tuple(
            {
                "value": row.level.name.lower(),
                "name": NAMES[row.level],
                "least": row.injects_from_confidence,
                "asked": labels.ASKED[row.asking.value],
                "is_here": row.level is view.level,
                "is_open": row.level in view.open_to and may_set,
                "is_for_owners": row.level is TrustLevel.AUTONOMOUS,
            }
            for row in LEVELS
        ),
        "here": NAMES[view.level],
        "value": view.level.name.lower(),
        "below": NAMES[below],
        "below_value": below.name.lower(),
        "following": None if view.following is None else NAMES[view.following.level],
        "may_set": may_set,
    }
    return base.page(request, "pages/trust.html", context)
