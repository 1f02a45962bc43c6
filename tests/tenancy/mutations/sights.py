"""The guards of what a person may see, and what stands there when one is switched off (data)."""

from typing import Final

from tests.tenancy.mutations.switching import guard

READS: Final = "tests/tenancy/test_reads.py::"
POINTS: Final = "tests/integration/memory/sessions/test_points.py::"
GUARDS: Final = "tests/tenancy/test_guards.py::"
STYLES: Final = "tests/integration/memory/customization/test_customization.py::"

VISIBILITY: Final = (
    guard(
        "lists, counts and the feed ask for the audience", "teams.visibility:as_q",
        "visible = Q(audience__in=sight.audiences)", "visible = Q()",
        f"{READS}test_counts_count_what_one_may_see",
    ),
    guard(
        "lists keep to the projects of a credential", "teams.visibility:as_q",
        "visible &= Q(project_id__in=sight.bound_projects)", "pass",
        "tests/edges/api/test_strangers.py::test_a_token_bound_to_a_project_reaches_nothing_else",
    ),
    guard(
        "chosen memories are read with the audience",
        "memory/records/sql/functions.sql",
        "AND m.audience = ANY (audiences)\n          AND m.status <> 'deleted'",
        "AND m.status <> 'deleted'",
        f"{READS}test_foreign_ids_are_left_out",
    ),
    guard(
        "what ranking looks at is read with the audience", "memory/search/sql/functions.sql",
        "WHERE m.id = ANY (ids)\n  AND m.audience = ANY (audiences)", "WHERE m.id = ANY (ids)",
        f"{READS}test_foreign_ids_are_left_out",
    ),
    guard(
        "projects ask for the audience", "teams.visibility:projects_q",
        "visible = Q(id__in=sight.audiences)", "visible = Q()",
        f"{READS}test_a_foreign_project_is_as_if_it_did_not_exist",
    ),
    guard(
        "projects keep to those of a credential", "teams.visibility:projects_q",
        "visible &= Q(id__in=sight.bound_projects)", "pass",
        f"{READS}test_a_foreign_project_is_as_if_it_did_not_exist",
    ),
    guard(
        "closed projects are for their members", "teams.visibility:AUDIENCES",
        "WHERE %(all)s OR p.open_to_all OR EXISTS (", "WHERE true OR EXISTS (",
        f"{READS}test_counts_count_what_one_may_see",
    ),
    guard(
        "only owners and admins see every project", "teams.visibility:SEES_ALL_PROJECTS",
        "frozenset({Role.OWNER, Role.ADMIN})", "frozenset(Role)",
        f"{READS}test_counts_count_what_one_may_see",
    ),
    guard(
        "search by meaning and by words asks for the audience", "memory/search/sql/functions.sql",
        "'x.audience = ANY (($1).audiences)'", "'true'",
        f"{GUARDS}test_candidates_of_a_search_are_visible[meaning]",
    ),
    guard(
        "search by meaning and by words keeps to the projects of a credential",
        "memory/search/sql/functions.sql",
        "'x.project_id = ANY (($1).bound)'", "'true'",
        f"{GUARDS}test_candidates_of_a_search_are_visible[words]",
    ),
    guard(
        "what is linked to a hit asks for the audience", "memory/search/sql/functions.sql",
        "WHERE k.audience = ANY (request.audiences)\n", "WHERE true\n",
        "tests/integration/memory/search/test_candidates.py"
        "::test_a_link_reaches_nothing_that_filters_or_scopes_leave_out",
    ),
    guard(
        "what a mistyped word may mean asks for the audience", "memory/search/sql/functions.sql",
        "WHERE l.audience = ANY (audiences) AND (bound IS NULL", "WHERE (bound IS NULL",
        "tests/tenancy/test_scores.py::test_personal_words_of_others_change_no_score[misspelt]",
    ),
    guard(
        "how rare a word is asks for the audience", "memory/search/sql/functions.sql",
        "WHERE l.word = given.lexeme AND l.audience = ANY (audiences)", "WHERE true",
        "tests/tenancy/test_scores.py::test_personal_words_of_others_change_no_score[rare]",
    ),
    guard(
        "how rare a word is in a project asks for the audience",
        "memory/search/sql/functions.sql",
        "(given.lexemes || ''::text) AND l.audience = ANY (audiences)",
        "(given.lexemes || ''::text)",
        "tests/tenancy/test_scores.py::test_personal_words_of_others_change_no_score[rare]",
    ),
    guard(
        "how rare a word is in a project keeps to the projects of a credential",
        "memory/search/sql/functions.sql",
        "AND (bound IS NULL OR l.project_id = ANY (bound))\n            GROUP BY 1)",
        "GROUP BY 1)",
        "tests/tenancy/test_scores.py"
        "::test_words_of_other_projects_change_no_score_of_a_bound_token",
    ),
    guard(
        "how rare a named thing is asks for the audience", "memory/search/sql/functions.sql",
        "AND n.audience = ANY (audiences)", "AND true",
        "tests/tenancy/test_scores.py::test_what_others_name_for_themselves_changes_nothing",
    ),
    guard(
        "how rare a named thing is keeps to the projects of a credential",
        "memory/search/sql/functions.sql",
        "(bound IS NULL OR n.project_id = ANY (bound))", "true",
        "tests/tenancy/test_scores.py"
        "::test_what_other_projects_name_changes_nothing_for_a_bound_token",
    ),
    guard(
        "what memories name is told of those one may see", "memory/entities/sql/entities.sql",
        "AND NOT k.live)\n  AND {visible}", "AND NOT k.live)",
        "tests/integration/memory/search/test_entities.py"
        "::test_spellings_and_counts_are_of_what_one_may_see",
    ),
    guard(
        "what a memory names is told of those one may see", "memory/entities/sql/entities.sql",
        "AND n.type_code = ANY (%(types)s::smallint[])\n  AND {visible}",
        "AND n.type_code = ANY (%(types)s::smallint[])",
        "tests/tenancy/test_scores.py::test_what_a_memory_names_is_told_to_who_may_see_it",
    ),
    guard(
        "what is named beside a thing is of memories one may see",
        "memory/entities/sql/entities.sql",
        "WHERE {visible}", "WHERE true",
        "tests/integration/memory/search/test_entities.py"
        "::test_spellings_and_counts_are_of_what_one_may_see",
    ),
    guard(
        "who found a name is told of what one may see", "memory/entities/sql/entities.sql",
        "WHERE n.read_by = 0 AND {visible})", "WHERE n.read_by = 0)",
        "tests/integration/memory/entities/test_enrich_entities.py"
        "::test_who_found_a_name_is_told_by_what_one_may_see",
    ),
    guard(
        "what memories are about is told of places one may see", "memory/topics/sql/topics.sql",
        "WHERE {visible}\n  AND (%(within)s::uuid[] IS NULL", "WHERE (%(within)s::uuid[] IS NULL",
        "tests/tenancy/test_topics.py::test_one_sees_the_topics_of_ones_own_places",
    ),
    guard(
        "sessions are told to whom they belong", "memory.sessions.queries:visible",
        "Session.objects.filter(seen)", "Session.objects.filter()",
        "tests/tenancy/test_sessions.py::test_a_personal_session_is_not_listed_to_an_owner",
    ),
    guard(
        "what was given out is compared while it may be seen",
        "memory/intake/sql/neighbors.sql",
        "m.status <> 'deleted' AND {visible}", "m.status <> 'deleted'",
        "tests/tenancy/test_sessions.py::test_what_may_not_be_seen_any_more_is_not_compared",
    ),
    guard(
        "duplicates are looked for in one audience", "memory/index/sql/search_rows.sql",
        "AND v.audience = %(audience)s", "AND true",
        f"{GUARDS}test_duplicates_are_looked_for_in_one_audience",
    ),
    guard(
        "what answers between steps is of those one may see",
        "memory/search/sql/queries.sql",
        "AND k.live AND {visible}", "AND k.live",
        "tests/integration/memory/search/test_answering.py"
        "::test_what_is_somebody_elses_own_or_of_another_project_answers_nothing",
    ),
    guard(
        "what a hit is linked with asks for the audience", "memory/records/sql/views.sql",
        "WHERE m.status = 'active' AND {visible}", "WHERE m.status = 'active'",
        "tests/integration/memory/search/test_context.py::test_what_one_may_not_see_surrounds_nothing",
    ),
    guard(
        "links hide an end that cannot be seen", "memory.records.queries.memories:links",
        "for other in visible(caller=caller).filter(pk__in=others)}",
        "for other in Memory.objects.filter(pk__in=others)}",
        "tests/integration/memory/records/test_reading.py::test_a_link_to_what_cannot_be_seen_is_not_shown",
    ),
    guard(
        "one memory is read with the audience", "memory.records.queries.memories:find_memory",
        "return _first(visible(caller=caller).filter(pk=memory_id))",
        "return _first(Memory.objects.filter(pk=memory_id))",
        f"{READS}test_a_foreign_memory_is_as_if_it_did_not_exist",
    ),
    guard(
        "a memory is changed with the audience", "memory.records.queries.memories:lock_memory",
        'rows = visible(caller=caller).select_for_update(of=("self",))',
        'rows = Memory.objects.select_for_update(of=("self",))',
        f"{GUARDS}test_what_cannot_be_seen_cannot_be_locked",
    ),
    guard(
        "earlier versions stay with their readers", "memory.records.queries.memories:history",
        "if was_seen(version=one, sight=sight)", "if sight",
        f"{GUARDS}test_earlier_versions_stay_with_their_readers",
    ),
    guard(
        "milestones ask for the audience", "memory.injection.queries:milestones",
        "visible(caller=caller)", "Memory.objects",
        f"{GUARDS}test_milestones_tell_nothing_of_what_cannot_be_seen",
    ),
    guard(
        "the ledger tells of memories that may be seen",
        "memory.injection.queries:delivery_log",
        "found = GivenOut.objects.filter(session_id=row.id, memory_id__in=seen)",
        "found = GivenOut.objects.filter(session_id=row.id)",
        "tests/edges/api/test_injections.py::"
        "test_the_ledger_of_a_shared_session_hides_what_only_its_opener_sees",
    ),
    guard(
        "what was told beside memories is its opener's own",
        "memory.injection.queries:delivery_log",
        "row.heading_tokens if sessions.is_own(caller=caller, row=row) else 0",
        "row.heading_tokens",
        "tests/edges/api/test_injections.py::"
        "test_what_is_told_beside_memories_stands_in_the_ledger_of_who_was_told",
    ),
    guard(
        "what agents were given is counted of sessions that may be seen",
        "memory.injection.queries:project_totals",
        "GivenOut.objects.filter(session_id__in=mine, memory_id__in=seen)",
        "GivenOut.objects.filter(session_id__isnull=False)",
        "tests/edges/pages/test_connections.py::test_what_ones_own_agents_were_given_is_counted",
    ),
    guard(
        "files are planned from sessions that one may see",
        "memory.injection.actions.session_start:_counters",
        "visible=visibility.as_q(sight=visibility.sight_of(caller=recipient.caller)),",
        "visible=visibility.Q(),",
        f"{POINTS}test_files_of_nearly_every_session_are_planned_once_for_their_person_alone",
    ),
    guard(
        "unfinished work after outside content stays its person's",
        "memory.injection.actions.session_start:unfinished_work",
        "if not sessions.is_own(caller=caller, row=before):", "if before is None:",
        f"{POINTS}test_unfinished_work_after_outside_content_is_offered_to_nobody_else",
    ),
    guard(
        "work goes on from sessions that one may see",
        "memory.sessions.queries:opened_before",
        "rows = of_project(caller=caller, project_id=row.project_id)",
        "rows = Session.objects.filter(project=row.project_id)",
        f"{POINTS}test_unfinished_work_of_others_is_offered_if_shared",
    ),
    guard(
        "agents are given memories of their project alone",
        "memory.injection.actions.deliver:deliverable",
        "and view.project_id in {None, session.project_id}", "",
        "tests/edges/api/test_hooks.py::test_a_session_of_no_project_is_given_nothing_of_projects",
    ),
    guard(
        "a session that a program names is its caller's own",
        "memory.sessions.queries:hold_named",
        "filter(opened_by_caller(caller=caller), external_id=external_id)",
        "filter(external_id=external_id)",
        "tests/edges/api/test_hooks.py::test_a_shared_session_of_somebody_else_is_not_taken_over",
    ),
    guard(
        "work is its author's to see", "accounts.jobs:_of",
        "return rows.filter(created_by=principal(caller=caller))", "return rows",
        "tests/integration/accounts/test_jobs_query.py::test_one_sees_what_one_has_set_going_and_managers_see_all",
    ),
    guard(
        "a style is its organization's or its person's",
        "memory.customization.queries:list_definitions",
        "filter(kind=kind, audience__in=audiences)", "filter(kind=kind)",
        f"{STYLES}test_everybody_is_told_the_organizations_and_ones_own_to_nobody_else",
    ),
    guard(
        "a token of projects has no style of its person's",
        "memory.customization.queries:list_definitions",
        "if caller.user_id is not None and caller.bound_projects is None:",
        "if caller.user_id is not None:",
        f"{STYLES}test_everybody_is_told_the_organizations_and_ones_own_to_nobody_else",
    ),
    guard(
        "sums of sessions are of those that the reader sees",
        "memory.experiments.queries:_known_sums",
        "everyone = manages(caller=caller)",
        "everyone = True",
        "tests/integration/memory/experiments/test_experiments.py::test_who_does_not_manage_is_told_of_sessions_that_they_see",
    ),
    guard(
        "sums of searches of few people are told to nobody else",
        "memory.experiments.queries:_known_sums",
        "if is_seen or (count >= uplift.LEAST_SESSIONS and people >= LEAST_PEOPLE)", "if True",
        "tests/integration/memory/search/test_graph_changes.py::test_those_of_few_are_told_to_nobody_else",
    ),
    guard(
        "the night joins names that all of a place see", "memory/entities/sql/entities.sql",
        "(n.audience = n.project_id OR n.audience = %(everybody)s) AND", "",
        "tests/integration/memory/entities/test_names.py::test_names_of_two_places_are_not_joined_nor_what_a_person_keeps",
    ),
)  # fmt: skip
