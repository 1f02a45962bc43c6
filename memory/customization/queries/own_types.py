"""The types of memories that the methodologies of an organization add.

They are the organization's vocabulary, as ours are everybody's: whoever may name a type may know
them, and they tell nothing of any memory.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import wrong_field
from accounts.messages import message
from memory.customization import custom_type_rules
from memory.customization.custom_type_rules import OwnType
from memory.customization.models import Definition
from memory.customization.queries.definitions import Kind
from memory.taxonomy import MemoryType

TYPES: Final = "types"  # of a methodology's body
MOST_TOLD: Final = 40  # names of one refusal, ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """A type, and the methodology that adds it."""

    type: OwnType
    methodology: str


def known(*, caller: Caller) -> Mapping[str, Added]:
    """Return the types that the organization's methodologies add, by name."""
    with tenancy.unit():
        rows = Definition.objects.filter(audience=caller.organization_id, kind=Kind.METHODOLOGY)
        bodies = tuple(rows.order_by("name", "id").values_list("name", "body"))
    found: dict[str, Added] = {}
    for methodology, body in bodies:
        for kept in body.get(TYPES, ()):
            added = Added(type=custom_type_rules.of_body(kept=kept), methodology=methodology)
            found.setdefault(added.type.name, added)
    return dict(sorted(found.items()))


def named(*, caller: Caller, name: str, pointer: str) -> Added:
    """Return the type of that name. Raises InvalidInput naming those there are."""
    added = known(caller=caller)
    if name in added:
        return added[name]
    names = (*tuple(added)[:MOST_TOLD], *(item.value for item in MemoryType))
    raise wrong_field(
        pointer=pointer,
        detail="There is no such type of memory.",
        hint=message("Use one of: {names}.", names=names),
        code="choice",
    )


def check(*, caller: Caller, names: Iterable[str], pointer: str = "/types") -> None:
    """Check that all types one asks for are known; ours always are. Raises InvalidInput."""
    for name in names:
        if custom_type_rules.is_own(name=name):
            named(caller=caller, name=name, pointer=pointer)
