"""The first start makes an owner and a token once; a lost file is made anew."""

import json
import shutil
import stat
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth import authenticate
from django.core.management import call_command
from django.utils import timezone

from accounts.actions.tokens import NewToken, create_token, revoke_token
from accounts.authentication import caller_from_session, caller_from_token, entered
from accounts.errors import InvalidToken
from accounts.models import Organization, User
from accounts.queries import list_tokens
from memory.client.install import HARNESSES
from teams.queries import projects

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clean_cache")]


def bootstrap(path: Path) -> str:
    out = StringIO()
    call_command("bootstrap", credentials=path, stdout=out)
    return out.getvalue()


def test_the_credentials_work_for_agents_and_for_the_owner(tmp_path: Path) -> None:
    path = tmp_path / "credentials.json"

    printed = bootstrap(path)

    written = json.loads(path.read_text())
    caller = caller_from_token(text=written["token"], agent="", ip="", now=timezone.now())
    with entered(caller):
        assert [project.slug for project in projects(caller=caller)] == [written["project"]]
    assert json.loads(printed) == written
    assert caller.organization_slug == written["organization"] == "home"
    assert {str(scope) for scope in caller.scopes} == {"read", "write", "index", "admin"}
    user = authenticate(None, email=written["email"], password=written["password"])
    assert user == User.objects.get()
    assert user.is_superuser
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sorted(file.name for file in tmp_path.iterdir()) == ["credentials.json", "tokens"]


def test_each_program_gets_a_token_of_its_own_that_reads_and_writes(tmp_path: Path) -> None:
    bootstrap(tmp_path / "credentials.json")

    for name in HARNESSES:
        path = tmp_path / "tokens" / name
        caller = caller_from_token(
            text=path.read_text().strip(), agent="", ip="", now=timezone.now()
        )
        assert {str(scope) for scope in caller.scopes} == {"read", "write"}
        assert caller.agent == name
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_programs_lost_token_is_made_anew_and_the_others_stay(tmp_path: Path) -> None:
    path, tokens = tmp_path / "credentials.json", tmp_path / "tokens"
    bootstrap(path)
    lost, kept = (tokens / "codex").read_text().strip(), (tokens / "cursor").read_bytes()
    (tokens / "codex").unlink()

    printed = bootstrap(path)

    assert (printed, (tokens / "cursor").read_bytes()) == ("", kept)
    with pytest.raises(InvalidToken):
        caller_from_token(text=lost, agent="", ip="", now=timezone.now())
    assert (tokens / "codex").read_text().strip() != lost


def test_an_upgrade_whose_first_token_has_ended_gives_programs_tokens(tmp_path: Path) -> None:
    path, tokens = tmp_path / "credentials.json", tmp_path / "tokens"
    bootstrap(path)
    shutil.rmtree(tokens)
    Organization.objects.update(longest_token_days=30)
    owner = caller_from_session(user_id=User.objects.get().id, organization_slug="home")
    own = create_token(caller=owner, new=NewToken(name="codex"), now=timezone.now()).token
    first = next(one for one in list_tokens(caller=owner) if one.name == "First token")
    revoke_token(caller=owner, token_id=first.id, now=timezone.now())

    bootstrap(path)

    assert {file.name for file in tokens.iterdir()} == set(HARNESSES)
    living = [one.id for one in list_tokens(caller=owner) if one.revoked_at is None]
    assert (len(living), own.id in living) == (len(HARNESSES) + 1, True)


def test_a_second_start_changes_and_prints_nothing(tmp_path: Path) -> None:
    path = tmp_path / "credentials.json"
    bootstrap(path)
    before = path.read_bytes()

    printed = bootstrap(path)

    assert (printed, path.read_bytes()) == ("", before)


def test_a_lost_file_gets_new_secrets_and_ends_the_old(tmp_path: Path) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    bootstrap(first)

    bootstrap(second)

    old, new = json.loads(first.read_text()), json.loads(second.read_text())
    with pytest.raises(InvalidToken):
        caller_from_token(text=old["token"], agent="", ip="", now=timezone.now())
    assert caller_from_token(text=new["token"], agent="", ip="", now=timezone.now()).token_id
    assert old["password"] != new["password"]
    assert (User.objects.count(), Organization.objects.count()) == (1, 1)
