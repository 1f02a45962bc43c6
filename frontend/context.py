"""What every page shows around its content: theme, language, navigation."""

from typing import Any

from django.http import HttpRequest
from django.utils import translation

from accounts.queries import any_silent


def page(request: HttpRequest) -> dict[str, Any]:
    """Return the variables of the page frame."""
    user = getattr(request, "user", None)
    frame = getattr(request, "frame", None)
    return {
        "csp_nonce": getattr(request, "csp_nonce", ""),
        "theme": getattr(user, "theme", "") or request.COOKIES.get("cairn-theme", "")[:5],
        "shortcuts": getattr(user, "shortcuts", False),
        "LANGUAGE": translation.get_language() or "en",
        "frame": frame,
        "now": getattr(frame, "now", None),
        "has_silent_agent": lambda: (
            frame is not None and any_silent(caller=frame.caller, now=frame.now)
        ),
    }
