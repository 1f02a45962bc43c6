"""The document and its page are open to everyone and load nothing from elsewhere."""

import re

from django.contrib.staticfiles import finders

from tests.support.api import Api


def test_the_document_needs_no_token(db: None) -> None:
    answer = Api().get("openapi.json")

    assert answer.status_code == 200
    assert answer.json()["openapi"] == "3.1.0"
    assert "/api/v1/search" in answer.json()["paths"]


def test_the_page_loads_only_our_own_files(db: None) -> None:
    answer = Api().get("/docs/api")

    page = answer.content.decode()
    addresses = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert answer.status_code == 200
    assert all(address.startswith("/static/") for address in addresses)
    assert all(finders.find(address.removeprefix("/static/")) for address in addresses)
    nonce = re.findall(r'nonce="([^"]+)"', page)[0]
    assert f"'nonce-{nonce}'" in answer["Content-Security-Policy"]
