"""The guards of isolation, and what stands there when one is switched off (table of data)."""

from typing import Final

from tests.tenancy.mutations.sights import VISIBILITY
from tests.tenancy.mutations.switching import Mutant, guard

GUARDS: Final = "tests/tenancy/test_guards.py::"
UNITS: Final = "tests/tenancy/test_units.py::"
NAMES: Final = "tests/tenancy/test_names.py::"
WALL: Final = "tests/tenancy/test_second_wall.py::"
PEOPLE: Final = "tests/tenancy/test_accounts_queries.py::"
TOKENS: Final = "tests/integration/accounts/actions/test_tokens.py::"
PLACES: Final = "tests/integration/teams/test_people.py::"
PROJECTS: Final = "tests/integration/teams/test_projects.py::"
INVITATIONS: Final = "tests/integration/accounts/actions/test_invitations.py::"
AUTHENTICATION: Final = "tests/integration/accounts/test_authentication.py::"


TENANTS: Final = (
    guard(
        "a unit sets the organization's schema", "accounts.tenancy:unit",
        "with _keys(path=f'\"{tenant.schema_name}\", public', organization_id",
        "with _keys(path=PUBLIC, organization_id",
        f"{UNITS}test_rows_of_one_organization_are_not_seen_from_another",
    ),
    guard(
        "the schema ends with the transaction", "accounts.tenancy:TURN_KEYS",
        "set_config('search_path', %s, true)", "set_config('search_path', %s, false)",
        f"{UNITS}test_a_unit_leaves_no_setting_behind_also_when_it_fails",
    ),
    guard(
        "the tenant ends with the transaction", "accounts.tenancy:TURN_KEYS",
        "set_config('cairn.tenant', %s, true)", "set_config('cairn.tenant', %s, false)",
        f"{UNITS}test_a_unit_leaves_no_setting_behind_also_when_it_fails",
    ),
    guard(
        "a unit joins none of another organization", "accounts.tenancy:unit",
        '== tenant.schema_name:\n        yield', "is not None:\n        yield",
        f"{UNITS}test_a_unit_inside_one_of_another_organization_is_its_own",
    ),
    guard(
        "nobody is in two organizations at once", "accounts.tenancy:enter",
        "if outer is not None and outer != tenant:", "if False:",
        f"{UNITS}test_entering_a_second_organization_is_refused",
    ),
    guard(
        "a schema is named by us", "accounts.tenancy:enter",
        "if not SCHEMA_NAME.match(tenant.schema_name):", "if False:",
        f"{UNITS}test_a_schema_name_not_of_ours_is_refused",
    ),
    guard(
        "a walled block joins none of another organization", "accounts.tenancy:walled",
        "if held != NOBODY:", "if False:",
        f"{WALL}test_a_walled_block_joins_its_own_unit_and_refuses_another",
    ),
    guard(
        "cache keys name the organization", "accounts.tenancy:key",
        'return ":".join(("t", current().organization_id.hex, *parts))',
        'return ":".join(("t", *parts))',
        f"{NAMES}test_two_organizations_share_no_name",
    ),
    guard(
        "groups name the organization", "accounts.tenancy:group",
        'return ".".join(("t", current().organization_id.hex, *parts))',
        'return ".".join(("t", *parts))',
        f"{NAMES}test_two_organizations_share_no_name",
    ),
    guard(
        "a cached value says whose it is", "accounts.tenancy:cached",
        "entry[0] != current().organization_id.hex", "False",
        f"{NAMES}test_a_value_that_a_mixed_up_connection_returns_is_not_believed",
    ),
    guard(
        "cursors are sealed for one organization", "config.rest.parsing:_salt",
        'return f"place.{endpoint.name}.{caller.organization_id.hex}"',
        'return f"place.{endpoint.name}"',
        "tests/edges/api/test_strangers.py::test_a_cursor_of_another_organization_is_no_cursor",
    ),
    guard(
        "kept answers are for one credential", "teams.idempotency:_principal",
        'return f"user:{caller.user_id}" if caller.token_id is None', 'return "all" if True',
        f"{GUARDS}test_a_kept_answer_is_for_its_own_credential",
    ),
)  # fmt: skip

WALLS: Final = (
    guard(
        "rows of a tenant's tables name their organization", "accounts/tenancy/rls.sql",
        "'tenant_id = (SELECT nullif(current_setting(''cairn.tenant'', true), '''')::uuid)');",
        "'true');",
        f"{WALL}test_the_right_schema_with_the_wrong_tenant_shows_nothing",
    ),
    guard(
        "a tenant's tables have the wall", "accounts/tenancy/rls.sql",
        "' ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY'",
        "' DISABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY'",
        f"{WALL}test_nothing_of_another_tenant_is_changed_or_deleted",
    ),
    guard(
        "a schema is brought up to date from inside", "accounts/tenancy/rls.sql",
        "    step record;\nBEGIN\n    IF organization IS DISTINCT FROM "
        "nullif(current_setting('cairn.tenant', true), '')::uuid",
        "    step record;\nBEGIN\n    IF false",
        f"{WALL}test_only_the_schema_of_ones_own_unit_is_brought_up_to_date",
    ),
    guard(
        "search indexes are made from inside", "accounts/tenancy/rls.sql",
        "    lacked integer := 0;\nBEGIN\n    IF organization IS DISTINCT FROM "
        "nullif(current_setting('cairn.tenant', true), '')::uuid",
        "    lacked integer := 0;\nBEGIN\n    IF false",
        "tests/integration/memory/index/test_indexing.py::test_no_index_of_others_is_made",
    ),
    guard(
        "only schemas of ours are made", "accounts/tenancy/rls.sql",
        "IF place !~ '^t_[0-9a-f]{32}$' THEN", "IF false THEN",
        f"{WALL}test_a_schema_that_is_none_of_ours_is_not_made",
    ),
    guard(
        "a session opens one's own organizations", "accounts/tenancy/rls.sql",
        "WHERE m.user_id = person AND p.is_active", "WHERE p.is_active",
        f"{AUTHENTICATION}test_a_foreign_organization_is_answered_like_none",
    ),
    guard(
        "a disabled account opens nothing", "accounts/tenancy/rls.sql",
        "WHERE m.user_id = person AND p.is_active", "WHERE m.user_id = person",
        f"{AUTHENTICATION}test_a_disabled_account_and_an_unfinished_organization_have_no_session",
    ),
    guard(
        "a job runs in its organization", "accounts/tenancy/rls.sql",
        "WHERE j.id = due.id AND o.id = j.organization_id",
        "WHERE j.id = due.id AND o.id <> j.organization_id",
        f"{NAMES}test_a_job_runs_in_the_organization_that_enqueued_it",
    ),
    guard(
        "shared rows are of one organization", "tables",
        "accounts_token", "",
        f"{WALL}test_no_shared_row_is_seen_without_a_tenant_or_by_another",
    ),
    guard(
        "memberships are of one organization", "tables",
        "accounts_membership", "",
        f"{WALL}test_no_shared_row_is_seen_without_a_tenant_or_by_another",
    ),
)  # fmt: skip

CREDENTIALS: Final = (
    guard(
        "a token has its whole secret", "accounts.queries:verify",
        "if row is None or not peppers.is_of(stored=row.digest, text=parsed.text):",
        "if row is None:",
        f"{TOKENS}test_a_token_that_ended_is_refused_at_the_next_request[digest]",
    ),
    guard(
        "a token ends when it is revoked", "accounts.queries:_role_alive",
        "    if row.revoked_at is not None:\n        raise InvalidToken", 
        "    if False:\n        raise InvalidToken",
        f"{TOKENS}test_a_token_that_ended_is_refused_at_the_next_request[revoked]",
    ),
    guard(
        "a token ends at its time", "accounts.queries:_role_alive",
        "    if row.expires_at <= now:\n        raise InvalidToken",
        "    if False:\n        raise InvalidToken",
        f"{TOKENS}test_a_token_that_ended_is_refused_at_the_next_request[expired]",
    ),
    guard(
        "a token ends with the account", "accounts.queries:_role_alive",
        "if row.role is None or not row.is_active or not row.is_ready:",
        "if row.role is None or not row.is_ready:",
        f"{TOKENS}test_a_token_that_ended_is_refused_at_the_next_request[account]",
    ),
    guard(
        "a token opens no unfinished organization", "accounts.queries:_role_alive",
        "if row.role is None or not row.is_active or not row.is_ready:",
        "if row.role is None or not row.is_active:",
        f"{TOKENS}test_a_token_that_ended_is_refused_at_the_next_request[unfinished]",
    ),
    guard(
        "a token holds no more than its owner's role", "accounts.queries:_caller",
        "scopes=scopes & scopes_of(role=role)", "scopes=scopes",
        f"{TOKENS}test_a_token_loses_what_its_owner_lost",
    ),
    guard(
        "a token gives no more than its maker holds", "accounts.caller:check_lends",
        "if not scopes <= lendable:", "if False:",
        f"{TOKENS}test_no_credential_makes_a_token_that_holds_more",
    ),
    guard(
        "a bound token makes bound tokens", "accounts.caller:check_lends",
        "if projects is None or not set(projects) <= set(caller.bound_projects):", "if False:",
        f"{TOKENS}test_no_credential_makes_a_token_that_holds_more",
    ),
    guard(
        "members see their own tokens", "accounts.queries:visible",
        "return inside & own_tokens(caller=caller)", "return inside",
        f"{PEOPLE}test_a_member_sees_only_their_own_tokens_and_a_reading_one_only_itself",
    ),
    guard(
        "managing takes a managing role", "accounts.caller:manages",
        "return caller.role in MANAGERS and may_administer and caller.bound_projects is None",
        "return may_administer and caller.bound_projects is None",
        "tests/unit/accounts/test_rights.py::test_owners_and_admins_manage",
        "tests/integration/accounts/actions/test_members.py::test_others_change_no_role",
    ),
    guard(
        "nobody gives a role above their own", "accounts.caller:check_not_above",
        "if outranks(role=role, other=caller.role):", "if False:",
        "tests/integration/accounts/actions/test_members.py::test_an_admin_neither_makes_owners_nor_touches_one",
    ),
    guard(
        "acts take a role", "teams.permissions:require",
        "if not allows(role=caller.role, act=act):", "if False:",
        "tests/integration/memory/intake/test_remember.py::test_too_many_a_viewer_and_an_unseen_project_are_refused",
        f"{GUARDS}test_an_act_takes_a_role_and_a_scope",
    ),
    guard(
        "acts take a scope", "teams.permissions:require",
        "if needed not in caller.scopes:", "if False:",
        f"{GUARDS}test_an_act_takes_a_role_and_a_scope",
    ),
    guard(
        "calls take a scope", "config.rest.views:EndpointView",
        "if scope is not None and not may(caller=caller, scope=scope):", "if False:",
        f"{GUARDS}test_a_writing_token_reads_nothing_over_rest_or_by_a_tool",
    ),
    guard(
        "tools take a scope", "memory.mcp.server:_check_scope",
        "if not may(caller=caller, scope=scope):", "if False:",
        f"{GUARDS}test_a_writing_token_reads_nothing_over_rest_or_by_a_tool",
    ),
    guard(
        "agents come from a place of ours", "memory.mcp.app:_check_places",
        "if not validate_host(name, settings.ALLOWED_HOSTS):", "if False:",
        f"{GUARDS}test_an_agent_comes_from_a_place_of_ours",
    ),
    guard(
        "a socket comes from its own page", "frontend.consumers:same_origin",
        "return bool(origin.netloc) and origin.netloc == headers", "return True or headers",
        f"{GUARDS}test_a_socket_comes_from_a_page_of_ours",
    ),
    guard(
        "a session writes with its own secret", "config.rest.views:_of_session",
        "    _check_csrf(http)\n    return caller", "    return caller",
        "tests/edges/api/test_credentials.py::test_a_session_names_its_organization_and_writes_with_a_csrf_token",
    ),
    guard(
        "an invitation is for its address", "accounts.actions.members:accept_invitation",
        "if not user.is_active or row.email.lower() != user.email.lower():", "if False:",
        f"{INVITATIONS}test_another_address_does_not_get_in",
    ),
    guard(
        "an invitation ends at its time", "accounts.queries:find_open",
        "expires_at__gt=now)", "expires_at__isnull=False)",
        f"{INVITATIONS}test_an_invitation_lasts_seven_days",
    ),
    guard(
        "an invitation lapses with its inviter's role", "accounts.queries:find_open",
        "if row is None or not _may_still_give(row):", "if row is None:",
        f"{INVITATIONS}test_an_invitation_lapses_with_its_inviters_role",
    ),
    guard(
        "an invitation is used once", "accounts.queries:pending",
        "filter(accepted_at=None, revoked_at=None, organization__ready=True)",
        "filter(organization__ready=True)",
        f"{INVITATIONS}test_the_invited_person_joins_once",
        f"{INVITATIONS}test_a_revoked_invitation_is_closed",
    ),
    guard(
        "the audit log is for managers", "teams.audit:page",
        "    check_manages(caller=caller)\n    wanted", "    wanted",
        "tests/integration/teams/test_audit.py::test_managers_alone_read_the_log_the_newest_first_page_by_page",
    ),
    guard(
        "every act is in the audit log", "teams.audit:append",
        "tenancy.at_end_of_unit(lambda: _write(entry))", "return",
        "tests/integration/teams/test_audit.py::test_an_entry_says_who_what_when_and_from_where_if_that_is_an_address",
    ),
    guard(
        "people are added by managers", "teams.actions:add_person",
        "    check_manages(caller=caller)\n    with tenancy.unit():",
        "    with tenancy.unit():",
        f"{PLACES}test_only_owners_and_admins_add_and_take_out",
    ),
    guard(
        "people are taken out by managers, or by themselves",
        "teams.actions:_check_takes_out",
        "if caller.user_id != user_id or not is_person(caller=caller):", "if False:",
        f"{PLACES}test_only_owners_and_admins_add_and_take_out",
    ),
    guard(
        "who leaves does so in person", "teams.actions:_check_takes_out",
        "user_id or not is_person(caller=caller):", "user_id:",
        f"{PLACES}test_a_person_takes_out_themselves_in_person",
    ),
    guard(
        "people of projects are not for tokens bound to some", "teams.queries:people_in",
        "        check_unbound(caller=caller)\n        return _persons", "        return _persons",
        f"{PLACES}test_a_token_bound_to_a_project_is_not_told_its_people",
    ),
    guard(
        "teams are for those in them", "teams.queries:_visible_teams",
        "return Team.objects.filter(id__in=mine)", "return Team.objects.all()",
        f"{PROJECTS}test_a_team_is_there_for_those_in_it_and_for_managers",
    ),
    guard(
        "teams are not for tokens bound to projects", "teams.queries:_visible_teams",
        "if caller.bound_projects is not None or caller.user_id is None:",
        "if caller.user_id is None:",
        f"{PROJECTS}test_a_team_is_there_for_those_in_it_and_for_managers",
    ),
    guard(
        "teams are named by managers", "teams.actions:rename_team",
        "    check_manages(caller=caller)\n    wanted", "    wanted",
        f"{PROJECTS}test_others_and_tokens_bound_to_it_change_no_project_and_no_team",
    ),
    guard(
        "projects are changed by managers", "teams.actions:change_project",
        "    require(caller=caller, act=Act.MANAGE_PROJECTS)\n    with tenancy.unit():",
        "    with tenancy.unit():",
        f"{PROJECTS}test_others_and_tokens_bound_to_it_change_no_project_and_no_team",
    ),
    guard(
        "projects are not changed by tokens bound to them", "teams.actions:change_project",
        "        queries.check_unbound(caller=caller)\n        check_version",
        "        check_version",
        f"{PROJECTS}test_others_and_tokens_bound_to_it_change_no_project_and_no_team",
    ),
)  # fmt: skip

MUTANTS: Final[tuple[Mutant, ...]] = (*VISIBILITY, *TENANTS, *WALLS, *CREDENTIALS)
SPREAD: Final = 10  # of which one is tried in the short form
SAMPLE: Final = MUTANTS[::SPREAD]  # the same ones each time, some of each table
