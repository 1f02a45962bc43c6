"""The methodologies an organization works by: ours and its own, which come first (spec 3.1)."""

from collections.abc import Mapping
from dataclasses import dataclass

from accounts import tenancy
from accounts.caller import Caller
from memory.queries import definitions
from memory.queries.definitions import Kind
from memory.retrieval.methodology import Methodology
from memory.retrieval.phases import METHODOLOGIES, Phase


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodologyView:
    """A methodology, which of the six phases each of its own is, and whether it is shipped."""

    name: str
    phases: Methodology
    is_own: bool


def own(*, caller: Caller) -> dict[str, Methodology]:
    """Return the organization's own methodologies by name."""
    with tenancy.unit():
        rows = tuple(definitions.seen(caller=caller, kind=Kind.METHODOLOGY).order_by("name", "id"))
    return {row.name: _phases(row.body["phases"]) for row in rows}


def known(*, caller: Caller) -> tuple[MethodologyView, ...]:
    """Return all that can be named in a context, by name."""
    mine = own(caller=caller)
    both = {**METHODOLOGIES, **mine}
    return tuple(
        MethodologyView(name=name, phases=both[name], is_own=name in mine) for name in sorted(both)
    )


def _phases(kept: Mapping[str, str]) -> Methodology:
    return {key: Phase(value) for key, value in kept.items()}
