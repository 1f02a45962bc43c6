"""Tokens are found by scanners, refuse typing errors, are stored as keyed hashes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts import token_format
from accounts.errors import InvalidToken
from accounts.token_format import TOKEN_PATTERN, TokenKind

ENTROPY = bytes(range(24))
MINTED = token_format.mint(kind=TokenKind.PERSON, entropy=ENTROPY)
ENTROPIES = st.binary(min_size=24, max_size=24)


@given(entropy=ENTROPIES, kind=st.sampled_from(TokenKind))
def test_what_is_minted_is_parsed_back(entropy: bytes, kind: TokenKind) -> None:
    minted = token_format.mint(kind=kind, entropy=entropy)

    parsed = token_format.parse(text=minted.text)

    assert (parsed.text, parsed.lookup_id, parsed.kind) == (minted.text, minted.lookup_id, kind)


@given(position=st.integers(8, 45), character=st.sampled_from("0aZ9x"))
def test_one_changed_character_is_refused(position: int, character: str) -> None:
    changed = MINTED.text[:position] + character + MINTED.text[position + 1 :]

    if changed != MINTED.text:
        with pytest.raises(InvalidToken):
            token_format.parse(text=changed)


def test_a_token_has_its_prefix_46_characters_and_begins_with_its_lookup_id() -> None:
    service = token_format.mint(kind=TokenKind.SERVICE, entropy=ENTROPY)
    found = TOKEN_PATTERN.search(f'export CAIRN_TOKEN="{MINTED.text}"; echo done')

    assert MINTED.text.startswith("crn_pat_")
    assert service.text.startswith("crn_svc_")
    assert len(MINTED.text) == len(service.text) == 46
    assert MINTED.text[8:20] == MINTED.lookup_id
    assert found is not None  # by a scanner, in prose
    assert found.group() == MINTED.text


@pytest.mark.parametrize(
    "text",
    ["", "crn_pat_", MINTED.text[:-1], MINTED.text + "0", f" {MINTED.text}", MINTED.text + "\n"],
)
def test_a_truncated_or_padded_token_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(InvalidToken) as refusal:
        token_format.parse(text=text)

    assert "46 characters" in refusal.value.hint
    assert not text.strip() or text not in str(refusal.value)


def test_too_little_or_too_much_entropy_is_refused() -> None:
    for size in (0, 20, 23, 25):
        with pytest.raises(ValueError, match="24 bytes"):
            token_format.mint(kind=TokenKind.PERSON, entropy=bytes(size))


def test_the_digest_depends_on_the_token_and_on_the_pepper_that_there_must_be() -> None:
    other = token_format.mint(kind=TokenKind.PERSON, entropy=bytes(24))

    digests = {
        token_format.digest(text=text, pepper=pepper)
        for text in (MINTED.text, other.text)
        for pepper in (b"one", b"two")
    }

    assert {len(digest) for digest in digests} == {64}
    assert len(digests) == 4
    with pytest.raises(ValueError, match="pepper"):
        token_format.digest(text=MINTED.text, pepper=b"")
