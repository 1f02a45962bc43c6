"""Programs without a browser sign in (RFC 8628): ask for codes, then for the token.

Both calls need no credential. What they take is JSON, and refusals are problem documents as
everywhere, whose `code` is the `error` of the RFC.
"""

from typing import Any, Final
from urllib.parse import urlencode

from django.conf import settings

from accounts import audit, device_grants
from accounts.actions import devices, tokens
from accounts.api.endpoints import Answer, Ask, Endpoint, Reply
from accounts.api.shapes import Field, Record, Several, Text
from accounts.caller import TokenScope

PAGE: Final = "/device"  # where the person goes
CODE_MOST: Final = 100  # characters of a device code
SCOPES: Final = tuple(scope.value for scope in TokenScope)
ASKED: Final = Record(
    name="DeviceRequest",
    fields=(
        Field(
            name="client",
            shape=Text(largest=tokens.NAME_LENGTH, smallest=1),
            says="How the program calls itself, and where it runs; the person is shown it.",
            required=True,
        ),
        Field(
            name="scopes",
            shape=Several(of=Text(largest=10, choices=SCOPES), largest=len(SCOPES), smallest=1),
            says="What it would do; the person may lend less.",
            default=("read", "write"),
        ),
    ),
)
FETCHED: Final = Record(
    name="DeviceCode",
    fields=(
        Field(
            name="device_code",
            shape=Text(largest=CODE_MOST, smallest=1),
            says="The code that the program keeps to itself.",
            required=True,
        ),
    ),
)
CODES: Final[dict[str, Any]] = {
    "device_code": "GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eS",
    "user_code": "WDJB-MJHT",
    "verification_uri": "https://cairn.example.org/device",
    "verification_uri_complete": "https://cairn.example.org/device?code=WDJB-MJHT",
    "expires_in": device_grants.LIVES_SECONDS,
    "interval": device_grants.INTERVAL_SECONDS,
}
TOKEN: Final[dict[str, Any]] = {
    "access_token": "crn_pat_…",
    "token_type": "Bearer",
    "expires_in": 7_776_000,
    "scope": "read write",
    "organization": "acme",
}


def ask(ask: Ask) -> Answer:
    """Give a program its two codes."""
    codes = devices.ask(
        client=ask.body["client"],
        address=audit.origin().ip,
        scopes=tuple(TokenScope(scope) for scope in ask.body["scopes"]),
        now=ask.now,
    )
    page = f"{settings.BASE_URL}{PAGE}"
    return Answer(
        body={
            "device_code": codes.device_code,
            "user_code": codes.user_code,
            "verification_uri": page,
            "verification_uri_complete": f"{page}?{urlencode({'code': codes.user_code})}",
            "expires_in": device_grants.LIVES_SECONDS,
            "interval": device_grants.INTERVAL_SECONDS,
        }
    )


def fetch(ask: Ask) -> Answer:
    """Hand a program its token, once a person has approved it."""
    fetched = devices.fetch(device_code=ask.body["device_code"], now=ask.now)
    token = fetched.issued.token
    return Answer(
        body={
            "access_token": fetched.issued.text,
            "token_type": "Bearer",
            "expires_in": int((token.expires_at - ask.now).total_seconds()),
            "scope": " ".join(token.scopes),
            "organization": fetched.organization,
        }
    )


ENDPOINTS: Final = (
    Endpoint(
        method="POST",
        path="device/code",
        name="ask_device_code",
        tag="tokens",
        summary="Begin to sign in a program without a browser",
        says="Needs no credential. A person types `user_code` at `verification_uri` (RFC 8628).",
        scope=None,
        public=True,
        run=ask,
        body=ASKED,
        example={"client": "cairn on ada-laptop"},
        replies=(Reply(status=200, says="The codes.", schema="DeviceCodes", example=CODES),),
    ),
    Endpoint(
        method="POST",
        path="device/token",
        name="fetch_device_token",
        tag="tokens",
        summary="Fetch the token of a program that a person has approved",
        says=(
            "Needs no credential. Ask every `interval` seconds while the refusal's `code` is "
            "`authorization_pending`, and 5 s less often after `slow_down`; `access_denied` and "
            "`expired_token` end it. The token is told once; where that answer was lost, "
            "ask again: until it was used, it is replaced by a new one."
        ),
        scope=None,
        public=True,
        run=fetch,
        body=FETCHED,
        example={"device_code": CODES["device_code"]},
        replies=(Reply(status=200, says="The token.", schema="DeviceToken", example=TOKEN),),
    ),
)
