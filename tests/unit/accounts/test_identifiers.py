"""Any name gives an address that can be used, and no two attempts the same."""

from hypothesis import given
from hypothesis import strategies as st

from accounts import identifiers


@given(name=st.text(max_size=120), attempt=st.integers(1, 50))
def test_every_name_gives_a_usable_address_and_each_attempt_another(
    name: str, attempt: int
) -> None:
    slug = identifiers.slug_from(name=name, attempt=attempt)

    assert identifiers.checked_slug(slug) == slug
    assert slug != identifiers.slug_from(name=name, attempt=attempt + 1)


def test_an_address_reads_like_its_name_and_none_of_ours_is_given_away() -> None:
    slugs = {
        "Ada Lovelace": "ada-lovelace", "Équipe_A.B": "equipe-a-b", "日本": "team", "New": "new-1",
    }  # fmt: skip

    assert {name: identifiers.slug_from(name=name, attempt=1) for name in slugs} == slugs
