"""What people paste to connect an agent."""

import json

from frontend.presenters import connection_snippets


def _texts(token: str | None) -> list[str]:
    found = connection_snippets.harnesses(
        base_url="https://cairn.test", token=token, project="shop"
    )
    return [snippet.text for harness in found for snippet in harness.snippets]


def test_every_snippet_names_this_installation_or_its_token() -> None:
    assert all("https://cairn.test" in text or "crn_x" in text for text in _texts("crn_x"))


def test_without_a_token_a_placeholder_stands_in() -> None:
    assert any(connection_snippets.PLACEHOLDER in text for text in _texts(None))


def test_configuration_files_are_json() -> None:
    found = connection_snippets.harnesses(
        base_url="https://cairn.test", token="crn_x", project="shop"
    )
    files = [each for harness in found for each in harness.snippets if each.language == "json"]

    assert len(files) == 2
    assert all(json.loads(each.text) for each in files)
