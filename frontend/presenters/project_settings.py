"""The settings of a project as pages show them: its intake gates and its hooks.

How the gates decided of late is shown with the activity.
"""

from datetime import datetime
from typing import Final

from django.utils.translation import gettext_lazy as _

from accounts.caller import Caller
from frontend import labels
from frontend.labels import Name
from memory.intake import queries as intake_queries
from memory.intake.integrate import Thresholds
from teams.queries import GATES, WHOLE, Hook, ProjectView, hooks_of

DAYS: Final = 30
OUTCOMES: Final[tuple[tuple[str, str, Name, Name], ...]] = (  # with the gate, a name, a meaning
    ("added", "", _("Stored"), _("Passed every gate and said something new.")),
    (
        "confirmed",
        "exact_duplicate",
        _("Same text"),
        _("The same text existed, so that memory was confirmed."),
    ),
    (
        "confirmed",
        "near_duplicate",
        _("Same words"),
        _("A memory with the same words in other spelling existed and was confirmed."),
    ),
    (
        "known",
        "",
        _("Repeated by an agent"),
        _("An agent repeated what it had been given, which confirms nothing."),
    ),
    (
        "updated",
        "",
        _("Sent again"),
        _("Its external id was known, so the memory got a new version."),
    ),
    ("extended", "", _("Adds to one"), _("Stored beside the one it adds to, with a link.")),
    (
        "superseded",
        "",
        _("Replaced an older one"),
        _("Words of change: the older one stays readable, with its successor."),
    ),
    ("contradicted", "", _("Contradicts one"), _("Both stay, and a person decides.")),
    (
        "refused",
        "length",
        _("Refused: length"),
        _("Too short to make sense later, or a whole document."),
    ),
    (
        "refused",
        "secrets",
        _("Refused: secret"),
        _("A password or key was in it; neither was stored."),
    ),
    ("refused", "input", _("Refused: malformed"), _("A field had an invalid value.")),
)
GATE_FIELDS: Final = labels.pairs("gate_fields")


HOOKS: Final = labels.pairs("hooks")


def gate_outcomes(
    *, caller: Caller, project: str, now: datetime
) -> tuple[tuple[Name, Name, int], ...]:
    """Return how the candidates of thirty days ended: a name, what it means, how many.

    Nothing where none came.
    """
    found = intake_queries.tallies(caller=caller, project=project, days=DAYS, now=now)
    counts = {(one.outcome, one.gate): one.count for one in found}
    return tuple(
        (name, meaning, counts.get((outcome, gate), 0))
        for outcome, gate, name, meaning in (OUTCOMES if found else ())
    )


def gates(*, project: ProjectView) -> tuple[dict[str, object], ...]:
    """Return the thresholds of a project's gates: words, bounds, what holds and what is usual."""
    usual = Thresholds()
    return tuple(
        {
            "field": field,
            "name": name,
            "meaning": meaning,
            "least": GATES[field][0],
            "most": GATES[field][1],
            "step": "1" if field in WHOLE else "0.01",
            "value": getattr(project, field),
            "usual": getattr(usual, field),
        }
        for field, (name, meaning) in GATE_FIELDS.items()
    )


def hooks(*, caller: Caller, project: str) -> tuple[tuple[str, Name, Name, bool], ...]:
    """Return the hooks of a project: field, name, meaning, whether it is on. Raises NotFound."""
    found = hooks_of(caller=caller, ref=project)
    return tuple((hook, *words, found[Hook(hook)]) for hook, words in HOOKS.items())
