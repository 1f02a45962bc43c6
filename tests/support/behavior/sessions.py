"""The labelled set: eighty made sessions and twelve written by hand, every other one held out.

Made ones put three episodes that show something between three that look like it, by one of three
harnesses, with pauses in which the agent looks around. Each episode occurs in both halves, its
wordings do not.
"""

import random
from functools import cache

from memory.observer.detections import SignalKind
from tests.support.behavior.by_hand import BY_HAND
from tests.support.behavior.lookalikes import LOOKALIKES
from tests.support.behavior.shown import SHOWN
from tests.support.behavior.telling import NAMES, Labelled, Teller

MADE = 80
EACH = 3  # episodes of both kinds in a session
PLANNED = 8  # steps, in every fifth session; such a session takes far more


@cache
def sessions() -> tuple[Labelled, ...]:
    """Return the whole set, always the same."""
    made = tuple(_made(place) for place in range(MADE))
    by_hand = tuple(write(place % 2 == 1) for place, write in enumerate(BY_HAND))
    return (*made, *by_hand)


def _made(place: int) -> Labelled:
    harness = sorted(NAMES)[place % 3]
    is_long = place % 5 in {0, 3}
    planned = (PLANNED if is_long else 200) if place % 5 < 4 else 0
    teller = Teller(seed=place, harness=harness, is_held=place // 2 % 2 == 1, planned=planned)
    chance = random.Random(f"{place}: episodes")
    shown = [SHOWN[(place * EACH + each) % len(SHOWN)] for each in range(EACH)]
    episodes = [*shown, *chance.sample(LOOKALIKES, EACH)]
    chance.shuffle(episodes)
    teller.prompt("Please do the next thing on the list")
    for episode in episodes:
        teller.pause()
        episode(teller)
    if is_long:
        teller.means(SignalKind.STEP_OVERRUN, "")
    return teller.labelled(name=f"made {place} ({harness})")
