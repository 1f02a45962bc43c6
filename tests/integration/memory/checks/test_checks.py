"""Plans and diffs held against what is known: what warns, what is silent, who is told what."""

from dataclasses import replace
from datetime import datetime
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
from teams.actions import pause
from teams.models import Project
from tests.support.reviewed import World

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


def known(world: World, content: str = TRIED, **given: Any) -> MemoryView:
    """Store something that may warn."""
    given = {"type": "dead_end", "related_files": ("shop/prices.ts",), **given}
    return world.stored(content, **given)


def of_plan(world: World, plan: str = PLAN, by: Caller | None = None) -> Check:
    """Check a plan in the project."""
    return check_plan(caller=by or world.owner, project="store", plan=plan, now=world.now)


def of_diff(world: World, diff: str = DIFF, by: Caller | None = None) -> Check:
    """Check a diff in the project."""
    return check_diff(caller=by or world.owner, project="store", diff=diff, now=world.now)


def test_a_missing_file_calls_for_caution(world: World) -> None:
    both = ("shop/prices.ts", "shop/mail.html")
    known(world, "The mail repeats the format of prices; change it too.",
          type="causal_dependency", related_files=both)  # fmt: skip

    alone = of_diff(world)
    whole = of_diff(world, DIFF + DIFF.replace("prices.ts", "mail.html"))

    assert (alone.verdict, alone.findings[0].missing) == ("caution", ("shop/mail.html",))
    assert (whole.verdict, whole.findings) == ("clear", ())


def test_what_may_not_be_true_yet_is_no_evidence(world: World) -> None:
    memory = known(world)
    usual = {"needs_review": False, "taint_reason": "", "stale_at": None, "status": "active"}

    for doubt in (
        {"needs_review": True},
        {"taint_reason": "web: example.org"},
        {"stale_at": world.now},
        {"status": "archived"},
    ):
        with tenancy.unit():
            Memory.objects.filter(pk=memory.id).update(**{**usual, **doubt})
            sync_filters(memory_ids=(memory.id,))
        assert (of_plan(world).findings, of_diff(world).findings) == ((), ()), doubt


def test_contradicted_memories_stop_nothing(world: World) -> None:
    one = known(world)
    other = known(world, "Prices in localStorage are fine since they expire.", type="fact")
    with tenancy.unit():
        MemoryLink.objects.create(
            source_id=other.id, target_id=one.id, kind=LinkKind.CONTRADICTS.value
        )

    (found,) = of_plan(world).findings

    assert found.level == "caution"
    assert [side.memory_id for side in found.sides] == [other.id]


def test_other_projects_and_those_of_no_credential_are_no_evidence(world: World) -> None:
    other = world.make_project("other")
    known(world, project="other")

    assert (of_plan(world).findings, of_diff(world).findings) == ((), ())
    with pytest.raises(NotFound):
        of_plan(world, by=replace(world.owner, bound_projects=(other.id,)))


def test_a_plan_that_says_no_is_clear_and_a_paused_project_says_so(world: World) -> None:
    known(world)
    no = of_plan(world, "Do not cache prices in the browser; ask the server each time.")
    assert no.verdict == "clear"
    pause(caller=world.owner, ref="store", paused=True, token_id=None)

    check = of_plan(world)

    assert (check.verdict, check.findings, check.degraded) == ("clear", (), ("paused",))


def test_what_was_shown_is_noted(world: World) -> None:
    memory = known(world)
    silent = known(world, "Redis is slow on Mondays.", related_files=())

    of_plan(world)

    merge_access()
    with tenancy.unit():
        told = set(GivenOut.objects.values_list("memory_id", flat=True))
    assert memory.id in told
    assert silent.id not in told


def test_a_large_diff_is_answered_and_what_is_not_looked_at_is_told(world: World) -> None:
    known(world)
    many = "".join(DIFF.replace("prices.ts", f"prices{n}.ts") for n in range(249))

    head, _, place = DIFF.partition("@@")
    hunks = "".join(f"@@ -{n},1 +{n},2 @@\n+a\n b\n" for n in range(1, 502))

    check = of_diff(world, many + DIFF)
    late = of_diff(world, f"{head}{hunks}@@{place}")
    soon = of_diff(world, DIFF)

    assert check.files == 250
    assert {"not_all_searched", "not_all_files"} <= set(check.degraded)
    assert (late.parts, late.verdict) == (500, "clear")
    assert "not_all_parts" in late.degraded
    assert "not_all_parts" not in soon.degraded


@pytest.mark.parametrize(("lines", "spaces"), [(0, 980), (8, 772)])
def test_a_secret_cut_in_half_is_known(world: World, lines: int, spaces: int) -> None:
    secret = "ghp_" + "x7Kq2mVb9Lr4Tz8Wc1Yd6Nf3Hs5Jg0Pa7QeR"
    body = f"+{'a ' * 450}\n" * lines + f"+{' ' * spaces}{secret}\n"

    check = of_diff(world, f"--- a/x.ts\n+++ b/x.ts\n@@ -0,0 +1,{lines + 1} @@\n{body}")

    assert "secret_left_out" in check.degraded


def test_pairs_are_summed_over_those_one_sees_and_rare_ones_hide_none(world: World) -> None:
    with tenancy.unit():
        project_id = Project.objects.get(slug=world.store).id
        rare = [_pair(f"shop/a{n:04}.ts", project_id) for n in range(actions.PAIRS_MOST + 1)]
        counter_rows.add(counts=rare, now=world.now)
        for audience in (project_id, world.owner.user_id, world.member.user_id):
            _count(audience, project_id, world.now, sessions=3)

    for who in (world.owner, world.member):
        check = of_diff(world, by=who)
        (tie,) = check.ties
        assert (check.verdict, tie.file, tie.other) == ("clear", "shop/prices.ts", "shop/mail.html")
        assert (tie.sessions, tie.share) == (6, 1.0)


def _pair(first: str, project_id: Any) -> Count:
    """Return that one session touched a file together with the prices."""
    return Count(
        kind=Kind.EDGE, audience=project_id, project_id=project_id, key=f"{first}\tshop/prices.ts",
        counts={"sessions": 1}, notes={"first": first, "second": "shop/prices.ts"},
    )  # fmt: skip


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
