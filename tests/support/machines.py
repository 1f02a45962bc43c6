"""How much a state machine does: few steps in every run, many by name, always the same in short."""

from hypothesis import HealthCheck, Phase, settings

from tests.support.goals import Scale


def effort(*, scale: Scale) -> settings:
    """Return the settings of a run. Every step is a request, so shrinking would take minutes."""
    return settings(
        max_examples=scale.of(short=8, long=200),
        stateful_step_count=scale.of(short=25, long=50),
        derandomize=not scale.is_long,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate,),
    )
