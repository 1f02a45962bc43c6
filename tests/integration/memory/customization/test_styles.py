"""Styles of an organization and of a person, and the one a context begins with."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from accounts.errors import InvalidInput, NotFound, RoleNotSufficient
from memory.customization import actions
from memory.customization.actions import put_style, remove_style
from memory.customization.models import Definition
from memory.customization.queries import choose_style, list_styles
from memory.customization.style import Fit, NewStyle, Style
from memory.search.context import Context, ContextRequest, context
from memory.search.request import SearchRequest
from teams.errors import NotBoundToProject
from tests.support.memories import as_agent


def _put(caller: Caller, now: datetime, name: str = "coding", **given: Any) -> Style:
    new = NewStyle(name=name, **{"text": "Short sentences, code first.", **given})
    return put_style(caller=caller, new=new, now=now)


def _pack(caller: Caller, now: datetime, query: str = "anything", **given: Any) -> Context:
    request = ContextRequest(search=SearchRequest(query=query), **given)
    return context(caller=caller, request=request, now=now)


def _names(caller: Caller) -> list[str]:
    return [style.name for style in list_styles(caller=caller)]


def test_everybody_is_told_the_organizations_and_ones_own_to_nobody_else(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    _put(caller, now, "shared")
    _put(caller, now, "own", scope="personal")
    _put(member_caller, now, "mine", scope="personal")

    assert _names(caller) == ["own", "shared"]
    assert _names(member_caller) == ["mine", "shared"]
    assert _names(as_agent(member_caller, bound_projects=())) == ["shared"]
    assert _names(replace(member_caller, user_id=None, token_id=uuid4())) == ["shared"]


def test_personal_styles_may_share_names(caller: Caller, store: str, now: datetime) -> None:
    _put(caller, now, topics=("coding",))
    mine = _put(caller, now, scope="personal", topics=("coding",))

    found = choose_style(caller=caller, topic="coding", interface=None)

    assert found is not None
    assert found.style == mine
    assert found.fit is Fit.TOPIC


def test_one_is_defined_anew_and_removed_and_a_new_default_replaces_the_old(
    caller: Caller, store: str, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "MOST_STYLES", 2)
    first = _put(caller, now, is_default=True)
    own = _put(caller, now, "own", scope="personal", is_default=True)
    last = _put(caller, now, "second", is_default=True)
    with pytest.raises(InvalidInput):
        _put(caller, now, "one-more")
    second = _put(caller, now, text="Long sentences.", interfaces=("cursor",))

    assert second.id == first.id
    assert list_styles(caller=caller) == (second, own, last)
    assert [one.name for one in list_styles(caller=caller) if one.is_default] == ["own", "second"]
    remove_style(caller=caller, style_id=first.id)
    assert list_styles(caller=caller) == (own, last)
    with pytest.raises(NotFound):
        remove_style(caller=caller, style_id=first.id)


def test_members_define_their_own_alone(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    shared = _put(caller, now)
    theirs = _put(caller, now, "own", scope="personal")

    with pytest.raises(RoleNotSufficient):
        _put(member_caller, now, "other")
    with pytest.raises(RoleNotSufficient):
        remove_style(caller=member_caller, style_id=shared.id)
    with pytest.raises(NotFound):
        remove_style(caller=member_caller, style_id=theirs.id)
    with pytest.raises(NotBoundToProject):
        _put(as_agent(caller, bound_projects=()), now, "other")
    with pytest.raises(InvalidInput) as nobody:
        _put(replace(caller, user_id=None, token_id=uuid4()), now, "other", scope="personal")
    assert nobody.value.errors[0].pointer == "/scope"
    assert _names(caller) == ["coding", "own"]


def test_a_context_begins_with_the_style_that_fits_within_its_budget(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    _put(caller, now, topics=("carts",))
    _put(member_caller, now, "mine", scope="personal", is_default=True, text="Plain words.")

    fits = _pack(member_caller, now, "what do carts do")
    usual = _pack(member_caller, now)
    said = _pack(caller, now, topic="carts", budget_tokens=200)

    assert fits.text.startswith("How answers should read (coding): Short sentences, code first.\n")
    assert usual.text.startswith("How answers should read (mine): Plain words.\n")
    assert said.style is not None
    assert (said.style.composed.fit, said.style.composed.topic) == (Fit.TOPIC, "carts")
    assert 0 < said.tokens <= 200
    assert _pack(caller, now).style is None
    assert _pack(member_caller, now, style=False).style is None
    _put(caller, now, text="Say it plainly. " * 30, is_default=True)
    long = _pack(caller, now, budget_tokens=100)  # it is named only
    assert long.style is not None
    assert (long.style.text, long.text) == ("", "")


def test_what_an_agent_is_told_holds_no_secret(caller: Caller, store: str, now: datetime) -> None:
    with pytest.raises(InvalidInput) as refused:
        _put(caller, now, text="Sign with AKIAIOSFODNN7EXAMPL2 always.")
    with pytest.raises(InvalidInput) as topic:
        _put(caller, now, topics=("coding", "AKIAIOSFODNN7EXAMPL2"))

    assert refused.value.errors[0].pointer == "/text"
    assert topic.value.errors[0].pointer == "/topics/1"
    assert "AKIA" not in str(refused.value.detail)
    assert _names(caller) == []


@pytest.mark.django_db(transaction=True)
def test_of_two_defaults_at_once_one_remains(caller: Caller, store: str, now: datetime) -> None:
    def put(name: str) -> None:
        with entered(caller):
            _put(caller, now, name, is_default=True)
        connection.close()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(put, ("one", "other")))

    with entered(caller), tenancy.unit():
        assert Definition.objects.filter(is_default=True).count() == 1
