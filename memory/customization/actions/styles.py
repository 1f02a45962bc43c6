"""Define a communication style, the organization's or one's own, or remove one."""

from datetime import datetime
from typing import Final
from uuid import UUID

from accounts import free_texts, tenancy
from accounts.caller import Caller
from accounts.errors import wrong_field
from accounts.messages import message
from memory import path_lock
from memory.customization import style
from memory.customization.models import Definition
from memory.customization.queries import styles
from memory.customization.queries.definitions import Kind
from memory.customization.style import NewStyle, Style
from memory.taxonomy import Scope
from teams import audit
from teams.errors import NotBoundToProject
from teams.permissions import Act, require

MOST: Final = 50  # of an organization or a person, ours


def put_style(*, caller: Caller, new: NewStyle, now: datetime) -> Style:
    """Define a style, or define it anew; a new default takes the place of the one before.

    Raises InvalidInput naming the field, RoleNotSufficient, NotBoundToProject.
    """
    style.check(new=new)
    audience = _audience(caller, new.scope)
    free_texts.check(texts=_texts(new))
    with tenancy.unit():
        path_lock.hold(audience=audience, project_id=None, path=Kind.STYLE)
        others = Definition.objects.filter(audience=audience, kind=Kind.STYLE)
        others = others.exclude(name=new.name)
        _check_room(others.count())
        if new.is_default:
            others.filter(is_default=True).update(is_default=False)
        row, _ = Definition.objects.update_or_create(
            audience=audience,
            kind=Kind.STYLE,
            name=new.name,
            defaults={
                "body": styles.to_body(new=new),
                "is_default": new.is_default,
                "defined_by": caller.user_id,
                "defined_at": now,
            },
        )
        _note(caller, "organization.style_defined", row.id)
    return styles.to_style(row=row, caller=caller)


def remove_style(*, caller: Caller, style_id: UUID) -> None:
    """Remove a style. Raises NotFound, RoleNotSufficient, NotBoundToProject."""
    with tenancy.unit():
        _audience(caller, styles.one(caller=caller, style_id=style_id).scope)
        Definition.objects.filter(pk=style_id).delete()
        _note(caller, "organization.style_removed", style_id)


def _texts(new: NewStyle) -> dict[str, str]:
    """Return every text by its pointer."""
    topics = {f"/topics/{place}": topic for place, topic in enumerate(new.topics)}
    return {"/name": new.name, "/text": new.text, **topics}


def _audience(caller: Caller, scope: str) -> UUID:
    """Return whose styles of this scope are, of who may change them."""
    is_own = scope == Scope.PERSONAL
    require(caller=caller, act=Act.WRITE if is_own else Act.MANAGE_SETTINGS)
    if caller.bound_projects is not None:
        raise NotBoundToProject(
            detail="This token is bound to projects; styles are the organization's or a person's.",
            hint="Use a token that is bound to none.",
        )
    if not is_own:
        return caller.organization_id
    if caller.user_id is None:
        raise wrong_field(
            pointer="/scope",
            detail="Nobody stands behind this token, so it has no styles of its own.",
            hint="Define it for the organization, or use a person's token.",
            code="choice",
        )
    return caller.user_id


def _check_room(others: int) -> None:
    if others < MOST:
        return
    raise wrong_field(
        pointer="/name",
        detail=message("There is room for {most} styles.", most=MOST),
        hint="Remove one first.",
        code="too_many",
    )


def _note(caller: Caller, act: str, style_id: UUID) -> None:
    """Note the act by the style's id: what a person calls a style is that person's own."""
    audit.append(act=act, object_type="style", object_id=str(style_id), caller=caller)
