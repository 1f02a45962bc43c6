"""The deterministic embedder of unit tests."""

from memory.providers.static import HashingEmbedder, TurnedEmbedder


def test_the_two_spaces_have_one_length_and_nothing_in_common() -> None:
    text = "parse_invoice_lines in billing/parser.py drops lines without a tax code."

    first, second = (one.embed(texts=(text,))[0] for one in (HashingEmbedder(), TurnedEmbedder()))

    assert first.shape == second.shape
    assert abs(first @ second) < 0.3
