"""Which addresses are on this machine."""

import pytest

from memory.providers.transport import is_on_this_machine


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://localhost:11434/v1", True),
        ("http://127.0.0.1:8080/v1", True),
        ("http://127.9.9.9/", True),
        ("http://[::1]:8000/v1", True),
        ("https://localhost.example/v1", False),
        ("https://127.0.0.1.example/v1", False),
        ("https://user:127.0.0.1@models.example/v1", False),
        ("http://10.0.0.5/v1", False),
        ("", False),
    ],
)
def test_only_loopback_addresses_are_on_this_machine(url: str, here: bool) -> None:
    assert is_on_this_machine(url=url) is here
