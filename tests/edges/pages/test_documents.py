"""Documentation, errors and accounts pages render in both languages."""

from django.test import Client, override_settings

from frontend.presenters import doc_pages
from tests.edges.pages.session_pages import Pages

ENTRANCE = ("/login/", "/signup/", "/password/reset/", "/password/reset/done/")
MANAGE = ("/email/", "/password/change/", "/2fa/", "/2fa/totp/activate/", "/2fa/webauthn/add/")


def test_every_document_is_shown_and_an_unknown_one_not_found(client: Client, db: None) -> None:
    for page in doc_pages.pages():
        response = client.get(f"/docs/{page.name}/")
        assert response.status_code == 200
        assert b"<h1>" in response.content
    for missing in map(client.get, ("/docs/nothing/", "/nothing")):
        assert missing.status_code == 404
        assert missing["X-Request-Id"] in missing.text


def test_markdown_carries_nothing_that_runs() -> None:
    html = doc_pages.render(markdown="<script>x</script> [a](javascript:x) ![](data:x)")

    assert "<script" not in html
    assert 'href="javascript' not in html


def test_pages_of_accounts_render_in_both_languages(pages: Pages, client: Client) -> None:
    for address in ENTRANCE:
        for language in ("en", "fr"):
            response = client.get(address, HTTP_ACCEPT_LANGUAGE=language)
            assert response.status_code == 200
            assert f'<html lang="{language}"' in response.text
    for address in MANAGE:
        response = pages.owner.get(address, follow=True)
        assert response.status_code == 200
        assert b'class="entrance"' in response.content


@override_settings(ROOT_URLCONF="tests.edges.pages.broken_urls")
def test_broken_pages_name_the_request_or_say_to_try_again(db: None) -> None:
    client = Client(raise_request_exception=False)
    broken, away = (client.get(path) for path in ("/broken", "/away"))

    assert broken.status_code == 500
    assert broken["X-Request-Id"] in broken.text
    assert (away.status_code, away["Retry-After"]) == (503, "5")
    assert b"Cairn is temporarily unavailable" in away.content


def test_form_without_a_token_is_refused_with_a_page(pages: Pages) -> None:
    client = Client(enforce_csrf_checks=True)
    client.cookies = pages.owner.cookies

    response = client.post("/o/acme/projects/new", {"slug": "x", "name": "x"})

    assert response.status_code == 403
    assert b"This form is too old" in response.content
