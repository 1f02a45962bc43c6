"""The switches of what agents are given by themselves, on the page of a project's settings."""

from collections.abc import Callable

from django.test import Client

from accounts.authentication import entered
from accounts.caller import Caller
from accounts.models import User
from teams.queries import Hook, hooks_of

ALL = ("brief", "prefetch", "warnings", "step", "step_recorded", "step_searched", "planner")


def page(client: Client, shop: str) -> str:
    """Return the text of the page."""
    response = client.get(f"{shop}settings")
    assert response.status_code == 200
    return response.content.decode()


def on(caller: Caller) -> set[Hook]:
    """Return the hooks that are on."""
    with entered(caller):
        return {hook for hook, is_on in hooks_of(caller=caller, ref="shop").items() if is_on}


def ticked(text: str) -> set[str]:
    """Return the hooks that are ticked."""
    return {name for name in ALL if f'id="hook-{name}" name="on" value="{name}" checked' in text}


def test_hooks_are_switched_on_the_page_and_stay(
    owner_pages: Client, shop: str, caller: Caller
) -> None:
    usual = ticked(page(owner_pages, shop))

    answer = owner_pages.post(f"{shop}settings/hooks", {"on": ["brief", "step_searched"]})

    assert usual == set(ALL) - {"step_recorded", "step_searched"}
    assert answer.status_code in {200, 204, 302}
    assert ticked(page(owner_pages, shop)) == {"brief", "step_searched"}
    assert on(caller) == {Hook.BRIEF, Hook.STEP_SEARCHED}


def test_a_member_sees_the_switches_and_changes_none(
    shop: str, member: User, signed_in: Callable[[User], Client], caller: Caller
) -> None:
    client = signed_in(member)

    before, answer = page(client, shop), client.post(f"{shop}settings/hooks", {"on": "step"})

    assert '<fieldset class="field" disabled>' in before
    assert answer.status_code == 403
    assert Hook.BRIEF in on(caller)


def test_the_switches_are_told_in_french(owner_pages: Client, owner: User, shop: str) -> None:
    User.objects.filter(pk=owner.pk).update(language="fr")

    assert "Ce que les agents reçoivent d’eux-mêmes" in page(owner_pages, shop)
