"""What sessions taught about phases as rows of a table: shares, an interval, weights (10.4)."""

from dataclasses import dataclass

from django.utils.formats import number_format

from frontend.labels.memory_labels import TYPES, Name
from frontend.labels.session_labels import PHASES
from frontend.presenters.experiment_table import Drawn, drawn, interval
from memory.experiments.figures import Figure
from memory.experiments.phase_learning import LearnedWeight, OutcomeCounts
from memory.experiments.queries.phase_weights import PhaseWeights


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A type in a phase: how much of it was used, of the others of the phase, and its weight."""

    phase: Name
    type: Name
    own: str
    own_given: int
    others: str
    others_given: int
    interval: str
    drawn: Drawn
    color: str
    now: str
    proposed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """A weight that a person approved."""

    phase: Name
    type: Name
    weight: str


def rows(*, found: PhaseWeights) -> tuple[Row, ...]:
    """Return a row for each type of which enough is known, those that are proposed first."""
    made = tuple(row for one in found.found if (row := _row(one, is_proposed=bool(found.proposal))))
    return tuple(sorted(made, key=lambda row: not row.proposed))


def own(*, found: PhaseWeights) -> tuple[Own, ...]:
    """Return the weights that a person approved."""
    return tuple(
        Own(phase=PHASES[phase.value], type=TYPES[type.value], weight=_weight(weight))
        for phase, weights in found.own.items()
        for type, weight in weights.items()
    )


def _row(one: LearnedWeight, *, is_proposed: bool) -> Row | None:
    if one.difference is None:
        return None
    color = "green" if one.difference.low > 0 else "red" if one.difference.high < 0 else ""
    return Row(
        phase=PHASES[one.phase.value],
        type=TYPES[one.type.value],
        own=_share(one.own),
        own_given=one.own.given,
        others=_share(one.others),
        others_given=one.others.given,
        interval=interval(figure=Figure.QA, found=one.difference),
        drawn=drawn(found=one.difference),
        color=color,
        now=_weight(one.now),
        proposed=_weight(one.proposed) if one.proposed and is_proposed else "",
    )


def _share(came: OutcomeCounts) -> str:
    return f"{number_format(round(100 * came.used / came.given), 0, use_l10n=True)} %"


def _weight(value: float) -> str:
    return number_format(value, 2, use_l10n=True)
