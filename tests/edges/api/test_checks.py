"""Plans and diffs over REST: verdicts with evidence, refusals with their place."""

from typing import Any

from tests.support.api import Api

TRIED = "Caching prices in the browser with localStorage failed: shoppers saw stale prices."
PLAN = "1. Measure first.\n2. Cache prices in the browser, in localStorage.\n"
DIFF = """\
diff --git a/shop/prices.ts b/shop/prices.ts
--- a/shop/prices.ts
+++ b/shop/prices.ts
@@ -1 +1,2 @@
+// cached prices in the browser, localStorage
 return all
"""
FILES = "".join(f"diff --git a/{n} b/{n}\nnew file mode 100644\n" for n in range(10_000))


def _plan(api: Api, **fields: Any) -> Any:
    return api.post("checks/plan", {"project": "shop", "plan": PLAN, **fields})


def _diff(api: Api, **fields: Any) -> Any:
    return api.post("checks/diff", {"project": "shop", "diff": DIFF, **fields})


def test_a_plan_and_a_diff_are_stopped_in_their_lines_by_the_memory_that_is_cited(
    api: Api, reading_api: Api
) -> None:
    memory = api.remember(TRIED, type="dead_end", related_files=["shop/prices.ts"])

    told, diff = _plan(api).json(), _diff(reading_api).json()

    (finding,) = told["findings"]
    assert (told["verdict"], finding["why"]) == ("stop", "tried_before")
    assert finding["memory"]["id"] == memory["id"]
    assert finding["memory"]["content"] == TRIED
    assert finding["places"] == [{"step": 2, "file": None, "first_line": 2, "last_line": 2}]
    assert (told["parts"], told["left_out"]) == (2, 0)
    (place,) = diff["findings"][0]["places"]
    assert diff["verdict"] == "stop"
    assert place == {"step": None, "file": "shop/prices.ts", "first_line": 1, "last_line": 2}


def test_nobody_else_is_told_nor_of_a_project_that_they_do_not_see(
    api: Api, member_api: Api, other_api: Api
) -> None:
    api.remember(TRIED, type="dead_end", scope="personal", related_files=["shop/prices.ts"])
    api.post("projects", {"slug": "cellar", "name": "Cellar"})

    for stranger in (member_api, other_api):
        for told in (_plan(stranger).json(), _diff(stranger).json()):
            assert (told["verdict"], told["findings"], told["left_out"]) == ("clear", [], 0)
    for project in ("cellar", "nowhere"):
        assert _plan(other_api, project=project).status_code == 404
        assert _diff(other_api, project=project).status_code == 404


def test_bad_input_is_refused_with_its_place(api: Api) -> None:
    sent: tuple[tuple[str, dict[str, Any], str], ...] = (
        ("checks/plan", {"project": "shop"}, "/plan"),
        ("checks/plan", {"plan": PLAN}, "/project"),
        ("checks/plan", {"project": "shop", "plan": "1. \n---"}, "/plan"),
        ("checks/plan", {"project": "shop", "plan": "a" * 100_001}, "/plan"),
        ("checks/plan", {"project": "shop", "plan": PLAN, "depth": 2}, "/depth"),
        ("checks/diff", {"project": "shop", "diff": "a letter"}, "/diff"),
        ("checks/diff", {"project": "shop", "diff": FILES}, "/diff"),
        ("checks/diff", {"project": "shop", "diff": "+" * 1_000_001}, "/diff"),
    )
    for path, body, pointer in sent:
        refused = api.post(path, body)
        assert refused.status_code == 422, refused.content
        assert [one["pointer"] for one in refused.json()["errors"]] == [pointer]
        assert refused.json()["hint"]
