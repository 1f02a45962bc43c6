"""A person in front of a served installation: signed in by the form, with the cookies of that."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from tests.support.live import Place
from tests.support.people import PASSWORD


@contextmanager
def signed_in(*, address: str, place: Place) -> Iterator[httpx.Client]:
    """Yield a browser of the owner, whose REST calls are for that organization."""
    slug = place.caller.organization_slug
    headers = {"Referer": address, "X-Cairn-Organization": slug}
    with httpx.Client(base_url=address, headers=headers, timeout=60) as browser:
        browser.get("/login/")
        form = {"login": f"owner@{slug}.test", "password": PASSWORD}
        browser.post("/login/", data={**form, **token_of(browser=browser)})
        browser.headers["X-CSRFToken"] = browser.cookies["cairn-csrf"]
        yield browser


def token_of(*, browser: httpx.Client) -> dict[str, str]:
    """Return the field that every form of a page carries."""
    return {"csrfmiddlewaretoken": browser.cookies["cairn-csrf"]}
