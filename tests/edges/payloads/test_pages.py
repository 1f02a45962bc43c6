"""Every hostile value in every field of every form: a page that says so, never a broken one (G8).

The forms are those that the table of writes lists, which a test holds complete; the fields that a
form may leave out stand here.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from urllib.parse import quote, urlencode

import pytest
from django.test import Client

from tests.edges.audit.surfaces import PAGES, Write, at
from tests.edges.audit.world import World
from tests.edges.payloads.conftest import fault_of, rows_of
from tests.support import payloads
from tests.support.goals import Scale

FORM: Final = "application/x-www-form-urlencoded"
OPTIONAL: Final[dict[str, tuple[str, ...]]] = {  # by the last part of the path
    "bulk": ("reason",),
    "correct": ("reason",),
    "archive": ("reason",),
    "teach": ("tags", "files", "scope", "pinned"),
    "styles": ("topics", "interface", "is_default"),
    "methodologies": ("from", "to", "passes", "type", "base", "says", "on_complete"),
    "token": ("name",),
    "new": ("description", "closed", "project", "tool"),
    "invite": ("message",),
}
DOORS: Final = (  # what anybody may send
    at("/login/", "", by="nobody", login="a@b.test", password="x"),
    at("/signup/", "", by="nobody", email="a@b.test", password1="x"),
    at("/password/reset/", "", by="nobody", email="a@b.test"),
)
OTHERS: Final = (  # forms that write nothing of an organization's, or nothing at all
    at("/me", "", name="Ada", language="fr", theme="dark"),
    at("/me/theme", "", theme="dark"),
    at("/language", "", language="fr", next="/"),
    at("/o/acme/p/shop/teach/look", "", content="x", type="fact"),
    at("/o/acme/p/shop/check", "", kind="plan", text="x"),
    at("/o/acme/p/shop/memories/{memory}/diff", "", content="x"),
)
FORMS: Final = (*PAGES, *OTHERS, *DOORS)
RAW: Final = (  # bodies that are no form
    (FORM, b"\xff\xfe=\x00&&&=%"),
    (FORM, b"a=1&" * 2_000),
    ("multipart/form-data", b"--x"),
    ("multipart/form-data; boundary=x", b"--x\r\nContent-Disposition: form-data\r\n\r\n"),
    ("multipart/form-data; boundary=" + "b" * 500, b""),
    ("application/x-www-form-urlencoded; charset=klingon", b"content=x"),
    ("application/x-www-form-urlencoded; charset=utf-16", b"content=x"),
    ("application/json", b'{"content": "x"}'),
    (";;;", b"content=x"),
)
SOME: Final = 29  # the short form sends one of so many combinations


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One form as it goes over the wire."""

    write: Write
    name: str
    kind: str
    body: bytes

    def __str__(self) -> str:
        return f"{self.write.path} {self.name}"


@pytest.mark.goal(name="G8")
def test_a_hostile_form_never_breaks_a_page(
    acme: World, scale: Scale, figure: Callable[[str], None]
) -> None:
    step = scale.of(short=SOME, long=1)
    before = rows_of(acme)

    sent = [one for number, one in enumerate(_combinations(acme)) if number % step == 0]
    faults = [f"{one} {said}" for one in sent if (said := _fault(acme, one, before))]

    assert not faults, "\n".join(faults[:40])
    count = f"{len(payloads.FORM_VALUES)} values, {len(FORMS)} forms"
    figure(f"pages: 0 of {len(sent):,} forms broke, {count}")


def _combinations(acme: World) -> Iterator[Sent]:
    for write in FORMS:
        given = {name: str(value).format(**acme.names) for name, value in write.send.items()}
        for field in (*given, *OPTIONAL.get(write.path.rpartition("/")[2], ())):
            others = urlencode({name: value for name, value in given.items() if name != field})
            for name, text in payloads.FORM_VALUES:
                body = f"{others}&{field}={_encoded(name, text)}".encode()
                yield Sent(write=write, name=f"{field}: {name}", kind=FORM, body=body)
        for kind, body in RAW:
            yield Sent(write=write, name=f"as {kind[:40]}", kind=kind, body=body)


def _encoded(name: str, text: str) -> str:
    is_escaped = name not in {value.name for value in payloads.STORABLE}
    return text if is_escaped else quote(text)


def _fault(acme: World, sent: Sent, before: dict[str, int]) -> str | None:
    path = sent.write.path.format(**acme.names)
    browser = acme.browsers.get(sent.write.by) or Client(raise_request_exception=False)
    send = partial(browser.generic, "POST", path, sent.body, sent.kind)

    def look(answer: Any) -> str | None:
        if answer.status_code >= 500:
            return "broke"
        return "half stored" if answer.status_code >= 400 and rows_of(acme) != before else None

    return fault_of(send, look)
