"""Every way in, and whether it writes: a new one fails the tests until it stands in these tables.

A write names what is sent, the act that its one entry must tell, and how it is refused: by who may
not (`refused_to`), or by something wrong in it (`wrong`). {names} are those of the world.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any, Final
from uuid import UUID

from django.urls import ResolverMatch, resolve

CONTENT: Final = "Prices in the cart are cached for sixty seconds, so tests clear them first."
CODE: Final = {"path": "shop/cart.py", "hash": sha256(CONTENT.encode()).hexdigest()}
# What is sent by several writes, or too long for their lines.
SENT_CODE: Final = [{**CODE, "text": CONTENT}]
TURNS: Final = [{"role": "user", "text": CONTENT}]
EVENTS: Final = [{"sequence": 1, "kind": "reasoning", "text": CONTENT}]
PHASES: Final = {"doing": "implement"}
DOING: Final = {"phase": "doing", "is": "implement"}
RAISED: Final = {"verdict": "keep_newer", "reason": "Raised.", "version": "1"}
IN_WORDS: Final = {"project": "shop", "query": "some words"}
SHARES: Final = {
    "enabled": "1", "control_percent": "5", "passive_percent": "10", "withheld_percent": "0",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One write of a surface."""

    path: str
    act: str
    method: str
    send: Mapping[str, Any]
    by: str
    refused_to: str
    wrong: Mapping[str, Any] | None = None
    in_organization: str = "acme"


def at(path: str, act: str, /, method: str = "POST", *, before: str = "", by: str = "owner",
       refused_to: str = "viewer", wrong: Mapping[str, Any] | None = None,
       in_organization: str = "acme", **send: Any) -> Write:  # fmt: skip
    """Return a write at an address."""
    return Write(
        path=f"{before}{path}", act=act, method=method, send=send, by=by, refused_to=refused_to,
        wrong=wrong, in_organization=in_organization,
    )  # fmt: skip


rest = partial(at, by="writer", refused_to="reader")
in_person = partial(at, by="reviewer", refused_to="writer")  # only people decide
page = partial(at, before="/o/acme/")
shop = partial(at, before="/o/acme/p/shop/")
settings = partial(at, before="/o/acme/settings/")
site = partial(at, before="/admin/accounts/", by="operator")

CREATE_MEMORY: Final = rest(
    "memories", "memory.created", project="shop", content=CONTENT, type="gotcha"
)
CREATE_MEMORIES: Final = rest(
    "memories/bulk",
    "memory.bulk_written",
    project="shop",
    memories=[
        {"content": CONTENT, "type": "gotcha"},
        {"content": "Carts are emptied at night, by a job that the depot starts."},
        {"content": "short"},
    ],
)
REST: Final = (
    CREATE_MEMORY,
    CREATE_MEMORIES,
    rest("projects", "project.created", slug="new", name="New"),
    rest("projects/shop", "project.changed", "PATCH", relevance_threshold=0.5),
    rest("projects/shop/pause", "project.changed", paused=True),
    rest("projects/shop/experiments", "project.changed", "PATCH", enabled=True),
    rest("projects/shop/trust", "project.trust_set", "PUT", level="cautious"),
    rest("projects/shop/hooks", "project.changed", "PATCH", warnings=False),
    rest("projects/vault/open", "project.opened"),
    rest("projects/shop/close", "project.closed"),
    rest("projects/shop/members", "project.member_added", person="{viewer}"),
    rest("projects/shop/members/{member}", "project.member_removed", "DELETE"),
    rest("projects/shop/index", "project.code_announced", files=[{**CODE, "size": len(CONTENT)}]),
    rest("projects/shop/index/files", "project.code_received", run="{code_run}", files=SENT_CODE),
    rest("teams", "team.created", slug="new"),
    rest("teams/core", "team.changed", "PATCH", name="Core team"),
    rest("teams/core/members", "team.member_added", person="{viewer}"),
    rest("teams/core/members/{member}", "team.member_removed", "DELETE"),
    rest("methodologies", "organization.methodology_defined", name="kanban", phases=PHASES),
    rest("methodologies/scrum", "organization.methodology_removed", "DELETE"),
    rest("styles", "organization.style_defined", "PUT", name="coding", text="Code first."),
    rest("styles/{style}", "organization.style_removed", "DELETE"),
    rest("memories/{memory}", "memory.changed", "PATCH", tags=["a"]),
    rest("memories/{memory}", "memory.archived", "DELETE"),
    rest("memories/{archived}/restore", "memory.restored"),
    rest("memories/{memory}/confirm", "memory.confirmed"),
    rest("memories/{memory}/pin", "memory.pinned", pinned=True),
    rest("memories/{memory}/correct", "memory.corrected", content=CONTENT, kind="wrong"),
    rest("entities/merges", "entity.merged", name="LoginGate", same_as="PaymentHub"),
    rest("entities/merges/{merge}", "entity.unmerged", "DELETE"),
    rest("memories/{waiting}/keep", "memory.kept"),
    rest("memories/{waiting}/keep", "memory.shared", share=True),
    in_person("memories/{waiting}/reject", "memory.rejected", reason="Only there."),
    in_person("memories/{waiting}/merge", "memory.merged", into="{memory}"),
    rest("memories/{waiting}/snooze", "memory.snoozed", until="{tomorrow}"),
    rest("reviews/{verdict}/undo", "memory.review_undone"),
    in_person("projects/shop/rollbacks", "memory.rolled_back", person="{member}"),
    rest("rollbacks/{rolled_back}/undo", "memory.bulk_review_undone"),
    rest("imports?project=shop&name=a.json", "import.begun", content=CONTENT),
    rest("exports", "memory.exported", project="shop", wrong=IN_WORDS),
    rest("notes", "note.pushed", "PUT", project="shop", path="a.md", text="short"),
    rest("notes/{note}", "note.removed", "DELETE"),
    rest("imports/{import}/undo", "import.undone"),
    rest("imports/{queued_import}/cancel", "import.cancelled"),
    rest("imports/{failed_import}/retry", "import.retried"),
    rest("sessions", "session.opened", project="shop"),
    rest("sessions/{session}/turns", "session.turns_appended", turns=TURNS),
    rest("sessions/{session}/summary", "session.decided", save_all=True),
    rest("sessions/{session}/events", "session.events_appended", events=EVENTS),
    rest("sessions/{session}", "session.deleted", "DELETE"),
    rest("sessions/{session}/end", "session.ended"),
    rest("hooks/generic", "session.followed", session="r", event="prompt", prompt="Go."),
    in_person(
        "conflicts/{conflict}/settle", "memory.conflict_settled", verdict="both", reason="Both."
    ),
    rest("memories/{linked}/unlink", "memory.unlinked", other="{memory}", kind="extend"),
    rest("conflicts/{conflict}/snooze", "memory.conflict_snoozed", until="{tomorrow}"),
    in_person("conflicts/{settled_conflict}/reopen", "memory.conflict_reopened"),
    rest("models/switch", "model.switch_begun", key="hashing/turned-384"),
    rest("models/cancel", "model.switch_cancelled"),
    rest("models/rollback", "model.rolled_back"),
    rest("models/drop", "model.dropped", key="hashing/turned-384"),
    rest("jobs/{failed_job}/retry", "job.retried"),
    rest("jobs/{queued_job}/cancel", "job.cancelled"),
    rest("tokens", "token.created", name="new", scopes=["read"]),
    rest("tokens/{token}/rotate", "token.rotated"),
    rest("tokens/{token}", "token.revoked", "DELETE"),
)
PAGES: Final = (
    shop("memories/bulk", "memory.bulk_confirmed", verb="confirm", memory="{memory}"),
    shop("memories/bulk", "memory.bulk_pinned", verb="pin", memory="{memory}"),
    shop("memories/bulk", "memory.bulk_archived", verb="archive", memory="{memory}"),
    shop("inbox/bulk", "memory.bulk_kept", verb="keep", memory="{waiting}"),
    shop("inbox/bulk", "memory.bulk_rejected", verb="reject", memory="{waiting}"),
    shop("inbox/bulk", "memory.bulk_snoozed", verb="snooze", memory="{waiting}"),
    shop("inbox/conflicts/{conflict}", "memory.conflict_settled", **RAISED),
    shop(
        "memories/{linked}/unlink", "memory.unlinked", other="{memory}", kind="extend", outgoing="1"
    ),
    shop("memories/{linked}/unlink/{unlinked}", "memory.review_undone"),
    shop("inbox/conflicts/{conflict}/snooze", "memory.conflict_snoozed", **{"for": "day"}),
    shop("inbox/conflicts/{settled_conflict}/undo", "memory.conflict_reopened"),
    shop("inbox/undo/{verdict}", "memory.review_undone"),
    shop("inbox/undo/{verdict}?together", "memory.bulk_review_undone"),
    shop("inbox/{waiting}/keep", "memory.kept"),
    shop("inbox/{waiting}/share", "memory.shared"),
    shop("inbox/{waiting}/reject", "memory.rejected"),
    shop("inbox/{waiting}/merge", "memory.merged", into="{memory}"),
    shop("inbox/{waiting}/snooze", "memory.snoozed", **{"for": "day"}),
    shop("memories/{memory}/correct", "memory.corrected", content=CONTENT, kind="wrong"),
    shop("memories/{memory}/archive", "memory.archived"),
    shop("memories/{memory}/erase", "memory.erased", typed="{memory_short}"),
    shop("memories/{memory}/versions/1", "memory.changed"),
    shop("memories/{memory}/confirm", "memory.confirmed"),
    shop("memories/{memory}/pin", "memory.pinned"),
    shop("memories/{memory}/unpin", "memory.unpinned"),
    shop("memories/{archived}/restore", "memory.restored"),
    shop("entities/about?name=LoginGate", "entity.merged", same_as="PaymentHub"),
    shop("sessions/{session}/delete", "session.deleted", typed="{session_short}"),
    shop("sessions/{session}/decide", "session.decided", verdict="all", count="0"),
    shop("sessions/{session}/end", "session.ended"),
    shop("sessions/{session}/undo/{verdict}", "memory.review_undone"),
    shop("sessions/{session}/undo/{verdict}?together", "memory.bulk_review_undone"),
    shop("entities/merges/{merge}", "entity.unmerged"),
    shop("teach/known/{memory}", "memory.confirmed"),
    shop("teach", "memory.created", content=CONTENT, type="gotcha"),
    shop("notes", "note.pushed", path="a.md", text="short"),
    shop("notes/{note}", "note.removed"),
    shop("imports", "import.begun", pasted=CONTENT),
    shop("imports/{import}/change", "import.undone", verb="undo"),
    shop("imports/{queued_import}/change", "import.cancelled", verb="cancel"),
    shop("imports/{failed_import}/change", "import.retried", verb="retry"),
    shop("imports/{import}/change", "memory.bulk_kept", verb="keep", count="1"),
    shop("imports/{import}/change", "memory.bulk_rejected", verb="reject", count="1"),
    shop(
        "imports/{import}/change",
        "memory.bulk_review_undone",
        verb="take_back",
        review="{verdict}",
        wrong={"verb": "take_back", "review": "nonsense"},
    ),
    shop("export", "memory.exported", format="json", wrong={"format": "nonsense"}),
    shop("trust", "project.trust_set", level="cautious"),
    shop("experiments/change", "project.changed", **SHARES),
    shop("experiments/weights", "project.changed", verdict="undo", decided_at="{weighed}"),
    shop("connections/pause", "project.changed", paused="1"),
    shop("connections/token", "token.created", tool="cursor"),
    settings("jobs/{failed_job}", "job.retried", verb="retry"),
    settings("jobs/{queued_job}", "job.cancelled", verb="cancel"),
    page("projects/new", "project.created", slug="new", name="New"),
    shop("rollback", "memory.rolled_back", person="{member}"),
    shop("rollback/undo/{rolled_back}", "memory.bulk_review_undone"),
    shop("settings", "project.changed", name="Shop 2", version="1"),
    shop("settings/gates", "project.changed", minimum_length="30", version="1"),
    shop("settings/hooks", "project.changed", on="brief"),
    shop("settings/extraction", "project.changed", extraction_mode="heuristic", version="1"),
    shop("settings/openness", "project.closed", verb="close"),
    page("p/vault/settings/openness", "project.opened", verb="open"),
    shop("settings/people", "project.member_added", verb="add", person="{viewer}"),
    shop("settings/people", "project.member_removed", verb="remove", person="{member}"),
    shop("conflicts/{conflict}", "memory.conflict_settled", **RAISED),
    shop("conflicts/{settled_conflict}", "memory.conflict_reopened", verdict="reopen", version="3"),
    settings("teams", "team.created", name="New", slug="new"),
    settings("teams/{team}", "team.changed", name="C", version="1"),
    settings("teams/{team}/people", "team.member_added", verb="add", person="{viewer}"),
    settings("teams/{team}/people", "team.member_removed", verb="remove", person="{member}"),
    settings("models", "model.switch_begun", verb="switch", key="hashing/turned-384"),
    settings("models", "model.switch_cancelled", verb="cancel"),
    settings("models", "model.rolled_back", verb="rollback"),
    settings("models", "model.dropped", verb="drop", key="hashing/turned-384"),
    settings("methodologies", "organization.methodology_defined", name="kanban", **DOING),
    settings("methodologies/scrum", "organization.methodology_defined", verb="save", **DOING),
    settings("methodologies/scrum", "organization.methodology_removed", verb="remove"),
    settings("styles", "organization.style_defined", name="notes", text="Plain.", scope="personal"),
    settings("styles/{style}", "organization.style_defined", verb="save", text="Plain."),
    settings("styles/{style}", "organization.style_removed", verb="remove"),
    settings("general", "organization.changed", name="Acme Works"),
    settings("members/invite", "invitation.created", email="x@y.test", role="viewer"),
    settings("members/{member}", "member.role_changed", verb="role", role="steward"),
    settings("members/{member}", "member.removed", verb="remove"),
    settings("members/{member}", "member.left", verb="remove", by="member"),
    settings("invitations/{invitation}", "invitation.resent", verb="resend"),
    settings("invitations/{invitation}", "invitation.revoked", verb="revoke"),
    settings("tokens/new", "token.created", name="new", scope="write", days="7"),
    settings("tokens/{token}", "token.rotated", verb="rotate"),
    settings("tokens/{token}", "token.revoked", verb="revoke"),
    at("/invite/{secret}", "invitation.accepted", by="guest"),
    at(
        "/o/new",
        "organization.created",
        name="New",
        slug="new-one",
        wrong={"name": "New", "slug": "acme"},
        in_organization="new-one",
    ),
)
PAGES_OF_ONE_PERSON: Final = frozenset(  # no organization's concern, until one is chosen: `device`
    {"device", "me", "end_sessions", "theme", "language"}
)
PAGES_THAT_READ: Final = frozenset(
    {
        "activity", "as_json", "audit_csv", "changes", "check", "code_index", "conflicts",
        "conflicts_count", "connection_test", "connections", "difference", "docs", "document",
        "entities", "experiments", "figures", "home", "import", "import_look", "inbox",
        "inbox_groups", "inbox_item", "inbox_rows", "look", "memories", "memory", "memory_json",
        "memory_md", "organization", "organizations", "overview", "palette", "permalink", "session",
        "session_steps", "sessions", "settings_audit", "settings_jobs", "settings_members",
        "settings_tokens", "settings_usage", "steps", "topic", "topics", "usage",
    }
)  # fmt: skip


def match(path: str) -> ResolverMatch:
    """Return what an address leads to, with an id for each name in it."""
    return resolve(re.sub(r"{\w+}", str(UUID(int=7)), path.partition("?")[0]))


def calls() -> dict[str, Write]:
    """Return the writes over REST by the names of their endpoints."""
    found = ((match(f"/api/v1/{one.path}").func, one) for one in REST)
    return {view.cls.endpoints[one.method].name: one for view, one in found}


REST_READS: Final = frozenset(
    {"check_plan", "check_diff", "context", "preview_import", "search", "step"}
)  # POST: questions do not fit an address
REST_OF_ANYBODY: Final = frozenset(  # refused to nobody; tests of their own
    {"ask_device_code", "fetch_device_token", "report_leak"}
)

TOOLS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {  # MCP: the act, the arguments
    "add_memory": ("memory.created", {"content": CONTENT, "project": "shop"}),
    "extract_from_conversation": ("session.taken", {"turns": TURNS, "project": "shop"}),
    "push_note": ("note.pushed", {"project": "shop", "path": "a.md", "text": "short"}),
}

ADMIN: Final = {  # by the names of models
    "accounts.user": site(
        "user/{member}/change/", "member.changed", name="Mem", is_active="on", language="fr"
    ),
    "accounts.organization": site(
        "organization/{organization}/change/", "organization.changed", name="A", language="fr"
    ),
    "accounts.token": site("token/", "token.revoked", action="revoke", _selected_action="{token}"),
    "accounts.job": site("job/", "job.retried", action="retry", _selected_action="{failed_job}"),
}
ADMIN_OF_THE_INSTALLATION: Final = frozenset(  # Django's own log of the admin site tells of them
    {"accounts.plan", "account.emailaddress", "sites.site"}
)
