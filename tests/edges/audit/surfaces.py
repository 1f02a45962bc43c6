"""Every way in, and whether it writes: a new one fails the tests until it stands in these tables.

A write names what is sent, the act that its one entry must tell, and how it is refused: by who may
not (`refused_to`), or by something wrong in it (`wrong`).
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from tests.edges.audit.writes import CONTENT, Write, admin, page, rest

_MEMORY: Final = {"project": "shop", "content": CONTENT, "type": "gotcha"}
_CODE: Final = {"path": "shop/cart.py", "hash": sha256(CONTENT.encode()).hexdigest()}

REST: Final[Mapping[str, Write]] = {  # by the names of endpoints
    "create_project": rest("projects", "project.created", slug="new", name="New"),
    "edit_project": rest("projects/shop", "project.changed", "PATCH", relevance_threshold=0.5),
    "pause_project": rest("projects/shop/pause", "project.changed", paused=True),
    "change_experiments": rest(
        "projects/shop/experiments", "project.changed", "PATCH", enabled=True
    ),
    "set_trust": rest("projects/shop/trust", "project.trust_set", "PUT", level="cautious"),
    "switch_hooks": rest("projects/shop/hooks", "project.changed", "PATCH", warnings=False),
    "open_project": rest("projects/vault/open", "project.opened"),
    "close_project": rest("projects/shop/close", "project.closed"),
    "add_project_member": rest("projects/shop/members", "project.member_added", person="{viewer}"),
    "remove_project_member": rest(
        "projects/shop/members/{member}", "project.member_removed", "DELETE"
    ),
    "announce_code": rest(
        "projects/shop/index", "project.code_announced", files=[{**_CODE, "size": len(CONTENT)}]
    ),
    "send_code": rest(
        "projects/shop/index/files",
        "project.code_received",
        run="{code_run}",
        files=[{**_CODE, "text": CONTENT}],
    ),
    "create_team": rest("teams", "team.created", slug="new"),
    "rename_team": rest("teams/core", "team.changed", "PATCH", name="Core team"),
    "add_team_member": rest("teams/core/members", "team.member_added", person="{viewer}"),
    "remove_team_member": rest("teams/core/members/{member}", "team.member_removed", "DELETE"),
    "create_memory": rest("memories", "memory.created", **_MEMORY),
    "create_memories": rest(
        "memories/bulk",
        "memory.bulk_written",
        project="shop",
        memories=[
            {"content": CONTENT, "type": "gotcha"},
            {"content": "Carts are emptied at night, by a job that the depot starts."},
            {"content": "short"},
        ],
    ),
    "define_methodology": rest(
        "methodologies",
        "organization.methodology_defined",
        name="kanban",
        phases={"doing": "implement"},
    ),
    "remove_methodology": rest("methodologies/scrum", "organization.methodology_removed", "DELETE"),
    "put_style": rest(
        "styles", "organization.style_defined", "PUT", name="coding", text="Code first."
    ),
    "remove_style": rest("styles/{style}", "organization.style_removed", "DELETE"),
    "edit_memory": rest("memories/{memory}", "memory.changed", "PATCH", tags=["a"]),
    "archive_memory": rest("memories/{memory}", "memory.archived", "DELETE"),
    "restore_memory": rest("memories/{archived}/restore", "memory.restored"),
    "confirm_memory": rest("memories/{memory}/confirm", "memory.confirmed"),
    "pin_memory": rest("memories/{memory}/pin", "memory.pinned", pinned=True),
    "correct_memory": rest(
        "memories/{memory}/correct", "memory.corrected", content=CONTENT, kind="wrong"
    ),
    "merge_entities": rest(
        "entities/merges", "entity.merged", name="LoginGate", same_as="PaymentHub"
    ),
    "unmerge_entities": rest("entities/merges/{merge}", "entity.unmerged", "DELETE"),
    "keep_memory": rest("memories/{waiting}/keep", "memory.kept"),
    "reject_memory": rest("memories/{waiting}/reject", "memory.rejected", reason="Only there."),
    "merge_memory": rest("memories/{waiting}/merge", "memory.merged", into="{memory}"),
    "snooze_memory": rest("memories/{waiting}/snooze", "memory.snoozed", until="{tomorrow}"),
    "undo_review": rest("reviews/{verdict}/undo", "memory.review_undone"),
    "roll_back": rest("projects/shop/rollbacks", "memory.rolled_back", person="{member}"),
    "undo_rollback": rest("rollbacks/{verdict}/undo", "memory.bulk_review_undone"),
    "begin_import": rest("imports?project=shop&name=a.json", "import.begun", content=CONTENT),
    "export_memories": Write(
        path="exports",
        act="memory.exported",
        send={"project": "shop"},
        by="writer",
        wrong={"project": "shop", "query": "some words"},
    ),
    "push_note": Write(
        path="notes",
        act="note.pushed",
        method="PUT",
        send={"project": "shop", "path": "a.md", "text": "short"},
        by="writer",
        refused_to="reader",
    ),
    "remove_note": rest("notes/{note}", "note.removed", "DELETE"),
    "undo_import": rest("imports/{import}/undo", "import.undone"),
    "cancel_import": rest("imports/{queued_import}/cancel", "import.cancelled"),
    "retry_import": rest("imports/{failed_import}/retry", "import.retried"),
    "open_session": rest("sessions", "session.opened", project="shop"),
    "append_turns": rest(
        "sessions/{session}/turns",
        "session.turns_appended",
        turns=[{"role": "user", "text": CONTENT}],
    ),
    "decide_session": rest("sessions/{session}/summary", "session.decided", save_all=True),
    "append_events": rest(
        "sessions/{session}/events",
        "session.events_appended",
        events=[{"sequence": 1, "kind": "reasoning", "text": CONTENT}],
    ),
    "delete_session": rest("sessions/{session}", "session.deleted", "DELETE"),
    "end_session": rest("sessions/{session}/end", "session.ended"),
    "hook": rest("hooks/generic", "session.followed", session="r", event="prompt", prompt="Go."),
    "settle_conflict": rest(
        "conflicts/{conflict}/settle", "memory.conflict_settled", verdict="both", reason="Both."
    ),
    "unlink_memory": rest(
        "memories/{linked}/unlink", "memory.unlinked", other="{memory}", kind="extend"
    ),
    "snooze_conflict": rest(
        "conflicts/{conflict}/snooze", "memory.conflict_snoozed", until="{tomorrow}"
    ),
    "reopen_conflict": rest("conflicts/{settled_conflict}/reopen", "memory.conflict_reopened"),
    "switch_model": rest("models/switch", "model.switch_begun", key="hashing/turned-384"),
    "cancel_switch": rest("models/cancel", "model.switch_cancelled"),
    "roll_back_model": rest("models/rollback", "model.rolled_back"),
    "drop_model": rest("models/drop", "model.dropped", key="hashing/turned-384"),
    "retry_job": rest("jobs/{failed_job}/retry", "job.retried"),
    "cancel_job": rest("jobs/{queued_job}/cancel", "job.cancelled"),
    "create_token": rest("tokens", "token.created", name="new", scopes=["read"]),
    "rotate_token": rest("tokens/{token}/rotate", "token.rotated"),
    "revoke_token": rest("tokens/{token}", "token.revoked", "DELETE"),
}
REST_READS: Final = frozenset(
    {"check_plan", "check_diff", "context", "preview_import", "search", "step"}
)  # POST: questions do not fit an address
REST_OF_ANYBODY: Final = frozenset(  # refused to nobody; tests of their own
    {"ask_device_code", "fetch_device_token", "report_leak"}
)

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
    "connection_pause": (page("p/shop/connections/pause", "project.changed", paused="1"),),
    "connection_token": (page("p/shop/connections/token", "token.created", tool="cursor"),),
    "job_change": (
        page("settings/jobs/{failed_job}", "job.retried", verb="retry"),
        page("settings/jobs/{queued_job}", "job.cancelled", verb="cancel"),
    ),
    "new_project": (page("projects/new", "project.created", slug="new", name="New"),),
    "rollback": (page("p/shop/rollback", "memory.rolled_back", person="{member}"),),
    "rollback_undo": (page("p/shop/rollback/undo/{verdict}", "memory.bulk_review_undone"),),
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
        "activity", "as_json", "audit_csv", "changes", "check", "conflicts", "conflicts_count",
        "connection_test", "connections", "difference", "docs",
        "document", "entities", "figures", "home", "import", "import_look", "inbox", "inbox_groups",
        "inbox_item", "inbox_rows", "look",
        "memories", "memory", "memory_json", "memory_md", "note", "notes",
        "organization", "organizations", "overview", "palette", "permalink",
        "session", "session_steps", "sessions",
        "settings_audit", "settings_jobs", "settings_members", "settings_tokens",
        "experiments", "settings_usage", "steps", "topic", "topics", "usage",
    }
)  # fmt: skip

TOOLS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {  # MCP: the act, the arguments
    "add_memory": ("memory.created", {"content": CONTENT, "project": "shop"}),
    "extract_from_conversation": (
        "session.taken",
        {"turns": [{"role": "user", "text": CONTENT}], "project": "shop"},
    ),
    "push_note": ("note.pushed", {"project": "shop", "path": "a.md", "text": "short"}),
}

ADMIN: Final[Mapping[str, Write]] = {  # by the names of models
    "accounts.user": admin(
        "user/{member}/change/", "member.changed", name="Mem", is_active="on", language="fr"
    ),
    "accounts.organization": admin(
        "organization/{organization}/change/", "organization.changed", name="A", language="fr"
    ),
    "accounts.token": admin("token/", "token.revoked", action="revoke", _selected_action="{token}"),
    "accounts.job": admin("job/", "job.retried", action="retry", _selected_action="{failed_job}"),
}
ADMIN_OF_THE_INSTALLATION: Final = frozenset(  # Django's own log of the admin site tells of them
    {"accounts.plan", "account.emailaddress", "sites.site"}
)

JOBS_THAT_CHANGE_NO_MEMORY: Final = frozenset(  # vectors, counts and mails, made anew at will
    {
        "accounts.tell_leak",
        "graph.resolve",
        "memory.drop_vectors",
        "memory.enrich_entities",
        "memory.index_search",
        "memory.join_names",
        "memory.observe",
        "memory.read_names",
        "memory.refresh_lexicon",
        "memory.sort_topics",
        "memory.switch_model",
    }
)
JOBS_THAT_CHANGE_MEMORIES: Final = frozenset(
    {
        "memory.prove",
        "memory.consolidate",
        "memory.embed",
        "memory.embed_bulk",
        "memory.judge_added",
        "memory.roll_back",
        "memory.run_import",
        "memory.synthesize",
    }
)
COMMANDS_THAT_WRITE: Final = frozenset(
    {"bootstrap", "demo", "embed", "export_memories", "import_memories"}
)
COMMANDS_OF_THE_INSTALLATION: Final = frozenset(
    {
        "audit",
        "doctor",
        "enrich_entities",
        "evaluate",
        "evaluate_extraction",
        "flush",
        "index_search",
        "migrate",
        "migrate_tenants",
        "roles",
        "sort_topics",
    }
)
