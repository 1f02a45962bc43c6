"""The names of stored values as people read them, in their language.

Stored values stay English; pages look their names up here. A value without a name is shown as it
is stored, with spaces for underscores.

The names of what happens in a session, and of the phases and ends of its work.
"""

from collections.abc import Mapping
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from memory.taxonomy import Chip, MemoryType, type_row

Name = str | Promise
TYPES: Final[Mapping[str, Name]] = {
    "identity": _("Identity"),
    "chain_of_command": _("Chain of command"),
    "decision": _("Decision"),
    "correction": _("Correction"),
    "commitment": _("Commitment"),
    "requirement": _("Requirement"),
    "preference": _("Preference"),
    "fact": _("Fact"),
    "reference": _("Reference"),
    "tool": _("Tool"),
    "person": _("Person"),
    "gotcha": _("Gotcha"),
    "error_pattern": _("Error"),
    "fix": _("Fix"),
    "pattern": _("Pattern"),
    "workflow_recipe": _("Recipe"),
    "module_insight": _("Module"),
    "dead_end": _("Dead end"),
    "causal_dependency": _("Dependency"),
    "prefetch_pattern": _("Read together"),
    "task_calibration": _("Calibration"),
    "context_cost": _("Context cost"),
    "work_unit_outcome": _("Outcome"),
    "e2e_observation": _("Observation"),
    "work_state": _("Work state"),
    "event": _("Event"),
    "episode": _("Episode"),
    "reflection": _("Reflection"),
}
SCOPES: Final[Mapping[str, Name]] = {
    "personal": _("Only me"),
    "project": _("Project"),
    "team": _("Team"),
    "organization": _("Organization"),
}
SOURCES: Final[Mapping[str, Name]] = {
    "user_taught": _("taught by a person"),
    "agent_explicit": _("stated by an agent"),
    "qa_auto": _("found by quality checks"),
    "tool_auto": _("reported by a tool"),
    "commit_auto": _("read from a commit"),
    "import": _("imported"),
    "observer_inferred": _("observed in sessions"),
    "extracted": _("extracted from text"),
}
INTERFACES: Final[Mapping[str, Name]] = {
    "claude-code": "Claude Code",
    "cursor": "Cursor",
    "codex": "Codex",
    "chatgpt": "ChatGPT",
    "claude-ai": "Claude",
    "perplexity": "Perplexity",
    "dashboard": _("Dashboard"),
    "api": "API",
    "mcp": "MCP",
    "import": _("Import"),
    "unknown": _("Unknown"),
}
FITS: Final[Mapping[str, Name]] = {  # why a style was picked
    "topic_and_interface": _("fits by topic and by tool"),
    "topic": _("fits by topic"),
    "interface": _("fits by tool"),
    "default": _("the default, because no other fits"),
}
CLOSE_NAMES: Final[Mapping[str, Name]] = {  # why two names may be one thing
    "joined": _("the same letters"),
    "misspelled": _("one letter apart"),
    "initial": _("an initial and the surname"),
    "longer": _("a word more, beside the same names"),
}
VERIFICATIONS: Final[Mapping[str, Name]] = {
    "unverified": _("Not verified"),
    "verified": _("Verified"),
    "stale": _("Stale"),
    "contradicted": _("Contradicted"),
}
STATUSES: Final[Mapping[str, Name]] = {
    "active": _("Active"),
    "superseded": _("Superseded"),
    "archived": _("Archived"),
    "deleted": _("Deleted"),
}
ROLES: Final[Mapping[str, Name]] = {
    "owner": _("Owner"),
    "admin": _("Admin"),
    "steward": _("Steward"),
    "member": _("Member"),
    "viewer": _("Viewer"),
}
TOKEN_SCOPES: Final[Mapping[str, Name]] = {
    "read": _("Read"),
    "write": _("Write"),
    "index": _("Index code"),
    "admin": _("Manage"),
}
TOKEN_STATES: Final[Mapping[str, Name]] = {
    "active": _("Active"),
    "rotated": _("Replaced, still valid"),
    "expired": _("Expired"),
    "revoked": _("Revoked"),
}
JOBS: Final[Mapping[str, Name]] = {
    "accounts.tell_leak": _("Tell the owner of a token that was found"),
    "graph.resolve": _("Link code definitions and uses"),
    "memory.embed": _("Embed memories"),
    "memory.embed_bulk": _("Embed many memories"),
    "memory.consolidate": _("Extract memories from a session"),
    "memory.observe": _("Observe a session"),
    "memory.synthesize": _("Find patterns across sessions"),
    "memory.judge_added": _("Compare new memories"),
    "memory.run_import": _("Run an import"),
    "memory.roll_back": _("Roll back"),
    "memory.switch_model": _("Switch the embedding model"),
    "memory.drop_vectors": _("Delete the vectors of a model"),
    "memory.refresh_lexicon": _("Refresh word statistics"),
    "memory.index_search": _("Build search indexes"),
    "memory.sort_topics": _("Sort memories into topics"),
    "memory.join_names": _("Merge equal names"),
    "memory.prove": _("Set harmful memories aside"),
    "memory.enrich_entities": _("Read names of people, organizations and places"),
    "memory.read_names": _("Read names in memories again"),
}
JOB_STATES: Final[Mapping[str, Name]] = {
    "queued": _("Waiting"),
    "running": _("Running"),
    "done": _("Done"),
    "failed": _("Failed"),
    "quarantined": _("Quarantined"),
    "cancelled": _("Cancelled"),
}
SCHEDULED: Final[Mapping[str, Name]] = {
    "sweep": _("Reassign work of lost workers"),
    "merge-access": _("Count uses"),
    "embed-missing": _("Look for memories without a vector"),
    "read-names": _("Look for memories whose names an older version read"),
    "evict": _("Forget old jobs and sessions"),
    "sort-topics": _("Sort memories into topics"),
    "join-names": _("Merge equal names"),
    "enrich-entities": _("Read names of people, organizations and places"),
    "prove": _("Set harmful memories aside"),
    "find-pairs": _("Look for modules that go together"),
    "raise-alarms": _("Look for attempts to plant a memory"),
    "tend-sessions": _("End idle sessions"),
    "forget-actions": _("Delete old turns and candidate results"),
}
LINKS: Final[Mapping[str, tuple[Name, Name]]] = {  # seen from its source, from its target
    "supersedes": (_("replaces"), _("replaced by")),
    "contradicts": (_("contradicts"), _("contradicted by")),
    "update": (_("updates"), _("updated by")),
    "extend": (_("extends"), _("extended by")),
    "derive": (_("derived from"), _("source of")),
    "caused_by": (_("caused by"), _("cause of")),
    "resolved_by": (_("resolved by"), _("resolves")),
    "depends_on": (_("depends on"), _("needed by")),
    "required_with": (_("required with"), _("required with")),
    "conflicts_with": (_("conflicts with"), _("conflicts with")),
    "validates": (_("validates"), _("validated by")),
    "see_also": (_("see also"), _("see also")),
}
HEALTH_PARTS: Final[Mapping[str, Name]] = {
    "verified": _("Verified"),
    "not stale": _("Not stale"),
    "review backlog": _("Short review queue"),
    "correction rate": _("Few corrections"),
}
CORRECTIONS: Final[Mapping[str, Name]] = {
    "outdated": _("It was right and is outdated"),
    "too_broad": _("It is too broad"),
    "wrong": _("It is wrong"),
    "not_here": _("It does not hold here"),
}

EVERY_GROUP: Final = _("Everything")
ENTITY_TYPES: Final[Mapping[str, Name]] = {
    "person": _("Person"),
    "project": _("Project"),
    "organization": _("Organization"),
    "location": _("Location"),
    "system": _("System"),
    "email": _("E-mail address"),
    "url": _("Web address"),
    "other": _("Other"),
}
TYPE_BASES: Final[Mapping[str, Name]] = {
    "given": _("chosen by you"),
    "form": _("from the form of the text"),
    "default": _("chosen when nothing says otherwise"),
}
CLOSENESS: Final[tuple[tuple[float, Name], ...]] = (  # cosine from which two texts are called so
    (0.95, _("the same")),
    (0.88, _("nearly the same")),
    (0.75, _("close")),
    (0.0, _("related")),
)
REVIEW_GROUPS: Final[Mapping[str, Name]] = {
    "tainted": _("Tainted"),
    "conflicts": _("Conflicts"),
    "stale": _("Stale"),
    "imports": _("Imports"),
    "new": _("New"),
}
REVIEW_VERDICTS: Final[Mapping[str, Name]] = {
    "keep": _("Keep"),
    "edit": _("Edit"),
    "reject": _("Reject"),
    "merge": _("Merge"),
    "snooze": _("Snooze"),
    "unlink": _("Remove a link"),
    "rollback": _("Roll back"),
}
REVIEW_WHYS: Final[Mapping[str, Name]] = {
    "alike": _("Another memory says nearly the same."),
    "tainted": _("It is based on external content."),
    "contradicted": _("Its source says something else now."),
    "stale": _("Its source has changed since."),
    "unsure": _("Little evidence supports it."),
    "met_again": _("It has come up again."),
    "novel": _("No similar memories yet."),
}
RESTS: Final[Mapping[str, Name]] = {
    "day": _("Until tomorrow"),
    "week": _("For a week"),
    "month": _("For a month"),
}
SEARCH_PATHS: Final[Mapping[str, Name]] = {
    "dense": _("by meaning"),
    "keyword": _("by words"),
    "graph": _("by relation"),
    "entities": _("by name"),
    "communities": _("by topic"),
}
SCORE_PARTS: Final[Mapping[str, Name]] = {
    **SEARCH_PATHS,
    "neighborhood": _("by neighbors"),
    "cosine": _("closeness"),
    "recency": _("recency"),
    "use": _("use"),
    "activation": _("activation"),
    "confidence": _("confidence"),
}
MULTIPLIERS: Final[Mapping[str, Name]] = {
    "phase": _("phase"),
    "trust": _("trust"),
    "belief": _("belief"),
}
MISSING: Final[Mapping[str, Name]] = {  # what a search had to do without
    "no_vectors": _("keyword search only"),
    "no_reranker": _("no second look"),
    "no_model": _("no model answered"),
    "secret_left_out": _("without what looked like a secret"),
}
SECRETS: Final[Mapping[str, Name]] = {
    "cairn_token": _("a token of Cairn"),
    "private_key": _("a private key"),
    "url_credentials": _("a password in an address"),
    "authorization_header": _("an Authorization header"),
    "json_web_token": _("a JSON web token"),
    "vendor_key": _("a key of a service"),
    "chat_bot_token": _("a token of a chat bot"),
    "assigned_secret": _("a password or key"),
    "secret_in_prose": _("a password in a sentence"),
    "encoded_secret": _("an encoded secret"),
}
UNSTORABLE: Final[Mapping[str, Name]] = {
    "nul": _("NUL"),
    "lone_surrogate": _("half of a character"),
}
FILTERS: Final[tuple[tuple[str, Name], ...]] = (
    ("is:review", _("Needs review")),
    ("is:stale", _("Stale")),
    ("is:pinned", _("Pinned")),
    ("is:superseded", _("Superseded")),
    ("is:archived", _("Archived")),
    ("type:decision", _("Decisions")),
    ("type:gotcha,error_pattern", _("Gotchas and errors")),
    ("type:dead_end", _("Dead ends")),
    ("conf:<0.5", _("Low confidence")),
)
IMPORTED: Final[Mapping[str, Name]] = {  # what became of rows of an import, in their order
    "added": _("added"),
    "updated": _("updated"),
    "confirmed": _("known already"),
    "refused": _("refused"),
    "left_out": _("left out"),
    "waiting": _("waiting"),
    "cancelled": _("not imported"),
    "undone": _("undone"),
    "kept": _("kept because it changed"),
}
SESSION_STATES: Final[Mapping[str, Name]] = {
    "open": _("In progress"),
    "ended": _("Ended"),
    "consolidated": _("Processed"),
}
SESSION_COUNTS: Final[Mapping[str, Name]] = {
    "added": _("remembered"),
    "known": _("known before"),
    "confirmed": _("confirmed again"),
    "candidates": _("candidates"),
}
SPEAKERS: Final[Mapping[str, Name]] = {
    "user": _("Person"),
    "assistant": _("Agent"),
    "tool": _("Tool"),
    "system": _("System"),
}
IMPORT_STATES: Final[Mapping[str, Name]] = {
    "queued": _("Waiting"),
    "running": _("Running"),
    "done": _("Done"),
    "cancelled": _("Cancelled"),
    "failed": _("Failed"),
    "undone": _("Undone"),
}
FORMATS: Final[Mapping[str, Name]] = {
    "markdown": "Markdown",
    "obsidian": "Obsidian",
    "basic-memory": "basic-memory",
    "json": "JSON",
    "jsonl": _("JSON lines"),
    "mem0": "mem0",
    "memory-v3": "memory-v3",
    "cairn-json": _("Cairn export"),
    "cairn-ndjson": _("Cairn export"),
    "cairn-markdown": _("Cairn export"),
    "unknown": _("not readable"),
}

INDEX_STATES: Final[Mapping[str, Name]] = {
    "empty": _("Not indexed"),
    "receiving": _("Files are arriving"),
    "resolving": _("Creating links"),
    "done": _("Up to date"),
    "failed": _("Failed"),
}
LANGUAGES: Final[Mapping[str, Name]] = {
    "python": "Python",
    "javascript": "JavaScript",
    "typescript": "TypeScript",
    "tsx": "TSX",
    "go": "Go",
    "rust": "Rust",
}
ROLLBACK_FATES: Final[Mapping[str, Name]] = {
    "archived": _("is archived"),
    "rewritten": _("gets its earlier text back"),
    "left": _("stays as it is"),
}
ROLLBACK_WHYS: Final[Mapping[str, Name]] = {
    "changed": _("Somebody else has rewritten it since."),
    "kept": _("Someone else confirmed it since."),
    "same": _("It already has its earlier text."),
    "twin": _("Another memory now says the same."),
    "moved": _("Others see it now than those who saw the text before."),
}


def name_of(table: Mapping[str, Name], value: str) -> Name:
    """Return the name of a stored value."""
    return table.get(value, value.replace("_", " "))


def type_color(*, type: str) -> str:
    """Return the color family of a type's chip; neutral for a type the registry does not know."""
    if type not in TYPES:
        return Chip.NEUTRAL.value
    return type_row(type=MemoryType(type)).chip.value


RIBBON_MARKS: Final[Mapping[str, Name]] = {  # in the order of a ribbon's table
    "read": _("Reads"),
    "search": _("Searches"),
    "edit": _("Edits"),
    "test": _("Tests"),
    "run": _("Commands"),
    "other": _("Other calls"),
    "error": _("Errors"),
    "dead_end": _("Dead ends"),
}
EVENT_KINDS: Final[Mapping[str, Name]] = {
    "tool_call": _("Call"),
    "tool_result": _("Result"),
    "reasoning": _("Thought"),
    "step_complete": _("End of a step"),
    "session_complete": _("End of the session"),
    "prompt": _("Prompt"),
    "commit": _("Commit"),
    "qa_report": _("Report of QA"),
    "unknown": _("Something else"),
}
INJECTION_POINTS: Final[Mapping[str, Name]] = {
    "system_prompt": _("in the brief"),
    "first_message": _("in the first message"),
    "tool_result": _("after a tool"),
    "step": _("between steps"),
    "planner": _("before a plan"),
}
OUTCOMES: Final[Mapping[str, Name]] = {
    "success": _("It went well"),
    "failure": _("It failed"),
    "abandoned": _("It was given up"),
}
SIGNALS: Final[Mapping[str, Name]] = {
    "file_access": _("Files it needed"),
    "co_access": _("Files that go together"),
    "error_retry": _("An error and its fix"),
    "backtrack": _("Backtracking"),
    "read_abandon": _("Read but not used"),
    "repeated_grep": _("Repeated search"),
    "tool_sequence": _("Work pattern"),
    "time_anomaly": _("A slow call"),
    "self_correction": _("It corrected itself"),
    "external_reference": _("External lookup"),
    "glob_ignored": _("Found but not used"),
    "import_chase": _("Imports followed"),
    "test_order": _("Order of tests"),
    "config_touched": _("A setting that matters"),
    "step_overrun": _("More steps than planned"),
    "parallel_conflict": _("Conflict between agents"),
    "context_spike": _("A costly step"),
    "dead_end": _("A dead end"),
    "end_to_end": _("Seen in the running product"),
    "qa_report": _("Report of QA"),
    "commit": _("Commit"),
}
ASKED: Final[Mapping[str, Name]] = {  # by what a level of trust asks of its person
    "each": _("You decide about each new memory."),
    "all_at_once": _("You review new memories, and can keep them all with one click."),
    "needing_review": _("You review only doubtful memories."),
    "nothing": _("You review only doubtful memories, in the inbox."),
}
ALARMS: Final[Mapping[str, Name]] = {
    "orders": _("Reads like an order"),
    "command": _("Names a command"),
    "burst": _("One of many similar ones at once"),
    "dominant": _("Given more than all others"),
    "address": _("Names an address"),
}
WHY_NOTHING: Final[Mapping[str, Name]] = {
    "gate_shut": _("the work was not accepted"),
    "only_strengthens": _("it only makes another signal stronger"),
    "too_few_sessions": _("too few sessions show it so far"),
    "not_of_this_session_type": _("sessions of this kind keep other things"),
}
PHASES: Final[Mapping[str, Name]] = {
    "define": pgettext_lazy("phase of work", "Define"),
    "implement": pgettext_lazy("phase of work", "Implement"),
    "validate": pgettext_lazy("phase of work", "Validate"),
    "refine": pgettext_lazy("phase of work", "Refine"),
    "explore": pgettext_lazy("phase of work", "Explore"),
    "reflect": pgettext_lazy("phase of work", "Reflect"),
}
ENDS: Final[Mapping[str, Name]] = {
    "record_outcome": _("How it ended, in the figures of its session"),
    "calibrate": _("Its steps against those planned"),
}
