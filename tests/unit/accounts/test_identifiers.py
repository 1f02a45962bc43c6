"""Any name gives an address that can be used, and no two attempts the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts import identifiers


@given(name=st.text(max_size=120), attempt=st.integers(1, 50))
def test_every_name_gives_a_usable_address(name: str, attempt: int) -> None:
    slug = identifiers.slug_from(name=name, attempt=attempt)

    assert identifiers.checked_slug(slug) == slug


@given(name=st.text(max_size=120))
def test_attempts_differ(name: str) -> None:
    assert identifiers.slug_from(name=name, attempt=2) != identifiers.slug_from(
        name=name, attempt=3
    )


@pytest.mark.parametrize(
    ("name", "slug"),
    [("Ada Lovelace", "ada-lovelace"), ("Équipe_A.B", "equipe-a-b"), ("日本", "team")],
)
def test_an_address_reads_like_its_name(name: str, slug: str) -> None:
    assert identifiers.slug_from(name=name, attempt=1) == slug


def test_an_address_of_ours_is_not_given_away() -> None:
    assert identifiers.slug_from(name="New", attempt=1) == "new-1"
