"""Versions of things: ETag `"v7"` out, If-Match in, so no edit is lost (RFC 9110)."""

import re
from typing import Final

from django.http import HttpRequest

from accounts.api.endpoints import Edits
from accounts.api.errors import MalformedRequest
from accounts.errors import FieldError, PreconditionRequired

TAG: Final = re.compile(r'(?:W/)?"?v?([0-9]{1,9})"?\Z')
ANY: Final = "*"


def etag(*, version: int) -> str:
    """Return the ETag of a version."""
    return f'"v{version}"'


def named(*, request: HttpRequest, edits: Edits) -> int | None:
    """Return the version that If-Match names, None for any.

    Raises PreconditionRequired when one is needed, MalformedRequest when it is none of ours.
    """
    said = request.headers.get("If-Match")
    said = said and said.strip()
    if edits == Edits.NOTHING or said == ANY:
        return None
    if said is None and edits == Edits.NAMED_VERSION:
        raise PreconditionRequired(
            detail="An edit must name the version it edits.",
            hint='Send If-Match with the ETag you read, such as "v3", or * to overwrite.',
        )
    if said is None:
        return None
    found = TAG.match(said)
    if found is None:
        fault = FieldError(pointer="/headers/If-Match", detail="Not a version.", code="version")
        raise MalformedRequest(
            detail="If-Match names no version of ours.",
            hint='Send the ETag as you read it, such as "v3".',
            errors=(fault,),
        )
    return int(found[1])
