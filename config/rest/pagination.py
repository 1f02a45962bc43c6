"""Cursors that callers cannot read or make: signed for one call and one organization."""

from django.core import signing

from accounts.api.endpoints import Endpoint
from accounts.api.errors import MalformedRequest
from accounts.caller import Caller
from accounts.errors import FieldError


def seal(*, inner: str, endpoint: Endpoint, caller: Caller) -> str:
    """Return the cursor that callers see."""
    return signing.Signer(salt=_salt(endpoint, caller)).sign_object([inner])


def open_sealed(*, text: str, endpoint: Endpoint, caller: Caller) -> str:
    """Return what a cursor holds. Raises MalformedRequest for one that this call did not give."""
    try:
        inner = signing.Signer(salt=_salt(endpoint, caller)).unsign_object(text)
    except (signing.BadSignature, ValueError) as error:
        fault = FieldError(pointer="/cursor", detail="Not a cursor of this call.", code="cursor")
        raise MalformedRequest(
            detail="The cursor was not given out by this call.",
            hint="Send `next_cursor` of the page before, or no cursor for the first page.",
            errors=(fault,),
        ) from error
    return str(inner[0])


def _salt(endpoint: Endpoint, caller: Caller) -> str:
    return f"cursor.{endpoint.name}.{caller.organization_id.hex}"
