"""A job that crashes, grows or never ends takes no other with it, and says why."""

import json

import pytest

from tests.support.crashing import Installation, await_that

ORGANIZATION = "poison"
BOUNDS = {"CAIRN_JOB_SECONDS": "3", "CAIRN_JOB_MEMORY_MB": "700"}
PUT_ASIDE_S = 240  # three claims, each found by a sweep, on a busy machine
SAYS = {
    "abort": "it crashed, ran out of memory or was killed (3 times).",
    "memory": "It needed more memory than the 700 MB of a job.",
    "endless": "It ran longer than 3 s and was stopped.",
}
LOSE_CRASHED = """
UPDATE accounts_job SET lease_until = now() - interval '1 s'
WHERE state = 'running' AND payload ->> 'poison' = 'abort' AND started_at < now() - interval '2 s'
"""
MAKE_DUE = "UPDATE accounts_job SET run_after = now() WHERE state = 'queued' AND payload ? 'poison'"
ENDED = "SELECT id::text, state, attempts, error FROM accounts_job WHERE id = ANY (%s::uuid[])"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def test_poison_is_put_aside_with_its_reason_and_the_others_go_on(
    crash_site: Installation,
) -> None:
    crash_site.ask("found", ORGANIZATION)
    crash_site.kill("worker")
    crash_site.start("worker", **BOUNDS)

    made = json.loads(crash_site.ask("poison", ORGANIZATION, *SAYS))
    await_that(lambda: has_ended(crash_site, made), seconds=PUT_ASIDE_S)

    found = {row[0]: row[1:] for row in crash_site.read(ENDED, list(made.values()))}
    crash_site.kill_and_start("worker")
    for kind, reason in SAYS.items():
        state, attempts, error = found[made[kind]]
        assert (state, attempts) == ("quarantined", 3)
        assert error.endswith(reason)
        assert found[made[f"beside {kind}"]][:2] == ("done", 1)


def has_ended(site: Installation, made: dict[str, str]) -> bool:
    """Let time pass for jobs whose worker crashed or that wait; say whether all have ended."""
    site.change(LOSE_CRASHED)
    site.change(MAKE_DUE)
    states = {row[1] for row in site.read(ENDED, list(made.values()))}
    return states <= {"done", "quarantined"}
