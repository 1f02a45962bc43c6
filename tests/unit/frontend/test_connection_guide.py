"""What people paste to connect an agent."""

import json

import pytest

from frontend.views import connections


@pytest.mark.parametrize("token", ["crn_x", ""])
def test_every_snippet_names_this_installation_or_its_token_or_a_placeholder(token: str) -> None:
    found = connections.snippets(base_url="https://cairn.test", token=token, project="shop")
    snippets = [(where, text) for _way, where, text in found]
    shown = token or connections.PLACEHOLDER

    files = [text for where, text in snippets if where.endswith(".json")]
    assert all("https://cairn.test" in text or shown in text for _where, text in snippets)
    assert any(shown in text for _where, text in snippets)
    assert len(files) == 2
    assert all(json.loads(text) for text in files)
