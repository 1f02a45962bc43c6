"""Whose address a caller has: the connection's, whatever the caller says of it."""

import httpx

from tests.journeys.test_live import sign_in
from tests.support.site import Site

FORGED = {"X-Forwarded-For": "203.0.113.9", "X-Real-IP": "203.0.113.9"}


def tokens(site: Site) -> httpx.Client:
    """Return the owner's browser, ready to call the REST interface."""
    client = sign_in(site, site.email)
    client.headers["X-Cairn-Organization"] = "acme"
    client.headers["X-CSRFToken"] = client.cookies["cairn-csrf"]
    return client


def test_forged_address_is_not_believed(running_site: Site) -> None:
    mia = tokens(running_site)
    made = mia.post("/api/v1/tokens", json={"name": "forger"}).json()
    bearer = {"Authorization": f"Bearer {made['text']}"}

    httpx.get(f"{running_site.url}/api/v1/me", headers={**bearer, **FORGED})

    listed = mia.get("/api/v1/tokens").json()["items"]
    used = {token["id"]: token["last_used_ip"] for token in listed}
    assert used[made["token"]["id"]] == "127.0.0.1"
