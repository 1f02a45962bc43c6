"""JSON out: orjson straight to bytes; values of the product know nothing of it."""

from collections.abc import Mapping
from typing import Any, Final

import orjson
from rest_framework.renderers import BaseRenderer

OPTIONS: Final = orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS


def to_json(*, value: Any) -> bytes:
    """Write a value as JSON; times in UTC with Z, identifiers as text."""
    return orjson.dumps(value, option=OPTIONS)


class OrjsonRenderer(BaseRenderer):
    """Writes what a view returned; UTF-8, so no charset parameter is named (RFC 8259)."""

    media_type = "application/json"
    format = "json"
    charset = None
    render_style = "binary"

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        """Return the answer's bytes; nothing at all for an answer without a body."""
        return b"" if data is None else to_json(value=data)
