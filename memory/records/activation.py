"""ACT-R activation: how likely a memory is needed now (profile `cognitive`).

A = max(B + S + ε, floor). B grows with use and falls with age, S flows from tags shared with the
context and thins out as a tag fans out over many memories, ε makes retrieval stochastic; it is off
in ranking, and its uniform draw is passed in, so that a search can be repeated.
Sources: Anderson & Lebiere (1998); fan effect: Anderson (1974).
"""

import math
from dataclasses import dataclass

from memory.records.factors import Factor, checked_not_negative

DECAY = 0.5  # d, Anderson & Lebiere 1998
MAX_STRENGTH = 1.6  # S_max
FAN_DELTA = 0.3  # δ
NOISE_SCALE = 0.25  # s
RETRIEVAL_THRESHOLD = -0.5  # τ
MINIMUM_LIFETIME_HOURS = 1.0  # ours: B has no bound as L goes to 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TagUse:
    """A tag that the memory shares with the context: how many memories have it, and its links."""

    fan: int
    links: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Activation:
    """An activation with its parts; `lift` is what the floor added."""

    base: float
    spreading: float
    noise: float
    lift: float
    value: float


def base_level(*, accesses: int, lifetime_hours: float, decay: float = DECAY) -> float:
    """Compute B = ln(n / (1 - d)) - d · ln(L) (Anderson & Lebiere 1998).

    n: accesses, its creation being the first; L: hours since creation, at least one; d: 0 ≤ d < 1.
    Raises ValueError outside of these.
    """
    checked_not_negative(name="lifetime_hours", value=lifetime_hours)
    if accesses < 1:
        raise ValueError(f"accesses must be at least 1 (the creation), not {accesses}")
    if not 0.0 <= decay < 1.0:
        raise ValueError(f"decay must be within 0..1, 1 excluded, not {decay}")
    lifetime = max(lifetime_hours, MINIMUM_LIFETIME_HOURS)
    return math.log(accesses / (1.0 - decay)) - decay * math.log(lifetime)


def fan_penalty(*, links: int, delta: float = FAN_DELTA) -> float:
    """Compute δ · ln(links + 1), the cost of a crowded tag; raise ValueError for links < 0."""
    if links < 0:
        raise ValueError(f"links must be 0 or more, not {links}")
    return delta * math.log(links + 1)


def associative_strength(*, tag: TagUse) -> float:
    """Compute max(S_max - ln(fan) - δ · ln(links + 1), 0) of a shared tag (Anderson 1974).

    Raises ValueError for fan < 1: the memory itself has the tag.
    """
    if tag.fan < 1:
        raise ValueError(f"fan must be at least 1, not {tag.fan}")
    return max(MAX_STRENGTH - math.log(tag.fan) - fan_penalty(links=tag.links), 0.0)


def spreading(*, shared_tags: tuple[TagUse, ...], context_tags: int) -> float:
    """Compute S = Σ W · strength over the shared tags, W = 1 / |context tags|.

    Raises ValueError when more tags are shared than the context has.
    """
    if len(shared_tags) > context_tags:
        raise ValueError(f"{len(shared_tags)} shared tags, but the context has {context_tags}")
    if not shared_tags:
        return 0.0
    return math.fsum(associative_strength(tag=tag) for tag in shared_tags) / context_tags


def noise(*, u: float, scale: float = NOISE_SCALE) -> float:
    """Compute ε = s · ln(u / (1 - u)), logistic for a uniform u; ValueError unless 0 < u < 1."""
    if not 0.0 < u < 1.0:
        raise ValueError(f"u must lie strictly between 0 and 1, not {u}")
    return scale * math.log(u / (1.0 - u))


def activation(*, base: float, spreading: float, noise: float, floor: float) -> Activation:
    """Compute A = max(B + S + ε, floor), keeping its parts."""
    raw = math.fsum((base, spreading, noise))
    value = max(raw, floor)
    return Activation(base=base, spreading=spreading, noise=noise, lift=value - raw, value=value)


def factors(*, activation: Activation) -> tuple[Factor, ...]:
    """Return the parts of an activation; they sum to it."""
    return (
        Factor(name="base level", value=activation.base),
        Factor(name="spreading", value=activation.spreading),
        Factor(name="noise", value=activation.noise),
        Factor(name="lift to the floor", value=activation.lift),
    )


def retrieval_probability(
    *, activation: float, threshold: float = RETRIEVAL_THRESHOLD, scale: float = NOISE_SCALE
) -> float:
    """Compute P = 1 / (1 + exp(-(A - τ) / s)), 0..1; raise ValueError unless s > 0."""
    if not scale > 0.0:
        raise ValueError(f"scale must be above 0, not {scale}")
    return 0.5 * (1.0 + math.tanh((activation - threshold) / (2.0 * scale)))
