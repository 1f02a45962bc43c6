"""The intake gates as pages show them: what each does, how often, and its thresholds."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.utils.translation import gettext_lazy

from accounts.caller import Caller
from frontend.labels.memory_labels import Name
from memory.intake import queries as intake_queries
from memory.intake.intake_gates import Thresholds
from teams.queries import GATES, WHOLE, ProjectView

DAYS: Final = 30
ENDS: Final[tuple[tuple[str, str, Name, Name], ...]] = (  # outcome, gate, its name, what it means
    (
        "added",
        "",
        gettext_lazy("Stored"),
        gettext_lazy("Passed every gate and said something new."),
    ),
    (
        "confirmed",
        "exact_duplicate",
        gettext_lazy("Known by the word"),
        gettext_lazy("The same text was there, so that memory was confirmed."),
    ),
    (
        "confirmed",
        "near_duplicate",
        gettext_lazy("Known by its meaning"),
        gettext_lazy("Nearly the same was there, so that memory was confirmed."),
    ),
    (
        "known",
        "",
        gettext_lazy("Told just before"),
        gettext_lazy("An agent said again what it had been told, which confirms nothing."),
    ),
    (
        "updated",
        "",
        gettext_lazy("Sent again"),
        gettext_lazy("It came under an external id that was known, and got a new version."),
    ),
    (
        "extended",
        "",
        gettext_lazy("Adds to one"),
        gettext_lazy("Stored beside the one it adds to, with a link."),
    ),
    (
        "superseded",
        "",
        gettext_lazy("Replaced an older one"),
        gettext_lazy("Words of change: the older one stays readable, with its successor."),
    ),
    (
        "contradicted",
        "",
        gettext_lazy("Contradicts one"),
        gettext_lazy("Both stay, and a person decides."),
    ),
    (
        "refused",
        "length",
        gettext_lazy("Refused: length"),
        gettext_lazy("Too short to make sense later, or a whole document."),
    ),
    (
        "refused",
        "secrets",
        gettext_lazy("Refused: secret"),
        gettext_lazy("A password or key was in it; neither was stored."),
    ),
    (
        "refused",
        "input",
        gettext_lazy("Refused: malformed"),
        gettext_lazy("A field held what it cannot hold."),
    ),
)
FIELDS: Final[Mapping[str, tuple[Name, Name]]] = {
    "minimum_length": (
        gettext_lazy("Fewest characters"),
        gettext_lazy("What is shorter is refused: it makes no sense in another session."),
    ),
    "maximum_length": (
        gettext_lazy("Most characters"),
        gettext_lazy("What is longer is a document, not a memory."),
    ),
    "near_duplicate_cosine": (
        gettext_lazy("Nearness of a duplicate"),
        gettext_lazy("Above it a memory confirms the one that says the same. 1: never."),
    ),
    "near_duplicate_window": (
        gettext_lazy("Newest entries compared"),
        gettext_lazy("Besides the five nearest memories."),
    ),
    "conflict_cosine": (
        gettext_lazy("Nearness of a conflict"),
        gettext_lazy("From it on memories about the same thing are compared. Higher finds fewer."),
    ),
    "novelty_cosine": (
        gettext_lazy("Nearness of nothing new"),
        gettext_lazy("Above it what was observed is not kept."),
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """How many candidates ended in one way, and what that means."""

    name: Name
    meaning: Name
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A threshold of the gates: what it is called and does, its bounds, what holds now."""

    field: str
    name: Name
    meaning: Name
    least: float
    most: float
    step: str
    value: float | None
    usual: float


def ends(*, caller: Caller, project: str, now: datetime) -> tuple[End, ...]:
    """Return how the candidates of thirty days ended, by gate; nothing where none came."""
    found = intake_queries.tallies(caller=caller, project=project, days=DAYS, now=now)
    if not found:
        return ()
    counts = {(one.outcome, one.gate): one.count for one in found}
    return tuple(
        End(name=name, meaning=meaning, count=counts.get((outcome, gate), 0))
        for outcome, gate, name, meaning in ENDS
    )


def settings(*, project: ProjectView) -> tuple[Setting, ...]:
    """Return the thresholds of a project's gates."""
    usual = Thresholds()
    return tuple(
        Setting(
            field=field,
            name=name,
            meaning=meaning,
            least=GATES[field][0],
            most=GATES[field][1],
            step="1" if field in WHOLE else "0.01",
            value=getattr(project, field),
            usual=getattr(usual, field),
        )
        for field, (name, meaning) in FIELDS.items()
    )
