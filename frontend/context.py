"""What every page shows around its content: theme, language, navigation (spec 9.1)."""

from typing import Any

from django.http import HttpRequest
from django.utils import translation


def page(request: HttpRequest) -> dict[str, Any]:
    """Return the variables of the page frame."""
    user = getattr(request, "user", None)
    return {
        "csp_nonce": getattr(request, "csp_nonce", ""),
        "theme": getattr(user, "theme", "") or request.COOKIES.get("cairn-theme", "")[:5],
        "shortcuts": getattr(user, "shortcuts", False),
        "LANGUAGE": translation.get_language() or "en",
        "frame": getattr(request, "frame", None),
    }
