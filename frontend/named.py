"""Stored values in words: which filter of the templates reads which table."""

from collections.abc import Mapping
from functools import partial
from typing import Final

from django import template

from frontend import words, words_of_code, words_of_methodologies, words_of_sessions

NAMES: Final[Mapping[str, Mapping[str, words.Name]]] = {
    "scope_name": words.SCOPES,
    "source_name": words.SOURCES,
    "interface_name": words.INTERFACES,
    "fit_name": words.FITS,
    "close_name_reason": words.CLOSE_NAMES,
    "verification_name": words.VERIFICATIONS,
    "status_name": words.STATUSES,
    "job_name": words.JOBS,
    "job_state_name": words.JOB_STATES,
    "role_name": words.ROLES,
    "token_scope_name": words.TOKEN_SCOPES,
    "token_state_name": words.TOKEN_STATES,
    "path_name": words.SEARCH_PATHS,
    "missing_name": words.MISSING,
    "health_part_name": words.HEALTH_PARTS,
    "entity_type_name": words.ENTITY_TYPES,
    "basis_name": words.TYPE_BASES,
    "review_group_name": words.REVIEW_GROUPS,
    "verdict_name": words.REVIEW_VERDICTS,
    "review_why": words.REVIEW_WHYS,
    "imported_name": words.IMPORTED,
    "session_state_name": words.SESSION_STATES,
    "session_count_name": words.SESSION_COUNTS,
    "speaker_name": words.SPEAKERS,
    "import_state_name": words.IMPORT_STATES,
    "format_name": words.FORMATS,
    "event_kind_name": words_of_sessions.EVENT_KINDS,
    "point_name": words_of_sessions.INJECTION_POINTS,
    "mark_name": words_of_sessions.RIBBON_MARKS,
    "outcome_name": words_of_sessions.OUTCOMES,
    "index_state_name": words_of_code.INDEX_STATES,
    "code_language_name": words_of_code.LANGUAGES,
    "phase_name": words_of_methodologies.PHASES,
    "end_name": words_of_methodologies.ENDS,
}


def put_into(*, library: template.Library) -> None:
    """Register a filter for each table; what a table lacks is said as it is stored."""
    for name, table in NAMES.items():
        library.filter(name, partial(words.name_of, table))
