"""HTTP statuses of vendors as our errors."""

import pytest

from memory.providers import errors
from memory.providers.errors import (
    ProviderError,
    ProviderRateLimited,
    ProviderRefused,
    ProviderUnavailable,
)


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "", ProviderRefused),
        (401, "invalid_api_key", ProviderRefused),
        (402, "", ProviderRefused),
        (404, "", ProviderRefused),
        (408, "", ProviderUnavailable),
        (429, "", ProviderRateLimited),
        (429, "insufficient_quota", ProviderRefused),
        (500, "", ProviderUnavailable),
        (503, "", ProviderUnavailable),
    ],
)
def test_status_becomes_the_error_that_says_whether_to_retry(
    status: int, code: str, kind: type[ProviderError]
) -> None:
    error = errors.error_of_status(provider="fake", status=status, headers={}, code=code)

    assert type(error) is kind


def test_a_code_that_is_no_plain_word_is_left_out() -> None:
    error = errors.error_of_status(provider="fake", status=400, headers={}, code="key sk-123")

    assert error.detail == "fake answered with status 400."


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        (
            {
                "retry-after": "Sat, 21 Nov 2026 12:00:30 GMT",
                "date": "Sat, 21 Nov 2026 12:00:00 GMT",
            },
            30.0,
        ),
        ({"retry-after": "Sat, 21 Nov 2026 12:00:30 GMT"}, 0.0),
        ({"retry-after": "soon"}, 0.0),
        ({"retry-after": "-4"}, 0.0),
        ({"retry-after": "9" * 4000}, 0.0),
        ({}, 0.0),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_moment(
    headers: dict[str, str], seconds: float
) -> None:
    assert errors.retry_after_seconds(headers=headers) == seconds
