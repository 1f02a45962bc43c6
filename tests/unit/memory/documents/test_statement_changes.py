"""Which statement of a document took the place of which."""

from memory.documents.statement_changes import PlacedStatement, find_replaced, is_same_document

GATE = PlacedStatement("gate", "The gate of the mill opens at nine.")
KEY = PlacedStatement("key", "The miller has the only key to the gate.")
WHEEL = PlacedStatement("wheel", "The wheel turns left, and only in spring.")
LATER = PlacedStatement("later", "The gate of the mill opens at eleven.")
LOCK = PlacedStatement("lock", "Nobody but the miller has a key to the gate.")
OTHER = PlacedStatement("other", "Flour is sold in sacks of ten kilos.")


def test_a_statement_between_the_same_neighbors_is_the_same_said_anew() -> None:
    replaced = find_replaced(before=(GATE, KEY, WHEEL), after=(LATER, KEY, WHEEL))

    assert replaced == {"later": "gate"}


def test_each_takes_the_place_of_the_one_it_is_most_like_also_in_another_order() -> None:
    assert find_replaced(before=(GATE, KEY), after=(LOCK, LATER)) == {
        "later": "gate",
        "lock": "key",
    }


def test_what_shares_few_words_or_is_only_added_or_gone_takes_no_place() -> None:
    assert find_replaced(before=(GATE, KEY), after=(OTHER, KEY)) == {}
    assert find_replaced(before=(KEY,), after=(LATER, KEY, OTHER)) == {}
    assert find_replaced(before=(GATE, KEY), after=(KEY,)) == {}


def test_a_document_written_anew_is_compared_with_few_statements_each() -> None:
    before = [PlacedStatement(f"a{i}", f"Rule {i} holds for part {i}.") for i in range(2_000)]
    after = [PlacedStatement(f"b{i}", f"Rule {i} holds for part {i} again.") for i in range(2_000)]

    replaced = find_replaced(before=before, after=after)

    assert replaced == {f"b{i}": f"a{i}" for i in range(2_000)}


def test_what_both_versions_have_takes_no_place_be_it_moved() -> None:
    tests = PlacedStatement("tests", "Run `make test` before a push.")
    lint = PlacedStatement("lint", "Run `make lint` before a push.")

    assert find_replaced(before=(GATE, tests), after=(tests, GATE, lint)) == {}


def test_a_file_of_the_same_name_that_shares_nothing_is_another_document() -> None:
    assert is_same_document(before=(GATE, KEY, WHEEL), after=(LATER, KEY))
    assert not is_same_document(before=(GATE, WHEEL), after=(LATER, OTHER))
