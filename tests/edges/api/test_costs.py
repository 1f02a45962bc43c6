"""How many statements each call costs, after the first use of its token: none grows unnoticed."""

from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.support.api import STATEMENT, Api

COSTS = {
    "me": ("GET", "me", None, 1),
    "search": ("POST", "search", {"query": "cached prices", "project": "shop"}, 13),
    "list": ("GET", "memories?project=shop", None, 10),  # one of them for the other sides
    "projects": ("GET", "projects", None, 7),
    "changes": ("GET", "changes?after=0", None, 7),
    "jobs": ("GET", "jobs", None, 6),
    "remember": ("POST", "memories", {"project": "shop", "content": f"{STATEMENT} Twice."}, 33),
}


def test_a_call_costs_no_more_statements(api: Api) -> None:
    api.remember()
    api.call("GET", "me")

    for name, (method, path, body, most) in COSTS.items():
        with CaptureQueriesContext(connection) as queries:
            answer = api.call(method, path, body)
        told = [query["sql"][:100] for query in queries.captured_queries]
        assert answer.status_code < 300
        assert len(told) <= most, "\n".join((name, *told))
