"""Plans and diffs held against what is known: what warns, what is silent, who is told what."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import NotFound
from memory.checks import actions
from memory.checks.actions import Check, check_diff, check_plan
from memory.index.actions.maintenance import merge_access
from memory.index.queries import sync_filters
from memory.records.models import Memory, MemoryLink
from memory.records.queries.views import MemoryView
from memory.sessions import counter_rows
from memory.sessions.counters import Count, Kind
from memory.sessions.models import GivenOut
from memory.taxonomy import LinkKind
from teams.actions import create_project, pause
from teams.models import Project
from tests.support import memories

TRIED = "Caching prices in the browser with localStorage failed: shoppers saw stale prices."
PLAN = "1. Measure first.\n2. Cache prices in the browser, in localStorage.\n"
DIFF = """\
diff --git a/shop/prices.ts b/shop/prices.ts
--- a/shop/prices.ts
+++ b/shop/prices.ts
@@ -10,1 +10,3 @@ export function price(item) {
+  // cached prices in the browser
+  localStorage.setItem('prices', all)
   return all
"""


def known(caller: Caller, now: datetime, content: str = TRIED, **given: Any) -> MemoryView:
    """Store something that may warn."""
    made = {"project": "store", "type": "dead_end", "related_files": ("shop/prices.ts",), **given}
    return memories.stored(caller, now, content, **made)


def of_plan(caller: Caller, now: datetime, plan: str = PLAN) -> Check:
    """Check a plan in the project."""
    return check_plan(caller=caller, project="store", plan=plan, now=now)


def of_diff(caller: Caller, now: datetime, diff: str = DIFF) -> Check:
    """Check a diff in the project."""
    return check_diff(caller=caller, project="store", diff=diff, now=now)


def test_a_missing_file_calls_for_caution(caller: Caller, store: str, now: datetime) -> None:
    both = ("shop/prices.ts", "shop/mail.html")
    known(caller, now, "The mail repeats the format of prices; change it too.",
          type="causal_dependency", related_files=both)  # fmt: skip

    alone = of_diff(caller, now)
    whole = of_diff(caller, now, DIFF + DIFF.replace("prices.ts", "mail.html"))

    assert (alone.verdict, alone.findings[0].missing) == ("caution", ("shop/mail.html",))
    assert (whole.verdict, whole.findings) == ("clear", ())


def test_what_may_not_be_true_yet_is_no_evidence(caller: Caller, store: str, now: datetime) -> None:
    memory = known(caller, now)
    usual = {"needs_review": False, "taint_reason": "", "stale_at": None, "status": "active"}

    for doubt in (
        {"needs_review": True},
        {"taint_reason": "web: example.org"},
        {"stale_at": now},
        {"status": "archived"},
    ):
        with tenancy.unit():
            Memory.objects.filter(pk=memory.id).update(**{**usual, **doubt})
            sync_filters(memory_ids=(memory.id,))
        assert (of_plan(caller, now).findings, of_diff(caller, now).findings) == ((), ()), doubt


def test_contradicted_memories_stop_nothing(caller: Caller, store: str, now: datetime) -> None:
    one = known(caller, now)
    other = known(caller, now, "Prices in localStorage are fine since they expire.", type="fact")
    with tenancy.unit():
        MemoryLink.objects.create(
            source_id=other.id, target_id=one.id, kind=LinkKind.CONTRADICTS.value
        )

    (found,) = of_plan(caller, now).findings

    assert found.level == "caution"
    assert [side.memory_id for side in found.sides] == [other.id]


def test_other_projects_and_those_of_no_credential_are_no_evidence(
    caller: Caller, store: str, now: datetime
) -> None:
    other = create_project(caller=caller, slug="other", name="Other", now=now)
    known(caller, now, project="other")

    assert (of_plan(caller, now).findings, of_diff(caller, now).findings) == ((), ())
    with pytest.raises(NotFound):
        of_plan(replace(caller, bound_projects=(other.id,)), now + timedelta(minutes=1))


def test_a_plan_that_says_no_is_clear_and_a_paused_project_says_so(
    caller: Caller, store: str, now: datetime
) -> None:
    known(caller, now)
    no = of_plan(caller, now, "Do not cache prices in the browser; ask the server each time.")
    assert no.verdict == "clear"
    pause(caller=caller, ref="store", paused=True, token_id=None)

    check = of_plan(caller, now)

    assert (check.verdict, check.findings, check.degraded) == ("clear", (), ("paused",))


def test_what_was_shown_is_noted(caller: Caller, store: str, now: datetime) -> None:
    memory = known(caller, now)
    silent = known(caller, now, "Redis is slow on Mondays.", related_files=())

    of_plan(caller, now)

    merge_access()
    with tenancy.unit():
        told = set(GivenOut.objects.values_list("memory_id", flat=True))
    assert memory.id in told
    assert silent.id not in told


def test_a_large_diff_is_answered_and_what_is_not_looked_at_is_told(
    caller: Caller, store: str, now: datetime
) -> None:
    known(caller, now)
    many = "".join(DIFF.replace("prices.ts", f"prices{n}.ts") for n in range(249))

    head, _, place = DIFF.partition("@@")
    hunks = "".join(f"@@ -{n},1 +{n},2 @@\n+a\n b\n" for n in range(1, 502))

    check = of_diff(caller, now, many + DIFF)
    late = of_diff(caller, now, f"{head}{hunks}@@{place}")
    soon = of_diff(caller, now, DIFF)

    assert check.files == 250
    assert {"not_all_searched", "not_all_files"} <= set(check.degraded)
    assert (late.parts, late.verdict) == (500, "clear")
    assert "not_all_parts" in late.degraded
    assert "not_all_parts" not in soon.degraded


@pytest.mark.parametrize(("lines", "spaces"), [(0, 980), (8, 772)])
def test_a_secret_that_would_be_cut_in_half_is_known_for_what_it_is(
    caller: Caller, store: str, now: datetime, lines: int, spaces: int
) -> None:
    secret = "ghp_" + "x7Kq2mVb9Lr4Tz8Wc1Yd6Nf3Hs5Jg0Pa7QeR"
    body = f"+{'a ' * 450}\n" * lines + f"+{' ' * spaces}{secret}\n"

    check = of_diff(caller, now, f"--- a/x.ts\n+++ b/x.ts\n@@ -0,0 +1,{lines + 1} @@\n{body}")

    assert "secret_left_out" in check.degraded


def test_pairs_are_summed_over_those_one_sees_and_rare_ones_hide_none(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    assert caller.user_id is not None
    assert member_caller.user_id is not None
    with tenancy.unit():
        project_id = Project.objects.get(slug=store).id
        rare = [_pair(f"shop/a{n:04}.ts", project_id) for n in range(actions.PAIRS_MOST + 1)]
        counter_rows.add(counts=rare, now=now)
        for audience in (project_id, caller.user_id, member_caller.user_id):
            _count(audience, project_id, now, sessions=3)

    for who in (caller, member_caller):
        check = of_diff(who, now)
        (tie,) = check.ties
        assert (check.verdict, tie.file, tie.other) == ("clear", "shop/prices.ts", "shop/mail.html")
        assert (tie.sessions, tie.share) == (6, 1.0)


def _pair(first: str, project_id: Any) -> Count:
    """Return that one session touched a file together with the prices."""
    return Count(
        kind=Kind.EDGE,
        audience=project_id,
        project_id=project_id,
        key=f"{first}\tshop/prices.ts",
        counts={"sessions": 1},
        notes={"first": first, "second": "shop/prices.ts"},
    )


def _count(audience: Any, project_id: Any, now: datetime, sessions: int = 6) -> None:
    """Count how often the mail and the prices were touched together."""
    pair = {"first": "shop/mail.html", "second": "shop/prices.ts"}
    place = {"audience": audience, "project_id": project_id}
    counts = {"sessions": sessions, "meetings": sessions, "forward": 3, "milliseconds": 1}
    key = "\t".join(pair.values())
    edge = Count(kind=Kind.EDGE, **place, key=key, counts=counts, notes=pair)
    touched = {"sessions": sessions, "reads": 6, "edits": 6}
    files = [
        Count(kind=Kind.FILE, **place, key=path, counts=touched, notes={"path": path})
        for path in pair.values()
    ]
    counter_rows.add(counts=[edge, *files], now=now)
