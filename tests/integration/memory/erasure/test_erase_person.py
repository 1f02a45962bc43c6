"""A person's account is deleted: what was theirs alone is gone, what they shared stays."""

from datetime import datetime
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from accounts import tenancy
from accounts.actions.members import remove_member
from accounts.actions.tokens import NewToken, create_token
from accounts.caller import Caller
from accounts.errors import Conflict
from accounts.models import Membership, SessionRow, Token, User
from memory.erasure.actions.erase_person import erase_person, models_with_audience
from memory.records.models import Memory
from teams.audit import every_entry
from teams.models import Team, TeamMember
from tests.support import dump
from tests.support.agent_runs import Shop
from tests.support.reviewed import World

CANARY = "zyxquint"
TEXT = f"The {CANARY} importer keeps a lock for two minutes, so start one at a time."
WITH_AUDIENCE = """
SELECT table_name FROM information_schema.columns
WHERE table_schema = current_schema() AND column_name = 'audience'
"""


def test_all_that_is_theirs_alone_goes_and_what_they_shared_stays(
    shop: Shop, world: World, member: User, now: datetime
) -> None:
    personal = shop.opened()
    personal.says(f"We decided that the {CANARY} importer runs alone because it keeps a lock.")
    personal.does({"sequence": 1, "kind": "reasoning", "text": f"{CANARY} is what it is about."})
    personal.ends().consolidated()
    world.stored(TEXT, by=world.member, scope="personal")
    shared = world.stored("Invoices are rounded at the end.", by=world.member)
    with tenancy.unit():
        team = Team.objects.create(slug="platform", name="Platform")
        TeamMember.objects.create(team=team, user_id=member.pk)
    token = create_token(caller=world.member, new=NewToken(name=CANARY), now=now).token
    assert {"memory_turn", "memory_memory", "teams_change"} <= dump.tables_with(word=CANARY)

    (erased,) = erase_person(email=member.email, by=None, now=now)

    assert dump.tables_with(word=CANARY) == set()
    assert (erased.memories, erased.sessions) == (2, 1)
    with tenancy.unit():
        *_, entry = every_entry()
        kept = list(Memory.objects.values_list("id", flat=True))
    assert kept == [shared.id]
    assert (entry.act, entry.object_id) == ("member.erased", str(member.pk))
    assert not User.objects.filter(pk=member.pk).exists()
    assert not Token.objects.filter(pk=token.id).exists()
    assert "teams_teammember" not in dump.tables_with(word=str(member.pk))
    assert not Membership.objects.filter(user_id=member.pk).exists()
    assert not SessionRow.objects.filter(user_id=member.pk).exists()


def test_what_others_hold_alone_stays(world: World, member: User, now: datetime) -> None:
    own = world.stored(TEXT, scope="personal")

    erase_person(email=member.email.upper(), by=None, now=now)

    with tenancy.unit():
        assert [row.id for row in Memory.objects.all()] == [own.id]


def test_what_was_theirs_alone_goes_also_where_they_were_taken_out(
    caller: Caller, world: World, member: User, now: datetime
) -> None:
    world.stored(TEXT, by=world.member, scope="personal")
    remove_member(caller=caller, user_id=member.pk, now=now)

    (erased,) = erase_person(email=member.email, by=None, now=now)

    assert erased.memories == 1
    assert dump.tables_with(word=CANARY) == set()


def test_an_organization_keeps_an_owner(world: World, owner: User, now: datetime) -> None:
    own = world.stored(TEXT, scope="personal")

    with pytest.raises(Conflict, match="Nobody else owns: acme"):
        erase_person(email=owner.email, by=None, now=now)

    with tenancy.unit():
        assert Memory.objects.filter(pk=own.id).exists()
    assert User.objects.filter(pk=owner.pk).exists()


def test_every_table_with_an_audience_is_erased_from(world: World) -> None:
    with tenancy.unit(), connection.cursor() as cursor:
        cursor.execute(WITH_AUDIENCE)
        tables = {name for (name,) in cursor.fetchall()}

    assert tables == {model._meta.db_table for model in models_with_audience()}


def test_the_command_asks_and_says_what_went(world: World, member: User) -> None:
    world.stored(TEXT, by=world.member, scope="personal")
    with pytest.raises(CommandError, match="add --yes"):
        call_command("erase_person", member.email)
    with pytest.raises(CommandError, match="There is no such account"):
        call_command("erase_person", "nobody@acme.test", "--yes")
    said = StringIO()

    call_command("erase_person", member.email, "--yes", stdout=said)

    assert "acme: 1 memories, 0 sessions" in said.getvalue()
    assert "The account is deleted." in said.getvalue()
