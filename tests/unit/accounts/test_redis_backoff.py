"""After a failure Redis is left alone for a few seconds."""

from accounts.live import REST_SECONDS, Backoff


def test_a_rest_lasts_its_seconds_from_the_last_failure() -> None:
    moment = [100.0]
    backoff = Backoff(clock=lambda: moment[0])
    assert not backoff.is_active()

    backoff.start()
    moment[0] += REST_SECONDS - 0.1
    assert backoff.is_active()
    moment[0] += 0.1

    assert not backoff.is_active()
