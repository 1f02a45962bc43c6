"""The names of what is known of a project's code, as people read them."""

from collections.abc import Mapping
from typing import Final

from django.utils.translation import gettext_lazy as _

from frontend.words import Name

INDEX_STATES: Final[Mapping[str, Name]] = {
    "empty": _("Not indexed"),
    "receiving": _("Files are arriving"),
    "resolving": _("Edges are being made"),
    "done": _("Up to date"),
    "failed": _("Failed"),
}
LANGUAGES: Final[Mapping[str, Name]] = {
    "python": "Python",
    "javascript": "JavaScript",
    "typescript": "TypeScript",
    "tsx": "TSX",
    "go": "Go",
    "rust": "Rust",
}
