"""Documentation, errors and accounts pages render in both languages."""

import pytest
from django.test import Client, override_settings

from frontend.presenters import doc_pages

ENTRANCE = ("/login/", "/signup/", "/password/reset/", "/password/reset/done/")
MANAGE = ("/email/", "/password/change/", "/2fa/", "/2fa/totp/activate/", "/2fa/webauthn/add/")


@pytest.mark.parametrize("name", [page.name for page in doc_pages.pages()])
def test_every_document_is_shown(client: Client, db: None, name: str) -> None:
    response = client.get(f"/docs/{name}/")

    assert response.status_code == 200
    assert b"<h1>" in response.content


def test_unknown_document_is_not_found(client: Client, db: None) -> None:
    assert client.get("/docs/nothing/").status_code == 404


def test_markdown_carries_nothing_that_runs() -> None:
    html = doc_pages.render(markdown="<script>x</script> [a](javascript:x) ![](data:x)")

    assert "<script" not in html
    assert 'href="javascript' not in html


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("address", ENTRANCE)
def test_entrance_pages_render(client: Client, db: None, address: str, language: str) -> None:
    response = client.get(address, HTTP_ACCEPT_LANGUAGE=language)

    assert response.status_code == 200
    assert f'<html lang="{language}"' in response.content.decode()


@pytest.mark.parametrize("address", MANAGE)
def test_account_pages_are_reached_when_signed_in(
    owner_pages: Client, shop: str, address: str
) -> None:
    response = owner_pages.get(address, follow=True)

    assert response.status_code == 200
    assert b'class="entrance"' in response.content


def test_missing_page_names_the_request(client: Client, db: None) -> None:
    response = client.get("/nothing")

    assert response.status_code == 404
    assert response["X-Request-Id"] in response.content.decode()


@override_settings(ROOT_URLCONF="tests.edges.pages.broken_urls")
def test_broken_page_names_the_request(db: None) -> None:
    response = Client(raise_request_exception=False).get("/broken")

    assert response.status_code == 500
    assert response["X-Request-Id"] in response.content.decode()


@override_settings(ROOT_URLCONF="tests.edges.pages.broken_urls")
def test_page_without_its_database_says_to_try_again(db: None) -> None:
    response = Client(raise_request_exception=False).get("/away")

    assert response.status_code == 503
    assert response["Retry-After"] == "5"
    assert b"Cairn is temporarily unavailable" in response.content


def test_form_without_a_token_is_refused_with_a_page(shop: str, owner_pages: Client) -> None:
    client = Client(enforce_csrf_checks=True)
    client.cookies = owner_pages.cookies

    response = client.post("/o/acme/projects/new", {"slug": "x", "name": "x"})

    assert response.status_code == 403
    assert b"This form is too old" in response.content
