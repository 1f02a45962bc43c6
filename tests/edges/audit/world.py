"""An organization in which every way of writing has something to write to."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from django.db.models import Sum
from django.test import Client
from django.utils import timezone

from accounts import tenancy
from accounts.actions.members import invite
from accounts.actions.tokens import NewToken, create_token
from accounts.authentication import entered
from accounts.caller import Caller, Role, TokenScope
from accounts.models import AuditRoot, Job, Organization, User
from memory.customization import phases
from memory.customization.actions import define_methodology, put_style
from memory.customization.style import NewStyle
from memory.documents.actions.import_batches import begin_import, run_import
from memory.documents.actions.note_push import NewNote, push_note
from memory.documents.actions.uploads import Upload
from memory.index.models import EmbeddingModel
from memory.intake.actions.revise import revise
from memory.records.actions import archive
from memory.records.models import Memory, MemoryLink
from memory.records.queries.views import MemoryView
from memory.review.actions.entity_merges import MergePair, merge_names
from memory.review.actions.rollback import roll_back
from memory.review.actions.settlements import Settlement, settle
from memory.review.actions.verdicts import MemoryEdge, snooze, unlink
from memory.review.queries import conflicts
from memory.review.queries.conflicts import ConflictVerdict, ConflictView
from memory.review.queries.rollback_plan import RollbackChoice
from memory.sessions.actions.lifecycle import NewSession, open_session
from memory.taxonomy import LinkKind
from teams.actions import add_person, create_project, create_team
from teams.audit import every_entry
from teams.audit_chain import Entry
from teams.models import Project
from teams.queries import Kind
from teams.trust import TrustLevel
from tests.edges.audit.surfaces import CONTENT
from tests.support import coding, people
from tests.support.api import Api, agent
from tests.support.memories import as_agent, sent, stored
from tests.support.trusting import stand

GUEST = "guest@acme.test"


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Who asks in which browser or with which token, and what names in addresses stand for."""

    caller: Caller
    browsers: Mapping[str, Client]
    apis: Mapping[str, Api]
    names: Mapping[str, str]


def written() -> int:
    """Return how many entries all logs have together."""
    return int(AuditRoot.objects.aggregate(all=Sum("count"))["all"] or 0)


def newest(slug: str) -> Entry:
    """Return the last entry of an organization's log."""
    organization = Organization.objects.get(slug=slug)
    with people.entered(organization=organization):
        *_, last = every_entry()
    return last


@pytest.fixture
def acme(caller: Caller, organization: Organization, member: User, clean_cache: None) -> World:
    """The world in which pages and calls write; what a test writes is taken back."""
    now = datetime.now(UTC)
    people_here = {
        "owner": User.objects.get(pk=caller.user_id),
        "member": member,
        "viewer": people.make_person(
            organization=organization, email="viewer@acme.test", role=Role.VIEWER
        ),
        "guest": User.objects.create_user(GUEST, people.PASSWORD),
        "operator": User.objects.create_superuser("ops@cairn.test", people.PASSWORD),
    }
    browsers = {name: Client(raise_request_exception=False) for name in people_here}
    for name, user in people_here.items():
        browsers[name].force_login(user)
    new = NewToken(name="agent", scopes=frozenset(TokenScope) - {TokenScope.REVIEW})
    writer = create_token(caller=caller, new=new, now=now)
    names = _names(caller, people_here, now)
    with_token = replace(caller, token_id=writer.token.id)
    return World(
        caller=caller,
        browsers=browsers,
        apis={
            "writer": Api(token=writer.text),
            "reviewer": agent(caller, frozenset(TokenScope)),
            "reader": agent(caller, frozenset({TokenScope.READ})),
        },
        names={**names, **_decided(with_token, people_here["member"], names["memory"], now)},
    )


def _names(caller: Caller, who: Mapping[str, User], now: datetime) -> dict[str, str]:
    with entered(caller):
        create_project(caller=caller, slug="shop", name="Shop", now=now)
        stand(caller, "shop", TrustLevel.STANDARD, now)
        with tenancy.unit():  # somebody has decided about its phase weights
            row = Project.objects.get(slug="shop")
            row.settings = phases.with_decision(settings=row.settings, weights={}, now=now)
            row.save(update_fields=["settings"])
        create_project(caller=caller, slug="vault", name="Vault", open_to_all=False, now=now)
        team = create_team(caller=caller, slug="core")
        for kind, ref in ((Kind.PROJECT, "shop"), (Kind.TEAM, "core")):
            add_person(caller=caller, kind=kind, ref=ref, person=str(who["member"].id))
        said = "Carts expire after a day, so reminders go out before noon."
        memory = _memory(as_agent(caller), now, said, source="agent_explicit")
        other = _memory(caller, now, "Invoices are numbered by the ledger and never by the shop.")
        with tenancy.unit():
            changes = {"tags": ["carts"], "content": f"{memory.content} Since May."}
            revise(caller=caller, memory_id=memory.id, changes=changes, if_version=None, now=now)
        gone = archive(caller=caller, memory_id=other.id, reason="", if_version=None, now=now)
        define_methodology(caller=caller, name="scrum", phases={"sprint": "implement"}, now=now)
        kept = put_style(caller=caller, new=NewStyle(name="quick", text="Short."), now=now)
        sizes = {"dimensions": 384, "prefix_dimensions": 384}
        with tenancy.unit():  # a model to which one can go back, and one that is being filled
            EmbeddingModel.objects.create(key="hashing/turned-384", activated_at=now, **sizes)
            EmbeddingModel.objects.create(key="gone/model", filling=True, **sizes)
        invited = invite(caller=caller, email=GUEST, role=Role.MEMBER, now=now)
        code = coding.announce(caller, now, {"shop/cart.py": CONTENT})
        new = NewSession(project="shop", external_id="run-1")
        opened = open_session(caller=caller, new=new, now=now).session
        note = NewNote(project="shop", path="b.md", text="The mill grinds rye on Mondays only.\n")
        pushed = push_note(caller=caller, new=note, now=now).note
        settled = _conflict(caller, now, "harbor")
        verdict = Settlement(verdict=ConflictVerdict.KEEP_OLDER, reason="It is still so.")
        settle(caller=caller, conflict_id=settled.id, settlement=verdict, now=now)
    token = create_token(caller=caller, new=NewToken(name="laptop"), now=now).token
    return {
        "memory": str(memory.id),
        "memory_short": memory.id.hex[-8:],  # what is typed before it is deleted
        "weighed": now.isoformat(),
        "code_run": str(code.run),
        "style": str(kept.id),
        "archived": str(gone.id),
        **_imports(caller, now),
        "note": str(pushed.id),
        "session": str(opened.id),
        "session_short": opened.id.hex[-8:],  # what is typed before it is deleted
        "conflict": str(_conflict(caller, now, "depot").id),
        "settled_conflict": str(settled.id),
        "queued_job": str(_job(caller, Job.State.QUEUED).id),
        "failed_job": str(_job(caller, Job.State.FAILED).id),
        "team": str(team.id),
        "token": str(token.id),
        "invitation": str(invited.invitation.id),
        "secret": invited.link.rpartition("/")[2],
        "organization": str(caller.organization_id),
        **{name: str(user.id) for name, user in who.items()},
    }


def _decided(caller: Caller, member: User, memory_id: str, now: datetime) -> dict[str, str]:
    """Let two memories of somebody else wait; of one, the caller's token has decided already.

    Two links lead to a memory, of which the caller has taken one back; and what a session stored
    was rolled back.
    """
    with entered(caller):
        waits = _memory(caller, now, "Parcels above thirty kilos leave from the north depot only.")
        rests = _memory(caller, now, "Refunds take three days because the bank settles at night.")
        ids = (waits.id, rests.id)
        with tenancy.unit():
            Memory.objects.filter(pk__in=ids).update(needs_review=True, author_user=member.id)
        _memory(caller, now, "LoginGate, EntryPortal and PaymentHub share one certificate.")
        pair = MergePair(name="LoginGate", same_as="EntryPortal")
        merged = merge_names(caller=caller, pair=pair, now=now)
        tomorrow = now + timedelta(days=1)
        snoozed = snooze(caller=caller, memory_id=rests.id, until=tomorrow, now=now)
        linked = _memory(caller, now, "The reminder of a cart names what it holds, without prices.")
        ends = {"source_id": linked.id, "target_id": UUID(memory_id)}
        with tenancy.unit():
            for kind in (LinkKind.EXTEND, LinkKind.DERIVE):
                MemoryLink.objects.create(kind=kind.value, automatic=True, **ends)
        edge = MemoryEdge(other_id=UUID(memory_id), kind=LinkKind.DERIVE, outgoing=True)
        unlinked = unlink(caller=caller, memory_id=linked.id, edge=edge, now=now)
        opened = open_session(caller=caller, new=NewSession(project="shop"), now=now).session
        text = "The depot of the south closes at four on Fridays, and takes no parcels then."
        made = {"source": "agent_explicit", "project": "shop", "session_id": opened.id}
        stored(caller, now, text, **made)
        choice = RollbackChoice(project="shop", session=opened.id)
        rolled_back = roll_back(caller=caller, choice=choice, now=now)
    return {
        "merge": str(merged.merge_id),
        "waiting": str(waits.id),
        "verdict": str(snoozed.review_id),
        "tomorrow": tomorrow.isoformat(),
        "linked": str(linked.id),
        "unlinked": str(unlinked.review_id),
        "rolled_back": str(rolled_back.review_id),
    }


def _memory(caller: Caller, now: datetime, content: str, **given: str) -> MemoryView:
    return stored(caller, now, content, type="gotcha", project="shop", **given)


def _imports(caller: Caller, now: datetime) -> dict[str, str]:
    """Take one file in, let another wait, and the job of a third fail."""
    text = b"# Mill\n\nThe gate of the mill opens at nine and closes at six.\n"
    upload = Upload(files=(("mill.md", text),), project="shop")
    with entered(caller):
        done, waits, failed = (begin_import(caller=caller, upload=upload, now=now) for _ in "123")
        run_import(caller=caller, batch_id=done.id, now=now, tell=lambda *_: None)
    Job.objects.filter(pk=failed.job_id).update(state=Job.State.QUARANTINED)
    ids = {"import": done.id, "queued_import": waits.id, "failed_import": failed.id}
    return {name: str(id) for name, id in ids.items()}


def _conflict(caller: Caller, now: datetime, name: str) -> ConflictView:
    """Teach two things that contradict each other."""
    text = f"The clerk of `shop/{name}.py` counts a parcel {{}} times before it leaves the house."
    with entered(caller):
        _memory(caller, now, text.format(3))
        found = sent(caller, now, text.format(5), project="shop").conflict_id
        assert found is not None
        return conflicts.get_conflict(caller=caller, conflict_id=found, now=now)


def _job(caller: Caller, state: Job.State) -> Job:
    return Job.objects.create(
        organization_id=caller.organization_id,
        name="memory.embed",
        queue="interactive",
        key=state.value,
        state=state,
        payload={"ids": []},
        run_after=timezone.now(),
        created_by=caller.user_id,
    )
