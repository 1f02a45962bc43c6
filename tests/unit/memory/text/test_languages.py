"""The language of source text is told by its files, else by what its lines begin with."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.text.languages import language_of

SOURCES = {
    "python": "    async def total(\n        self, cart={}\n    ) -> int:\n        return 1",
    "ruby": "def total(cart)\n  cart.sum\nend",
    "go": "func (c *Cart) Total() int {\n\treturn 1\n}",
    "rust": "pub(crate) async fn total(cart: &Cart) -> u32 { 1 }",
    "java": "    public static List<Item> items(Cart cart) {\n        return cart.items();\n    }",
    "javascript": "export const total = (cart) => cart.length;",
    "typescript": "export interface Cart {\n  total: number;\n}",
    "php": "<?php\nfunction total($cart) { return 1; }",
    "sql": "SELECT sum(price) FROM cart",
    "": "The cart is a function of what was put into it, and its class is decided later.",
}


@pytest.mark.parametrize("language", SOURCES)
def test_source_text_tells_its_language(language: str) -> None:
    assert language_of(content=SOURCES[language], files=()) == language


@pytest.mark.parametrize(
    ("files", "language"),
    [(("docs/cart.md", "src/Cart.TSX"), "typescript"), (("src/cart.rs:12",), "rust")],
)
def test_a_file_tells_it_better(files: tuple[str, ...], language: str) -> None:
    assert language_of(content=SOURCES["python"], files=files) == language


def test_an_ending_that_tells_nothing_leaves_it_to_the_text() -> None:
    assert language_of(content=SOURCES["go"], files=("Makefile", "notes.txt")) == "go"


@given(content=st.text(), files=st.lists(st.text()).map(tuple))
def test_any_text_has_one_or_none(content: str, files: tuple[str, ...]) -> None:
    assert language_of(content=content, files=files).isalpha() or not language_of(
        content=content, files=files
    )
