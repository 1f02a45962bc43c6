"""Judge a probe: the right status, nothing told beyond the role's own, no trace of existence."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import unified_diff

from tests.tenancy.isolation import asking
from tests.tenancy.isolation.asking import Answer
from tests.tenancy.isolation.matrix import Policy
from tests.tenancy.isolation.probes import Probe, filled, sending
from tests.tenancy.isolation.world import World

SHOWN = 300  # characters of a difference


@dataclass(slots=True, kw_only=True)
class Judge:
    """Sends probes, keeps the answers about nothing, and counts what it has sent."""

    world: World
    policies: Mapping[str, Policy]
    sent: int = 0
    twins: dict[tuple[str, ...], str] = field(default_factory=dict)

    def faults(self, probe: Probe) -> list[str]:
        """Return what is wrong with the answer to a probe."""
        answer = self._ask(probe, probe.parts)
        text = asking.plain(text=answer.text, sent=probe.parts.values())
        policy = self.policies.get(probe.ask.policy)
        found = [*_status(probe, policy, answer), *self._told(probe, policy, text)]
        if probe.twin is not None:
            nothing = self._twin(probe, probe.twin)
            found += _difference(nothing, _compared(probe, answer, text))
        where = f"{probe.ask.name} by {probe.asker.name} about {probe.thing.label or 'nothing'}"
        return [f"{where}: {fault}" for fault in found]

    def _told(self, probe: Probe, policy: Policy | None, text: str) -> list[str]:
        tells: frozenset[str] = policy.tells if policy else frozenset()
        leaks = asking.leaks(world=self.world, asker=probe.asker, text=text, tells=tells)
        return [f"tells of {leak}" for leak in leaks]

    def _twin(self, probe: Probe, parts: Mapping[str, str]) -> str:
        key = (repr(probe.ask), probe.asker.name, *sorted(parts.values()))
        if key not in self.twins:
            answer = self._ask(probe, parts)
            text = asking.plain(text=answer.text, sent=parts.values())
            self.twins[key] = _compared(probe, answer, text)
        return self.twins[key]

    def _ask(self, probe: Probe, parts: Mapping[str, str]) -> Answer:
        self.sent += 1
        ask = probe.ask
        given = {**parts, "row": _row(parts)}
        address = filled(text=ask.address, parts=given)
        if ask.query:
            address += f"?{filled(text=ask.query, parts=given)}"
        return asking.ask(
            asker=probe.asker,
            method=ask.method,
            address=address,
            send=None if ask.send is None else sending(value=ask.send, parts=given),
            headers=_headers(probe, given),
        )


def _headers(probe: Probe, parts: Mapping[str, str]) -> dict[str, str]:
    ask = probe.ask
    named = {"If-Match": ask.if_match} if ask.if_match else {}
    return {**named, **{name: text.format(**parts) for name, text in ask.headers.items()}}


def _compared(probe: Probe, answer: Answer, text: str) -> str:
    """Return what must be the same: everything, or what became of a write that makes new ids."""
    if probe.ask.compare == "all":
        return text
    told = re.findall(r'"(?:outcome|gate|reason|code)":"[^"]*"|Idempotency-Replayed', text)
    return f"{answer.status} {told}"


def _status(probe: Probe, policy: Policy | None, answer: Answer) -> list[str]:
    if policy is None:
        return [f"answered {answer.status}"] if answer.status >= 500 else []
    table = policy.own if probe.reach == "own" else policy.hidden
    expected = table[probe.asker.name]
    if answer.status in expected:
        return []
    return [f"{probe.reach}, answered {answer.status}, not {sorted(expected)}"]


def _difference(nothing: str, something: str) -> list[str]:
    if nothing == something:
        return []
    lines = unified_diff(nothing.splitlines(), something.splitlines(), "nothing", "hidden", n=0)
    return [f"differs from nothing: {' '.join(lines)[:SHOWN]}"]


def _row(parts: Mapping[str, str]) -> str:
    return next((value for name, value in parts.items() if name.endswith("id")), "1")
