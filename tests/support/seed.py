"""Fill a site for browsers: two organizations, a project with memories a team might have.

Run as a program with the site's environment; prints what a test needs to sign in.
"""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import django

django.setup()

from accounts import tenancy  # noqa: E402
from accounts.actions.tokens import NewToken, create_token  # noqa: E402
from accounts.caller import Caller, Role  # noqa: E402
from memory.documents.actions.import_batches import (  # noqa: E402
    begin_import,
    fail_import,
    run_import,
)
from memory.documents.actions.note_push import NewNote, push_note  # noqa: E402
from memory.documents.actions.uploads import Upload  # noqa: E402
from memory.intake.actions.remember import NewMemory, remember  # noqa: E402
from memory.records.actions import confirm, pin  # noqa: E402
from memory.records.models import Memory  # noqa: E402
from teams.actions import create_project  # noqa: E402
from tests.support import operator, people  # noqa: E402
from tests.support.memories import correct  # noqa: E402

RULES = """# Depot

- The {0} gate of the depot opens at seven, since the first trucks come then.
- Never lock the {0} gate from outside because its key is kept inside.
"""
MEMORIES = tuple(
    line.split("\t") for line in Path(__file__).with_name("memories.tsv").read_text().splitlines()
)  # type, content, files, tags; the newest first


def main() -> None:
    """Seed, and print the credentials."""
    operator.install()
    acme, globex = people.make_organization(slug="acme"), people.make_organization(slug="globex")
    mia = people.make_person(organization=acme, email="mia@acme.test", role=Role.OWNER)
    people.make_person(organization=acme, email="jon@acme.test", role=Role.MEMBER)
    people.make_person(organization=globex, email="eve@globex.test", role=Role.OWNER)
    caller = people.as_caller(organization=acme, user=mia, role=Role.OWNER)
    now = datetime.now(UTC)
    issued = create_token(caller=caller, new=NewToken(name="laptop"), now=now)
    with people.entered(organization=acme):
        for slug, name in (
            ("storefront", "storefront"), ("warehouse", "Warehouse"), ("depot", "Depot"),
        ):  # fmt: skip
            create_project(caller=caller, slug=slug, name=name, now=now)
        _fill(caller, now)
        _hand_in(caller, now)
    print(json.dumps({  # noqa: T201
        "email": mia.email, "password": people.PASSWORD, "stranger": "eve@globex.test",
        "token": issued.text, "organization": "acme", "project": "storefront",
    }))  # fmt: skip


def _fill(caller: Caller, now: datetime) -> None:
    ids = []
    for place, (kind, content, files, tags) in enumerate(reversed(MEMORIES)):
        new = NewMemory(
            content=content, type=kind, project="storefront", source="user_taught",
            related_files=tuple(files.split(",")),
            tags=tuple(tag for tag in tags.split(",") if tag),
        )  # fmt: skip
        moment = now - timedelta(days=40 - 2.9 * place)
        outcome = remember(caller=caller, new=new, now=moment)
        assert outcome.memory is not None, outcome
        ids.append(outcome.memory.id)
    confirm(caller=caller, memory_id=ids[3], now=now - timedelta(days=1))
    confirm(caller=caller, memory_id=ids[-2], now=now - timedelta(hours=7))
    pin(caller=caller, memory_id=ids[5], pinned=True, now=now - timedelta(hours=5))
    correct(
        caller=caller, memory_id=ids[-1], kind="wrong", reason="seen in the outage",
        content=MEMORIES[0][1].replace("slow", "unreachable"), now=now - timedelta(hours=2),
    )  # fmt: skip
    with tenancy.unit():
        proposed = {"author_agent": "claude-code", "source": "agent_explicit", "needs_review": True}
        Memory.objects.filter(pk__in=(ids[4], ids[6])).update(**proposed)
        Memory.objects.filter(pk=ids[7]).update(verification="stale", stale_at=now)
        Memory.objects.filter(pk=ids[2]).update(taint_reason="learned after a web fetch")


def _hand_in(caller: Caller, now: datetime) -> None:
    """Take a file in, let the job of another fail, and push a note; in the project depot."""
    rules, more = (RULES.format(gate) for gate in ("west", "north"))
    for name, text in (("CLAUDE.md", rules), ("AGENTS.md", more)):
        upload = Upload(files=((name, text.encode()),), project="depot")
        batch = begin_import(caller=caller, upload=upload, now=now)
        if name == "CLAUDE.md":
            run_import(caller=caller, batch_id=batch.id, now=now, tell=lambda *_: None)
        else:
            fail_import(batch_id=batch.id, reason="Its worker stopped twice.", now=now)
    note = NewNote(project="depot", path="docs/adr-1.md", text=RULES.format("south"))
    push_note(caller=caller, new=note, now=now)


if __name__ == "__main__":
    main()
