"""The card of a project's settings that says what its conversations may teach."""

from django.test import Client

from accounts.authentication import entered
from accounts.caller import Caller
from teams.queries import ProjectView, project

SETTINGS = "/o/acme/p/shop/settings"
ADDRESS = f"{SETTINGS}/extraction"


def _here(caller: Caller) -> ProjectView:
    with entered(caller):
        return project(caller=caller, ref="shop")


def test_how_conversations_are_read_is_saved(
    owner_pages: Client, caller: Caller, shop: str
) -> None:
    sent = {"version": "1", "extraction_mode": "heuristic", "max_llm_calls_per_session": "3"}

    answer = owner_pages.post(ADDRESS, sent)

    found = _here(caller)
    assert answer.status_code == 302
    assert (found.extraction_mode, found.max_llm_calls_per_session) == ("heuristic", 3)
    assert found.max_llm_calls_per_turn is None
    shown = owner_pages.get(SETTINGS).content.decode()
    assert '<option value="heuristic" selected>' in shown


def test_an_empty_field_is_the_usual_value_again(
    owner_pages: Client, caller: Caller, shop: str
) -> None:
    owner_pages.post(ADDRESS, {"version": "1", "extraction_mode": "llm"})

    owner_pages.post(ADDRESS, {"version": "2", "extraction_mode": ""})

    assert _here(caller).extraction_mode is None


def test_what_is_no_number_is_refused_where_it_stands(
    owner_pages: Client, caller: Caller, shop: str
) -> None:
    sent = {"version": "1", "max_llm_calls_per_turn": "many", "extraction_mode": "heuristic"}

    answer = owner_pages.post(ADDRESS, sent)

    assert answer.status_code == 422
    assert "Use a number from 0 to 5, or nothing." in answer.content.decode()
    assert 'value="many"' in answer.content.decode()
    assert _here(caller).extraction_mode is None
