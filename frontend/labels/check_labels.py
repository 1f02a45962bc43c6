"""What a check says of a plan or a diff, in words: verdicts, levels, reasons, what to do (11.8)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext_lazy as _

from frontend.labels.memory_labels import MISSING, Name
from memory.checks.findings import FindingReason, Level


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """How something is colored, what is said of it, and what to do about it."""

    tone: str
    says: Name
    hint: Name


STOP: Final = Said(
    tone="bad",
    says=_("Stop and read first"),
    hint=_("Part of this was tried and failed, or was decided against. See what stands below."),
)
CAUTION: Final = Said(
    tone="warn",
    says=_("Go on with care"),
    hint=_("Nothing forbids it, but something that is known does not fit. See what stands below."),
)
KNOWN: Final = Said(
    tone="good",
    says=_("Nothing speaks against it"),
    hint=_("What stands below is good to know before you begin."),
)
UNKNOWN: Final = Said(
    tone="good",
    says=_("Nothing known speaks against it"),
    hint=_("No memory that you may see bears on this. That is silence, and no proof."),
)
PAUSED: Final = Said(
    tone="warn",
    says=_("Nothing was looked at"),
    hint=_("This project is paused: nothing is given out of it, and checks are not answered."),
)
LEVELS: Final[Mapping[Level, tuple[Name, str]]] = {  # with the color of a chip
    Level.STOP: (_("Stop"), "red"),
    Level.CAUTION: (_("Caution"), "amber"),
    Level.NOTE: (_("Good to know"), ""),
}
REASONS: Final[Mapping[FindingReason, tuple[Name, Name]]] = {  # what is so, and what to do about it
    FindingReason.TRIED: (
        _("This was tried and did not work."),
        _("Read why it failed. If it is different this time, write down what is different."),
    ),
    FindingReason.TRIED_IN_PART: (
        _("Something like it was tried and did not work."),
        _("Compare the two: go on if only the words are alike."),
    ),
    FindingReason.DECIDED_AGAINST: (
        _("This was decided against."),
        _("Keep to the decision, or have it changed before you begin."),
    ),
    FindingReason.TAKES_AWAY: (
        _("It takes away what was decided."),
        _("See that what it was decided for still holds, or have the decision changed first."),
    ),
    FindingReason.OTHER_VALUE: (
        _("It names another number than the one that is known."),
        _("Find out which one is right: change the plan, or correct the memory."),
    ),
    FindingReason.LEFT_BEHIND: (
        _("It changes a file and not what changes with it."),
        _("Change the missing files too, or make sure that they need no change."),
    ),
    FindingReason.USUALLY_TOGETHER: (
        _("These files are usually changed together."),
        _("Look whether the other one needs a change as well."),
    ),
    FindingReason.OF_THE_FILE: (
        _("Known of a file that is touched."),
        _("Keep it in mind while you change the file."),
    ),
    FindingReason.RELEVANT: (
        _("It bears on this."),
        _("Keep it in mind while you work."),
    ),
}
LEFT_OUT: Final[Mapping[str, Name]] = {  # what was not looked at, or done without
    **MISSING,
    "paused": _("the project is paused"),
    "steps_left_out": _("not all steps were looked at"),
    "not_all_parts": _("not all changed places were looked at"),
    "not_all_searched": _("not everything was searched for"),
    "not_all_files": _("not all files were looked up"),
}
