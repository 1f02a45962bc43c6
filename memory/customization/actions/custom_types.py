"""Call a memory by a type of a methodology's own: find its base and mark it.

The mark is ours: one that stands among the tags a caller names is left out.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from accounts.caller import Caller
from memory.customization import custom_type_rules
from memory.customization.queries import own_types as queries
from memory.records.actions.validation import NewMemory
from memory.records.models import Memory


def of_new(*, caller: Caller, new: NewMemory) -> NewMemory:
    """Return a candidate under one of our types, marked where it named one that is none.

    It is then of the methodology that adds the type, unless it names another. Raises InvalidInput
    for a type that nobody knows.
    """
    if not new.type or not custom_type_rules.is_own(name=new.type):
        return replace(new, tags=custom_type_rules.marked(tags=new.tags, name=new.own_type))
    found = queries.named(caller=caller, name=new.type, pointer="/type")
    return replace(
        new,
        type=found.type.base.value,
        own_type=found.type.name,
        tags=custom_type_rules.marked(tags=new.tags, name=found.type.name),
        methodology=new.methodology or found.methodology,
    )


def of_changes(*, caller: Caller, row: Memory, changes: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the changes of a memory with the mark it has from then on.

    Other tags leave its type as it is; a type takes the place of the one before. Raises
    InvalidInput for a type that nobody knows.
    """
    tags, type = changes.get("tags", row.tags), changes.get("type")
    if type is None and "tags" not in changes:
        return changes
    if type is None:
        name = custom_type_rules.named(tags=row.tags)
        return {**changes, "tags": custom_type_rules.marked(tags=tags, name=name)}
    if not custom_type_rules.is_own(name=type):
        return {**changes, "tags": custom_type_rules.plain(tags=tags)}
    found = queries.named(caller=caller, name=type, pointer="/type").type
    called = custom_type_rules.marked(tags=tags, name=found.name)
    return {**changes, "type": found.base.value, "tags": called}
