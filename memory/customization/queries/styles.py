"""Communication styles as they are read: those there are, and the one that fits."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import NotFound
from memory.customization import style as styles
from memory.customization.models import Definition
from memory.customization.queries import definitions
from memory.customization.queries.definitions import Kind
from memory.customization.style import Composed, NewStyle, Style
from memory.taxonomy import Scope


def known(*, caller: Caller) -> tuple[Style, ...]:
    """Return the organization's styles and the person's own, by name."""
    with tenancy.unit():
        rows = tuple(definitions.seen(caller=caller, kind=Kind.STYLE).order_by("name", "id"))
    return tuple(to_style(row=row, caller=caller) for row in rows)


def one(*, caller: Caller, style_id: UUID) -> Style:
    """Return a style. Raises NotFound for one that the caller cannot see."""
    with tenancy.unit():
        row = definitions.seen(caller=caller, kind=Kind.STYLE).filter(pk=style_id).first()
    if row is None:
        raise NotFound(
            detail="There is no such style.", hint="GET /api/v1/styles lists those there are."
        )
    return to_style(row=row, caller=caller)


def composed(*, caller: Caller, topic: str, interface: str | None) -> Composed | None:
    """Return the style that fits a session; `interface` None is the one the caller comes from."""
    return styles.compose(
        styles=known(caller=caller),
        topic=topic,
        interface=caller.source_interface if interface is None else interface,
    )


def to_style(*, row: Definition, caller: Caller) -> Style:
    """Make the value of a row."""
    is_shared = row.audience == caller.organization_id
    body: Mapping[str, Any] = row.body
    return Style(
        id=row.id,
        name=row.name,
        scope=Scope.ORGANIZATION if is_shared else Scope.PERSONAL,
        text=body["text"],
        topics=tuple(body["topics"]),
        interfaces=tuple(body["interfaces"]),
        is_default=row.is_default,
    )


def to_body(*, new: NewStyle) -> dict[str, Any]:
    """Return what a row keeps of a checked style beside its name."""
    return {"text": new.text, "topics": list(new.topics), "interfaces": list(new.interfaces)}
