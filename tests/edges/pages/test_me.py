"""One's own account: what is refused comes back as it was typed, without its secret."""

import random

import pytest
from django.test import Client

from accounts.models import User
from tests.support.secret_kinds import filled

SECRET = filled(form="ghp_{A36}", draw=random.Random(7))


@pytest.mark.usefixtures("shop")
def test_a_name_with_a_secret_comes_back_without_it(owner_pages: Client, owner: User) -> None:
    sent = {"name": f"Grace {SECRET} Hopper", "language": "fr", "theme": "dark"}

    answer = owner_pages.post("/me", sent)

    page = answer.content.decode()
    owner.refresh_from_db()
    assert answer.status_code == 422
    assert 'value="Grace [redacted: ' in page
    assert SECRET not in page
    assert '<option value="dark" selected>' in page
    assert (owner.name, owner.theme) == ("Owner", "")


@pytest.mark.usefixtures("shop")
def test_what_is_kept_stands_in_the_form(owner_pages: Client) -> None:
    owner_pages.post("/me", {"name": "Grace", "theme": "light", "shortcuts": "on"})

    page = owner_pages.get("/me").content.decode()

    assert 'value="Grace"' in page
    assert '<option value="light" selected>' in page
    assert 'name="shortcuts" checked' in page
