"""The names of what happens in a session, and of the phases and ends of its work."""

from collections.abc import Mapping
from typing import Final

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from frontend.labels.memory_labels import Name

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
