"""Programs without a browser sign in (RFC 8628): ask for codes, then for the token.

Both calls need no credential. What they take is JSON, and refusals are problem documents as
everywhere, whose `code` is the `error` of the RFC.
"""

from typing import Any, Final
from urllib.parse import urlencode

from django.conf import settings
from pydantic import Field

from accounts import audit
from accounts.actions import devices, tokens
from accounts.api.endpoints import Call, post
from accounts.api.schemas import Body, Choice, Name, Result, Several
from accounts.caller import TokenScope

PAGE: Final = "/device"  # where the person goes
CODE_MOST: Final = 100  # characters of a device code


class DeviceRequest(Body):
    """A program that would sign in."""

    client: Name = Field(
        max_length=tokens.NAME_LENGTH,
        description="How the program calls itself, and where it runs; the person is shown it.",
        examples=["cairn on ada-laptop"],
    )
    scopes: Several[Choice[TokenScope]] = Field(
        (TokenScope.READ, TokenScope.WRITE),
        min_length=1,
        max_length=len(TokenScope),
        description="What it would do; the person may lend less.",
    )


class DeviceCode(Body):
    """A program that waits for its token."""

    device_code: Name = Field(
        max_length=CODE_MOST,
        description="The code that the program keeps to itself.",
        examples=["GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eS"],
    )


class DeviceCodes(Result):
    """The codes."""

    device_code: str
    user_code: str
    verification_uri: str
    verification_uri_complete: str
    expires_in: int
    interval: int


class DeviceToken(Result):
    """The token."""

    access_token: str
    token_type: str
    expires_in: int
    scope: str
    organization: str


@post("device/code", tag="tokens", scope=None, public=True, answer=DeviceCodes, idempotent=False)
def ask_device_code(call: Call, body: DeviceRequest) -> dict[str, Any]:
    """Begin to sign in a program without a browser.

    Needs no credential. A person types `user_code` at `verification_uri` (RFC 8628).
    """
    device_code, user_code = devices.ask(
        client=body.client, address=audit.origin().ip, scopes=body.scopes, now=call.now
    )
    page = f"{settings.BASE_URL}{PAGE}"
    return {
        "device_code": device_code,
        "user_code": user_code,
        "verification_uri": page,
        "verification_uri_complete": f"{page}?{urlencode({'code': user_code})}",
        "expires_in": devices.LIVES_SECONDS,
        "interval": devices.INTERVAL_SECONDS,
    }


@post("device/token", tag="tokens", scope=None, public=True, answer=DeviceToken, idempotent=False)
def fetch_device_token(call: Call, body: DeviceCode) -> dict[str, Any]:
    """Fetch the token of a program that a person has approved.

    Needs no credential. Ask every `interval` seconds while the refusal's `code` is
    `authorization_pending`, and 5 s less often after `slow_down`; `access_denied` and
    `expired_token` end it. The token is shown once; where that answer was lost, ask again: until it
    was used, it is replaced by a new one.
    """
    issued, organization = devices.fetch(device_code=body.device_code, now=call.now)
    token = issued.token
    return {
        "access_token": issued.text,
        "token_type": "Bearer",
        "expires_in": int((token.expires_at - call.now).total_seconds()),
        "scope": " ".join(token.scopes),
        "organization": organization,
    }
