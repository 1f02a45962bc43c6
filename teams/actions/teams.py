"""Make a team, or change what it is called."""

from accounts import names, rights, tenancy
from accounts.backend import free_texts
from accounts.caller import Caller
from teams import audit, visibility
from teams.actions import places
from teams.models import Team
from teams.queries.people import TeamView, find_team, team_view


def create_team(*, caller: Caller, slug: str, name: str = "") -> TeamView:
    """Make a team; a person who makes it is in it.

    Without a name it is called by its slug. Raises InvalidInput naming the field, SlugTaken,
    RoleNotSufficient.
    """
    rights.check_manages(caller=caller)
    places.check_slug(slug=slug)
    free_texts.check(texts={"/slug": slug, "/name": name})
    with tenancy.unit():
        row = Team(slug=slug, name=names.checked_name(name.strip() or slug))
        places.insert(row=row)
        if caller.user_id is not None:
            row.members.create(user_id=caller.user_id)
        visibility.forget()
        _note(caller, "created", row)
        return team_view(row)


def rename_team(*, caller: Caller, ref: str, name: str, if_version: int | None) -> TeamView:
    """Call a team something else.

    Raises InvalidInput, PreconditionFailed, RoleNotSufficient, NotFound.
    """
    rights.check_manages(caller=caller)
    wanted = names.checked_name(name)
    free_texts.check(texts={"/name": wanted})
    with tenancy.unit():
        found = find_team(caller=caller, ref=ref)
        row = Team.objects.select_for_update().get(pk=found.pk)
        places.check_version(row=row, if_version=if_version)
        if row.name != wanted:
            row.name, row.version = wanted, row.version + 1
            row.save(update_fields=["name", "version"])
            _note(caller, "changed", row)
        return team_view(row)


def _note(caller: Caller, verb: str, row: Team) -> None:
    audit.append(act=f"team.{verb}", object_type="team", object_id=str(row.id), caller=caller)
