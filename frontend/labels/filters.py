"""Stored values in words: which filter of the templates reads which table."""

from collections.abc import Mapping
from functools import partial
from typing import Final

from django import template

from frontend.labels import memory_labels, session_labels

NAMES: Final[Mapping[str, Mapping[str, memory_labels.Name]]] = {
    "scope_name": memory_labels.SCOPES,
    "source_name": memory_labels.SOURCES,
    "interface_name": memory_labels.INTERFACES,
    "fit_name": memory_labels.FITS,
    "close_name_reason": memory_labels.CLOSE_NAMES,
    "verification_name": memory_labels.VERIFICATIONS,
    "status_name": memory_labels.STATUSES,
    "job_name": memory_labels.JOBS,
    "job_state_name": memory_labels.JOB_STATES,
    "role_name": memory_labels.ROLES,
    "token_scope_name": memory_labels.TOKEN_SCOPES,
    "token_state_name": memory_labels.TOKEN_STATES,
    "path_name": memory_labels.SEARCH_PATHS,
    "missing_name": memory_labels.MISSING,
    "health_part_name": memory_labels.HEALTH_PARTS,
    "entity_type_name": memory_labels.ENTITY_TYPES,
    "basis_name": memory_labels.TYPE_BASES,
    "review_group_name": memory_labels.REVIEW_GROUPS,
    "verdict_name": memory_labels.REVIEW_VERDICTS,
    "review_why": memory_labels.REVIEW_WHYS,
    "imported_name": memory_labels.IMPORTED,
    "session_state_name": memory_labels.SESSION_STATES,
    "session_count_name": memory_labels.SESSION_COUNTS,
    "speaker_name": memory_labels.SPEAKERS,
    "import_state_name": memory_labels.IMPORT_STATES,
    "format_name": memory_labels.FORMATS,
    "event_kind_name": session_labels.EVENT_KINDS,
    "point_name": session_labels.INJECTION_POINTS,
    "mark_name": session_labels.RIBBON_MARKS,
    "outcome_name": session_labels.OUTCOMES,
    "index_state_name": memory_labels.INDEX_STATES,
    "code_language_name": memory_labels.LANGUAGES,
    "phase_name": session_labels.PHASES,
    "end_name": session_labels.ENDS,
}


def put_into(*, library: template.Library) -> None:
    """Register a filter for each table; what a table lacks is said as it is stored."""
    for name, table in NAMES.items():
        library.filter(name, partial(memory_labels.name_of, table))
