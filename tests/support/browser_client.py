"""A client that reads pages as a browser lays them out: where lines break in the markup is nothing.

Templates are broken into lines by a formatter, so a test that looks for markup must not depend on
where. Line breaks between tags are dropped, those inside of tags and texts become one space.
"""

import re
from typing import Any

from django.http import HttpResponse
from django.test import Client

TAG = re.compile(r"<[a-zA-Z/!][^<>]*>")
BREAK = re.compile(r"\s*\n\s*")
KEPT = re.compile(r"(<(?:pre|textarea|script)\b.*?</(?:pre|textarea|script)>)", re.DOTALL)


class PageClient(Client):
    """Django's test client; pages come without the line breaks of their templates."""

    def request(self, **request: Any) -> HttpResponse:
        """Answer a request, its HTML laid out on one line."""
        response: HttpResponse = super().request(**request)
        is_page = response.headers.get("Content-Type", "").startswith("text/html")
        if is_page and not response.streaming:
            response.content = on_one_line(response.content.decode()).encode()
        return response


def on_one_line(html: str) -> str:
    """Return markup without the line breaks that a browser does not show."""
    parts = KEPT.split(html)
    return "".join(
        TAG.sub(_joined, part) if place % 2 else _laid_out(part) for place, part in enumerate(parts)
    )


def _laid_out(part: str) -> str:
    tags = TAG.sub(_joined, part)
    between = re.sub(r">\s*\n\s*", ">", re.sub(r"\s*\n\s*<", "<", tags))
    return BREAK.sub(" ", between)


def _joined(tag: re.Match[str]) -> str:
    return re.sub(r"\s+(/?>)$", r"\1", re.sub(r"\s+", " ", tag[0]))
