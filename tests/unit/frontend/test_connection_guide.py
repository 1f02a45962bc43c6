"""What people paste to connect an agent."""

import json

from frontend.views import connections


def _snippets(token: str) -> list[tuple[str, str]]:
    found = connections.snippets(base_url="https://cairn.test", token=token, project="shop")
    return [snippet for _name, snippets in found for snippet in snippets]


def test_every_snippet_names_this_installation_or_its_token() -> None:
    snippets = _snippets("crn_x")
    files = [text for where, text in snippets if where.endswith(".json")]

    assert all("https://cairn.test" in text or "crn_x" in text for _where, text in snippets)
    assert len(files) == 2
    assert all(json.loads(text) for text in files)


def test_without_a_token_a_placeholder_stands_in() -> None:
    assert any(connections.PLACEHOLDER in text for _where, text in _snippets(""))
