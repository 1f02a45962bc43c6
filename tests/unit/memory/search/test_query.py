"""The kind of a query decides how the paths count."""

import pytest

from memory.search import query as queries


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("getUserName", "identifier"),
        ("max_retries default", "identifier"),
        ("src/auth/token.py", "identifier"),
        ("error E1234", "identifier"),
        ("cache.clear() race", "identifier"),
        ("shipment 02d77662-6526-429a-8e8b-e36ddb3e8782", "identifier"),
        ("what broke in 7ed2808", "identifier"),
        ("why was PAY-42 closed", "identifier"),
        ("patch for CVE-2024-31497", "identifier"),
        ("the defaced 1234567 facade", "semantic"),
        ("why utf-8 and not utf-16 here", "semantic"),
        ("what calls parseToken", "structural"),
        ("which modules depend on billing", "structural"),
        ("impact of changing the schema", "structural"),
        ("how does authentication work?", "semantic"),
        ("why did we leave MySQL for the queue of the importer", "semantic"),
        ("", "semantic"),
    ],
)
def test_kinds(text: str, kind: str) -> None:
    assert queries.understand(text=text).kind == kind


def test_a_graph_tool_used_just_now_makes_it_structural() -> None:
    query = queries.understand(text="billing", recent_tools=("Read", "graph_search"))

    assert query.kind == "structural"


def test_a_query_is_normalized_and_widened_for_keywords() -> None:
    query = queries.understand(text="  fix\u200b  tokenStore\n")

    assert query.normalized == "fix tokenStore"
    assert query.keyword_text == "fix tokenStore\ntoken store"
    assert query.terms == ("fix", "tokenstore")
    assert query.identifiers == ("tokenStore",)
