"""Every way in, and whether it writes: a new one fails the tests until it stands in these tables.

A write names what is sent, the act that its one entry must tell, and how it is refused: by who may
not (`refused_to`), or by something wrong in it (`wrong`).
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from tests.edges.audit.writes import CONTENT, Write, admin, rest

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
    "undo_rollback": rest("rollbacks/{rolled_back}/undo", "memory.bulk_review_undone"),
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
