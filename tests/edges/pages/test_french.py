"""Refusals on French pages are French, of every kind of form."""

import pytest
from django.test import Client

from accounts.models import User
from memory.queries.views import MemoryView
from tests.edges.pages.conftest import HTMX, STATEMENT, verb

SHOP = "/o/acme/p/shop/"
SECRET = "The key is AKIAIOSFODNN7EXAMPLE and wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzKEY9 today."
NB = "\u00a0"


@pytest.fixture
def french(owner: User, owner_pages: Client, shop: str) -> Client:
    """The browser of an owner who reads French."""
    User.objects.filter(pk=owner.pk).update(language="fr")
    return owner_pages


@pytest.mark.parametrize(
    ("address", "form", "said"),
    [
        ("/o/acme/projects/new", {"name": "Shop", "slug": "shop"}, "est déjà pris"),
        ("/o/acme/projects/new", {"name": "S", "slug": "S!"}, "ne peut pas être un nom court"),
        (f"{SHOP}teach", {"content": "ok"}, f"a 2 caractères{NB}; il en faut au moins 20"),
        (f"{SHOP}teach", {"content": SECRET}, f"ressemble à un secret{NB}: "),
        (f"{SHOP}teach", {"content": STATEMENT, "scope": "galaxy"}, "n’est pas l’une de ces"),
        ("/o/acme/settings/members/invite", {"email": "x", "role": "member"}, "adresse e-mail"),
        ("/o/acme/settings/members/invite", {"email": "a@b.fr", "role": "king"}, "Ce rôle n’"),
        ("/me", {"name": "a" * 101}, "Ce nom n’est pas possible."),
        ("/me", {"theme": "pink"}, "Ce thème n’est pas possible."),
        ("/o/new", {"name": ""}, "Le nom doit avoir de 1 à 100 caractères"),
    ],
)
def test_refused_form_says_in_french_why(
    french: Client, address: str, form: dict[str, str], said: str
) -> None:
    page = french.post(address, form, **HTMX)

    assert page.status_code in {409, 422}
    assert said in page.content.decode()


def test_query_that_is_no_filter_is_explained_in_french(french: Client) -> None:
    page = french.get(f"{SHOP}memories", {"q": "type:nonsense"}).content.decode()

    assert "type:nonsense n’est pas un filtre." in page
    assert "Utilisez un type comme gotcha, decision ou fact." in page


def test_toast_of_a_refused_verb_is_french(french: Client, memory: MemoryView) -> None:
    french.post(verb(memory.id, "archive"), **HTMX)

    toast = french.post(verb(memory.id, "confirm"), **HTMX).content.decode()

    assert f"Ce souvenir est dans l’état «{NB}Archivé{NB}»." in toast


def test_page_of_a_refusal_is_french(french: Client) -> None:
    form = {"email": "ida@elsewhere.test", "role": "member"}
    french.post("/o/acme/settings/members/invite", form)

    page = french.post("/o/acme/settings/members/invite", form).content.decode()

    assert "ida@elsewhere.test a déjà reçu une invitation." in page
    assert "has been" not in page
