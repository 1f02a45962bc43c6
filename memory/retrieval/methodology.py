"""Which of the six phases a caller means: of a methodology of ours, or of the organization's own.

A methodology is data: a name and a map from its phases to ours (spec 3.1). A name that nothing
knows is refused with the names that would do, because a phase silently ignored is a context packed
for other work than is being done.
"""

from collections.abc import Mapping
from typing import Final

from accounts.errors import InvalidInput, wrong_field
from memory.retrieval.phases import METHODOLOGIES, Phase

NATIVE: Final = "native"

Methodology = Mapping[str, Phase]


def phase(
    *, methodology: str | None, name: str | None, own: Mapping[str, Methodology]
) -> Phase | None:
    """Return the phase that a methodology calls by this name; None when no phase is named.

    One of our six names is itself in every methodology. `own` are the organization's, which come
    before ours of the same name. Raises InvalidInput for a name that nothing knows.
    """
    known = {**METHODOLOGIES, **own}
    if methodology is not None and methodology not in known:
        raise _unknown("/methodology", methodology, tuple(known))
    if name is None:
        return None
    phases = known[methodology or NATIVE]
    if name in phases:
        return phases[name]
    if name in set(Phase):
        return Phase(name)
    raise _unknown("/phase", name, (*phases, *(item for item in Phase if item not in phases)))


def _unknown(pointer: str, given: str, known: tuple[str, ...]) -> InvalidInput:
    listed = ", ".join(sorted(known))
    what = pointer.removeprefix("/")
    return wrong_field(
        pointer=pointer,
        detail=f"There is no {what} {given[:60]!r}.",
        hint=f"Use one of: {listed}.",
        code=f"unknown_{what}",
    )
