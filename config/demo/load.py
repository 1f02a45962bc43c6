"""Send candidates through the one door in batches, and count what became of them."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from accounts.authentication import entered
from accounts.caller import Caller
from memory.intake.actions.remember_all import remember_all
from memory.records.actions.candidate import NewMemory

BATCH: Final = 250  # candidates a transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """How many candidates were added, confirmed, updated and refused, and by which gates."""

    added: int = 0
    confirmed: int = 0
    updated: int = 0
    refused: int = 0
    gates: tuple[tuple[str, int], ...] = field(default=())

    @property
    def sentence(self) -> str:
        """The summary for people."""
        counts = f"{self.added} added, {self.confirmed} confirmed, {self.updated} updated"
        if not self.refused:
            return f"{counts}, none refused."
        by_gate = ", ".join(f"{gate} {count}" for gate, count in self.gates)
        return f"{counts}, {self.refused} refused ({by_gate})."


def load(
    *,
    caller: Caller,
    new: tuple[NewMemory, ...],
    now: datetime,
    report: Callable[[int, int], None],
) -> Summary:
    """Load candidates; `report` is told how many of how many are done after each batch.

    Raises NotFound for a project the caller cannot see, RoleNotSufficient.
    """
    outcomes: Counter[str] = Counter()
    gates: Counter[str] = Counter()
    with entered(caller):
        for start in range(0, len(new), BATCH):
            batch = new[start : start + BATCH]
            for outcome in remember_all(caller=caller, new=batch, now=now):
                outcomes[outcome.outcome] += 1
                if outcome.outcome == "refused":
                    gates[outcome.gate] += 1
            report(start + len(batch), len(new))
    return Summary(
        added=outcomes["added"],
        confirmed=outcomes["confirmed"],
        updated=outcomes["updated"],
        refused=outcomes["refused"],
        gates=tuple(sorted(gates.items())),
    )
