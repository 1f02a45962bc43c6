"""Every page that takes something, and whether it writes; the other ways in stand in `surfaces`."""

from collections.abc import Mapping
from typing import Final

from tests.edges.audit.writes import CONTENT, Write, page

PAGES: Final[Mapping[str, tuple[Write, ...]]] = {  # by the names of addresses
    "bulk": (
        page("p/shop/memories/bulk", "memory.bulk_confirmed", verb="confirm", memory="{memory}"),
        page("p/shop/memories/bulk", "memory.bulk_pinned", verb="pin", memory="{memory}"),
        page("p/shop/memories/bulk", "memory.bulk_archived", verb="archive", memory="{memory}"),
    ),
    "inbox_bulk": (
        page("p/shop/inbox/bulk", "memory.bulk_kept", verb="keep", memory="{waiting}"),
        page("p/shop/inbox/bulk", "memory.bulk_rejected", verb="reject", memory="{waiting}"),
        page("p/shop/inbox/bulk", "memory.bulk_snoozed", verb="snooze", memory="{waiting}"),
    ),
    "inbox_conflict": (
        page(
            "p/shop/inbox/conflicts/{conflict}",
            "memory.conflict_settled",
            verdict="keep_newer",
            reason="Raised.",
            version="1",
        ),
    ),
    "unlink": (
        page(
            "p/shop/memories/{linked}/unlink",
            "memory.unlinked",
            other="{memory}",
            kind="extend",
            outgoing="1",
        ),
    ),
    "relink": (page("p/shop/memories/{linked}/unlink/{unlinked}", "memory.review_undone"),),
    "inbox_conflict_snooze": (
        Write(
            path="/o/acme/p/shop/inbox/conflicts/{conflict}/snooze",
            act="memory.conflict_snoozed",
            send={"for": "day"},
        ),
    ),
    "inbox_conflict_undo": (
        page("p/shop/inbox/conflicts/{settled_conflict}/undo", "memory.conflict_reopened"),
    ),
    "inbox_undo": (
        page("p/shop/inbox/undo/{verdict}", "memory.review_undone"),
        page("p/shop/inbox/undo/{verdict}?together", "memory.bulk_review_undone"),
    ),
    "verdict": (
        page("p/shop/inbox/{waiting}/keep", "memory.kept"),
        page("p/shop/inbox/{waiting}/reject", "memory.rejected"),
        page("p/shop/inbox/{waiting}/merge", "memory.merged", into="{memory}"),
        Write(
            path="/o/acme/p/shop/inbox/{waiting}/snooze", act="memory.snoozed", send={"for": "day"}
        ),
    ),
    "correct": (
        page("p/shop/memories/{memory}/correct", "memory.corrected", content=CONTENT, kind="wrong"),
    ),
    "archive": (page("p/shop/memories/{memory}/archive", "memory.archived"),),
    "restore_version": (page("p/shop/memories/{memory}/versions/1", "memory.changed"),),
    "verb": (
        page("p/shop/memories/{memory}/confirm", "memory.confirmed"),
        page("p/shop/memories/{memory}/pin", "memory.pinned"),
        page("p/shop/memories/{memory}/unpin", "memory.unpinned"),
        page("p/shop/memories/{archived}/restore", "memory.restored"),
    ),
    "entity": (
        page("p/shop/entities/about?name=LoginGate", "entity.merged", same_as="PaymentHub"),
    ),
    "session_delete": (
        page("p/shop/sessions/{session}/delete", "session.deleted", typed="{session_short}"),
    ),
    "session_decide": (
        page("p/shop/sessions/{session}/decide", "session.decided", verdict="all", count="0"),
    ),
    "session_end": (page("p/shop/sessions/{session}/end", "session.ended"),),
    "session_undo": (
        page("p/shop/sessions/{session}/undo/{verdict}", "memory.review_undone"),
        page("p/shop/sessions/{session}/undo/{verdict}?together", "memory.bulk_review_undone"),
    ),
    "unmerge": (page("p/shop/entities/merges/{merge}", "entity.unmerged"),),
    "known": (page("p/shop/teach/known/{memory}", "memory.confirmed"),),
    "teach": (page("p/shop/teach", "memory.created", content=CONTENT, type="gotcha"),),
    "notes": (
        Write(
            path="/o/acme/p/shop/notes", act="note.pushed", send={"path": "a.md", "text": "short"}
        ),
    ),
    "note": (page("p/shop/notes/{note}", "note.removed"),),
    "imports": (page("p/shop/imports", "import.begun", pasted=CONTENT),),
    "import_change": (
        page("p/shop/imports/{import}/change", "import.undone", verb="undo"),
        page("p/shop/imports/{queued_import}/change", "import.cancelled", verb="cancel"),
        page("p/shop/imports/{failed_import}/change", "import.retried", verb="retry"),
        page("p/shop/imports/{import}/change", "memory.bulk_kept", verb="keep", count="1"),
        page("p/shop/imports/{import}/change", "memory.bulk_rejected", verb="reject", count="1"),
        Write(
            path="/o/acme/p/shop/imports/{import}/change",
            act="memory.bulk_review_undone",
            send={"verb": "take_back", "review": "{verdict}"},
            wrong={"verb": "take_back", "review": "nonsense"},
        ),
    ),
    "export": (
        Write(
            path="/o/acme/p/shop/export",
            act="memory.exported",
            send={"format": "json"},
            wrong={"format": "nonsense"},
        ),
    ),
    "trust": (page("p/shop/trust", "project.trust_set", level="cautious"),),
    "experiments_change": (
        page(
            "p/shop/experiments/change",
            "project.changed",
            enabled="1",
            control_percent="5",
            passive_percent="10",
            withheld_percent="0",
        ),
    ),
    "experiments_weights": (
        page(
            "p/shop/experiments/weights", "project.changed", verdict="undo", decided_at="{weighed}"
        ),
    ),
    "connection_pause": (page("p/shop/connections/pause", "project.changed", paused="1"),),
    "connection_token": (page("p/shop/connections/token", "token.created", tool="cursor"),),
    "job_change": (
        page("settings/jobs/{failed_job}", "job.retried", verb="retry"),
        page("settings/jobs/{queued_job}", "job.cancelled", verb="cancel"),
    ),
    "new_project": (page("projects/new", "project.created", slug="new", name="New"),),
    "rollback": (page("p/shop/rollback", "memory.rolled_back", person="{member}"),),
    "rollback_undo": (page("p/shop/rollback/undo/{rolled_back}", "memory.bulk_review_undone"),),
    "project_settings": (page("p/shop/settings", "project.changed", name="Shop 2", version="1"),),
    "project_gates": (
        page("p/shop/settings/gates", "project.changed", minimum_length="30", version="1"),
    ),
    "project_hooks": (page("p/shop/settings/hooks", "project.changed", on="brief"),),
    "project_extraction": (
        page(
            "p/shop/settings/extraction",
            "project.changed",
            extraction_mode="heuristic",
            version="1",
        ),
    ),
    "project_openness": (
        page("p/shop/settings/openness", "project.closed", verb="close"),
        page("p/vault/settings/openness", "project.opened", verb="open"),
    ),
    "project_people": (
        page("p/shop/settings/people", "project.member_added", verb="add", person="{viewer}"),
        page("p/shop/settings/people", "project.member_removed", verb="remove", person="{member}"),
    ),
    "conflict": (
        page(
            "p/shop/conflicts/{conflict}",
            "memory.conflict_settled",
            verdict="keep_newer",
            reason="Raised.",
            version="1",
        ),
        page(
            "p/shop/conflicts/{settled_conflict}",
            "memory.conflict_reopened",
            verdict="reopen",
            version="3",
        ),
    ),
    "settings_teams": (page("settings/teams", "team.created", name="New", slug="new"),),
    "settings_team": (page("settings/teams/{team}", "team.changed", name="C", version="1"),),
    "team_people": (
        page("settings/teams/{team}/people", "team.member_added", verb="add", person="{viewer}"),
        page(
            "settings/teams/{team}/people", "team.member_removed", verb="remove", person="{member}"
        ),
    ),
    "settings_models": (
        page("settings/models", "model.switch_begun", verb="switch", key="hashing/turned-384"),
        page("settings/models", "model.switch_cancelled", verb="cancel"),
        page("settings/models", "model.rolled_back", verb="rollback"),
        page("settings/models", "model.dropped", verb="drop", key="hashing/turned-384"),
    ),
    "settings_methodologies": (
        page(
            "settings/methodologies",
            "organization.methodology_defined",
            name="kanban",
            phase="doing",
            **{"is": "implement"},
        ),
    ),
    "settings_methodology": (
        page(
            "settings/methodologies/scrum",
            "organization.methodology_defined",
            verb="save",
            phase="doing",
            **{"is": "implement"},
        ),
        page("settings/methodologies/scrum", "organization.methodology_removed", verb="remove"),
    ),
    "settings_styles": (
        page(
            "settings/styles",
            "organization.style_defined",
            name="notes",
            text="Plain.",
            scope="personal",
        ),
    ),
    "settings_style": (
        page("settings/styles/{style}", "organization.style_defined", verb="save", text="Plain."),
        page("settings/styles/{style}", "organization.style_removed", verb="remove"),
    ),
    "settings_general": (page("settings/general", "organization.changed", name="Acme Works"),),
    "invite": (
        page("settings/members/invite", "invitation.created", email="x@y.test", role="viewer"),
    ),
    "member_change": (
        page("settings/members/{member}", "member.role_changed", verb="role", role="steward"),
        page("settings/members/{member}", "member.removed", verb="remove"),
        Write(
            path="/o/acme/settings/members/{member}",
            act="member.left",
            send={"verb": "remove"},
            by="member",
        ),
    ),
    "invitation_change": (
        page("settings/invitations/{invitation}", "invitation.resent", verb="resend"),
        page("settings/invitations/{invitation}", "invitation.revoked", verb="revoke"),
    ),
    "new_token": (
        page("settings/tokens/new", "token.created", name="new", scope="write", days="7"),
    ),
    "token_change": (
        page("settings/tokens/{token}", "token.rotated", verb="rotate"),
        page("settings/tokens/{token}", "token.revoked", verb="revoke"),
    ),
    "invitation": (Write(path="/invite/{secret}", act="invitation.accepted", by="guest"),),
    "new_organization": (
        Write(
            path="/o/new",
            act="organization.created",
            send={"name": "New", "slug": "new-one"},
            wrong={"name": "New", "slug": "acme"},
            in_organization="new-one",
        ),
    ),
}
PAGES_OF_ONE_PERSON: Final = frozenset(  # no organization's concern, until one is chosen: `device`
    {"device", "me", "theme", "language"}
)
PAGES_THAT_READ: Final = frozenset(
    {
        "activity", "as_json", "audit_csv", "changes", "check", "code_index", "conflicts",
        "conflicts_count",
        "connection_test", "connections", "difference", "docs",
        "document", "entities", "figures", "home", "import", "import_look", "inbox", "inbox_groups",
        "inbox_item", "inbox_rows", "look",
        "memories", "memory", "memory_json", "memory_md",
        "organization", "organizations", "overview", "palette", "permalink",
        "session", "session_steps", "sessions",
        "settings_audit", "settings_jobs", "settings_members", "settings_tokens",
        "experiments", "settings_usage", "steps", "topic", "topics", "usage",
    }
)  # fmt: skip
