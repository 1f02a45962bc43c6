"""What every page shows around its content: theme, language, navigation (spec 9.1)."""

from typing import Any

from django.http import HttpRequest


def page(request: HttpRequest) -> dict[str, Any]:
    """Return the variables of the page frame."""
    return {"csp_nonce": getattr(request, "csp_nonce", "")}
