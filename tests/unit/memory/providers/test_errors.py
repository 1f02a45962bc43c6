"""HTTP statuses of vendors as our errors."""

from memory.providers import errors
from memory.providers.errors import (
    ProviderError,
    ProviderRateLimited,
    ProviderRefused,
    ProviderUnavailable,
)


def test_status_becomes_the_error_that_says_whether_to_retry() -> None:
    refused, down, limited = ProviderRefused, ProviderUnavailable, ProviderRateLimited
    kinds: dict[tuple[int, str], type[ProviderError]] = {
        (400, ""): refused, (401, "invalid_api_key"): refused, (402, ""): refused,
        (404, ""): refused, (408, ""): down, (429, ""): limited,
        (429, "insufficient_quota"): refused, (500, ""): down, (503, ""): down,
    }  # fmt: skip
    found = {
        (status, code): errors.error_of_status(
            provider="fake", status=status, headers={}, code=code
        )
        for status, code in kinds
    }
    odd = errors.error_of_status(provider="fake", status=400, headers={}, code="key sk-123")

    assert {given: type(error) for given, error in found.items()} == kinds
    assert odd.detail == "fake answered with status 400."  # a code that is no plain word


def test_retry_after_is_read_as_seconds_or_as_a_moment() -> None:
    moment, now = "Sat, 21 Nov 2026 12:00:30 GMT", "Sat, 21 Nov 2026 12:00:00 GMT"

    def seconds(value: str, **headers: str) -> float:
        return errors.retry_after_seconds(headers={"retry-after": value, **headers})

    assert errors.retry_after_seconds(headers={"Retry-After": "7"}) == 7.0
    assert seconds(moment, date=now) == 30.0
    assert [seconds(value) for value in (moment, "soon", "-4", "9" * 4000)] == [0.0] * 4
    assert errors.retry_after_seconds(headers={}) == 0.0
