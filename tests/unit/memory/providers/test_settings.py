"""Which models an installation uses."""

import pytest

from memory.providers.transport import Limits, ProviderSettings, from_mapping


def test_without_any_setting_the_local_models_are_used() -> None:
    settings = from_mapping(given={})

    assert settings.embedder == "local/all-minilm-l6-v2"
    assert settings.reranker == "static/maxsim"
    assert settings.openai_chat_model == ""


def test_limits_are_the_specifications() -> None:
    limits = Limits()

    assert (limits.connect_seconds, limits.total_seconds, limits.retries) == (5.0, 60.0, 2)
    assert (limits.interactive_seconds, limits.failures_to_open) == (2.0, 5)
    assert limits.open_seconds == 60.0


def test_a_name_that_is_no_setting_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"Unknown model settings: embeder.*embedder"):
        from_mapping(given={"embeder": "x"})


def test_dimensions_below_one_are_refused() -> None:
    with pytest.raises(ValueError, match="openai_dimensions"):
        from_mapping(given={"openai_dimensions": 0})


def test_keys_never_show_in_a_repr() -> None:
    settings = ProviderSettings(openai_api_key="sk-private", cohere_api_key="co-private")

    assert "private" not in repr(settings)
