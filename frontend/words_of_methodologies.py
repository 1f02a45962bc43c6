"""What the page of methodologies calls things: the six phases, and what an end of work brings."""

from collections.abc import Mapping
from typing import Final

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from frontend.words import Name

PHASES: Final[Mapping[str, Name]] = {
    "define": pgettext_lazy("phase of work", "Define"),
    "implement": pgettext_lazy("phase of work", "Implement"),
    "validate": pgettext_lazy("phase of work", "Validate"),
    "refine": pgettext_lazy("phase of work", "Refine"),
    "explore": pgettext_lazy("phase of work", "Explore"),
    "reflect": pgettext_lazy("phase of work", "Reflect"),
}
ENDS: Final[Mapping[str, Name]] = {
    "record_outcome": _("How it ended, in the figures of its session"),
    "calibrate": _("Its steps against those planned"),
}
