"""What an ended session has shown: promoted once, counted once, told; nothing without its end."""

import json
from typing import Any, Final

import pytest
from django.db import IntegrityError, connection

from accounts import tenancy
from accounts.models import Job
from memory.injection.actions import delivery_log
from memory.observer.actions.finalize import finalize
from memory.observer.actions.session_findings import promote_piece
from memory.records.models import Memory
from memory.records.queries.views import to_view
from memory.review.actions.verdicts import keep
from memory.sessions.actions import append_events as appending
from memory.sessions.actions.lifecycle import IDLE_MINUTES, LONGEST_HOURS, end_idle
from memory.sessions.counters import Kind
from memory.sessions.models import GivenOut, Statistic
from teams.actions import change_project
from tests.support import vendors
from tests.support.agent_runs import STREAM, Run, Shop, counted, later, promoted, run_jobs
from tests.support.stories import Story
from tests.support.vendor_server import Fault, Vendor

FETCH: Final = {
    "sequence": 1, "kind": "tool_call", "name": "WebFetch",
    "args": {"url": "https://evil.example/page"},
}  # fmt: skip
SIX = ("parse", "store", "read", "show", "test", "tell")
PRICES: Final = "src/shop/prices.py"
CART: Final = "src/shop/cart.py"


def altered(how: str) -> None:
    """Change what the table of sessions takes."""
    with connection.as_owner(), tenancy.unit(), connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE memory_agentsession {how}")


def set_bound(shop: Shop, bound: float) -> None:
    """Set from which likeness on the project knows a signal already."""
    changes = {"novelty_cosine": bound}
    change_project(caller=shop.owner, ref=shop.slug, changes=changes, if_version=None)


def shown_in(run: Run) -> set[int]:
    """Return in how many sessions what one has shown was seen."""
    return {one["sessions"] for one in run.observed["seen"]}


def working(shop: Shop, **new: Any) -> Run:
    """Open a build, and do all of its first subtask."""
    run = shop.opened(cwd="/home/ana/shop", **{"type": "build", "plan": SIX, **new})
    run.does(*(one for one in STREAM if one["kind"] != "session_complete"))
    return run


def report(sequence: int = 100, outcome: str = "success") -> dict[str, Any]:
    """Return what QA says."""
    text = "All is well."
    return {"sequence": sequence, "kind": "qa_report", "outcome": outcome, "text": text}


def call(sequence: int, tool: str, path: str) -> dict[str, Any]:
    """Return the event of a call."""
    args = {"file_path": f"/home/ana/shop/{path}", "old_string": "a", "new_string": str(sequence)}
    return {"sequence": sequence, "kind": "tool_call", "name": tool, "args": args}


def works(run: Run) -> set[str]:
    """Read one file and edit another, and end; return the files that are counted."""
    run.does(call(10, "Read", PRICES), call(12, "Edit", CART))
    run.finalized()
    return set(counted(Kind.FILE))


def test_a_real_stream_becomes_memories_with_evidence(shop: Shop) -> None:
    run = shop.ran()

    found, row, told = promoted(), run.row, run.observed
    assert [one.type for one in found] == ["error_pattern", "dead_end"]
    assert found[0].content.endswith("`git push --set-upstream origin <branch>` worked.")
    assert all(one.needs_review and one.session_id == run.id for one in found)
    assert all(one.audience == row.audience and one.scope == "personal" for one in found)
    assert found[0].source_uri.startswith(f"session:{run.id}#error_retry-")
    assert found[1].attributes["approach"] == "Taking the discount in the cart"
    assert told["signals"] == {
        "co_access": 1, "error_retry": 2, "file_access": 2, "self_correction": 1,
    }  # fmt: skip
    assert told["dropped"] == {"only_strengthens": 5}
    assert [one["type"] for one in told["promoted"]] == ["error_pattern", "dead_end"]
    assert told["promoted"][0]["evidence"][-1]["sequence"] == 26
    assert told["phrasing"] == {"phrased": 0, "dropped": {}, "degraded": "no_model"}
    assert (told["outcome"], told["counts"]["applied"]) == ("success", len(STREAM))


KNOWN = (  # what the stream shows, as it is stored
    "`git push` fails with “fatal: The current branch <branch> has no upstream branch”: `git push "
    "--set-upstream origin <branch>` worked.",
    "For “Make the cart total include the discount of a voucher, and keep the tests green”, Taking "
    "the discount in the cart did not work. Pricing already imports cart; the voucher is asked "
    "instead.",
)


@pytest.mark.parametrize(("bound", "kept", "known"), [(0.999, 2, 0), (0.5, 0, 2)])
def test_what_is_novel_is_up_to_a_project(shop: Shop, bound: float, kept: int, known: int) -> None:
    for said in KNOWN:
        shop.remember(f"{said} Everybody here has met this at least once.")
    set_bound(shop, bound)

    run = shop.ran()

    assert (len(promoted()), run.observed["dropped"].get("known", 0)) == (kept, known)


def test_the_same_signal_is_novel_in_no_project(shop: Shop) -> None:
    set_bound(shop, 1.0)
    shop.ran()

    assert shop.at(days=1).ran().observed["dropped"]["known"] == 2


@pytest.mark.django_db(transaction=True)
def test_what_fails_in_the_end_has_had_no_effect(shop: Shop) -> None:
    run = shop.opened(cwd="/home/ana/shop")
    run.does(*STREAM)
    run.ends()

    altered("ADD CONSTRAINT never CHECK (finalized_at IS NULL)")
    with pytest.raises(IntegrityError):
        finalize(session_id=run.id, now=run.now)
    altered("DROP CONSTRAINT never")

    assert (promoted(), counted(Kind.FILE)) == ([], {})
    assert finalize(session_id=run.id, now=run.now)["observed_added"] == 2
    assert len(promoted()) == 2


def test_a_session_that_ends_again_promotes_no_more(shop: Shop) -> None:
    run, story = shop.opened(), Story()
    for failed, text, worked in (
        ("git push", "fatal: The branch has no upstream.", "git push -u origin x"),
        ("terraform apply", "Error: the state is locked.", "terraform apply --lock=false"),
        ("docker build .", "ERROR: the base image is stale.", "docker build --pull ."),
        ("cargo build", "error: the lock file needs an update", "cargo build --frozen"),
        ("npm ci", "npm error ERESOLVE peer react", "npm ci --legacy-peer-deps"),
        ("rsync site host", "rsync: permission denied", "rsync --chmod=F644 site host"),
    ):
        before = len(story.rows)
        run.does(*story.fails(failed, text).run(worked).rows[before:])
        run.finalized()

    assert len(promoted()) == 5


def test_nothing_is_decided_before_a_session_ends_and_an_idle_one_is_by_its_job(shop: Shop) -> None:
    left = shop.ran(memory_eligible=False)
    run = shop.opened(cwd="/home/ana/shop")
    run.does(*STREAM)

    early = finalize(session_id=run.id, now=run.now)
    before = (promoted(), counted(Kind.FILE), left.row.finalized_at)
    end_idle(now=shop.at(minutes=IDLE_MINUTES + 1).now)
    run_jobs()

    assert (early, before) == ({}, ([], {}, None))
    assert len(promoted()) == 2


def test_a_session_busy_day_and_night_is_decided_about_once_a_day(shop: Shop) -> None:
    run = shop.opened(cwd="/home/ana/shop")
    run.does(*STREAM)
    run.now = shop.at(hours=LONGEST_HOURS, minutes=1).now
    run.does({**STREAM[1], "sequence": 100})

    first = end_idle(now=run.now)
    run_jobs()
    found = len(promoted())
    run.does({**STREAM[1], "sequence": 102})

    assert (first, end_idle(now=run.now), found, run.row.state) == (1, 0, 2, "open")


def test_what_came_after_outside_content_is_tainted_until_a_person_has_kept_it(shop: Shop) -> None:
    run = shop.ran(FETCH, *later(STREAM, 1))

    found = promoted()
    assert {one.taint_reason for one in found} == {"web: evil.example"}
    assert all(one.needs_review for one in found)
    assert run.observed["tainted_by"] == "web: evil.example"
    assert counted(Kind.SIGNAL) == {"external_reference:evil.example": {"sessions": 1}}
    with tenancy.unit():
        before = to_view(found[0], now=shop.now)

    kept = keep(caller=shop.member, memory_id=found[0].id, now=shop.now).memory

    assert before.effective_confidence == pytest.approx(found[0].confidence * 0.7)
    assert kept.confidence >= found[0].confidence > before.effective_confidence
    assert kept.effective_confidence == pytest.approx(kept.confidence)


def test_a_checkpoint_decides_nothing(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(appending, "EVERY", 5)
    run = shop.opened(cwd="/home/ana/shop")
    for start in range(0, len(STREAM), 4):
        run.does(*STREAM[start : start + 4])
        run_jobs()

    run.finalized()

    assert run.observed["signals"]["self_correction"] == 1
    assert run.observed["early"][0]["kind"] == "self_correction"
    assert len(promoted()) == 2


def test_sessions_of_a_person_count_together_and_say_nothing_in_a_shared_one(shop: Shop) -> None:
    for day in range(3):
        shop.at(days=day).ran()
    before = {one.id: one.type for one in promoted()}
    sums = counted(Kind.FILE)[CART], counted(Kind.EDGE)[f"{CART}\tsrc/shop/vouchers.py"]

    run = shop.ran(by=shop.program, shared=True)

    new = [one for one in promoted() if one.id not in before]
    assert set(before.values()) == {"error_pattern", "dead_end"}
    assert [one["sessions"] for one in sums] == [3, 3]
    assert {one.type for one in new} == {"error_pattern", "dead_end"}  # one shows as much
    assert shown_in(run) == {1}


@pytest.mark.parametrize(("is_shared", "sessions"), [(True, 2), (False, 1)])
def test_sessions_count_where_they_are_shared(shop: Shop, is_shared: bool, sessions: int) -> None:
    shop.ran(by=shop.program, shared=is_shared)
    shop.ran(project=None)

    assert shown_in(shop.ran()) == {sessions}


def test_a_validated_subtask_is_promoted_by_the_look_it_queues_and_never_again(shop: Shop) -> None:
    run = working(shop)
    before = promote_piece(session_id=run.id, now=run.now)
    Job.objects.all().delete()
    run.does(report())

    run_jobs()
    again = promote_piece(session_id=run.id, now=run.now)

    assert (before, again, len(promoted())) == ({}, {}, 2)
    assert all(one.needs_review for one in promoted())
    assert run.row.state == "open"

    run.finalized()

    assert len(promoted()) == len(run.observed["promoted"]) == 2
    assert run.observed["dropped"]["taken_before"] == 2
    assert run.observed["piece"] == 100  # what goes on has used up what it had


@pytest.mark.parametrize(
    ("plan", "outcome", "kind"),
    [(SIX[:5], "success", "build"), (SIX, "failure", "build"), (SIX, "success", "insights")],
)
def test_other_work_waits(shop: Shop, plan: tuple[str, ...], outcome: str, kind: str) -> None:
    run = working(shop, plan=plan)
    run.update(type=kind)
    run.does(report(outcome=outcome))

    assert promote_piece(session_id=run.id, now=run.now) == {}
    assert promoted() == []


def test_a_read_that_a_plan_named_is_in_no_sum_and_an_edit_is(shop: Shop) -> None:
    run = shop.opened(cwd="/home/ana/shop")
    with tenancy.unit():
        delivery_log.record_suggested_files(session=run.row, paths=(PRICES, CART))

    first = works(run)
    tools = run.observed["tools"]
    run.now = shop.at(hours=1).now
    run.does(call(14, "Read", PRICES))
    run.finalized()

    assert (first, tools) == ({CART}, 2)  # what it did is told as it was
    assert set(counted(Kind.FILE)) == {CART}
    with tenancy.unit():
        assert not Memory.objects.filter(type="prefetch_pattern").exists()


def test_files_of_a_memory_that_was_given_are_suggested_at_once(shop: Shop) -> None:
    known = shop.remember(by=shop.agent, scope="personal", related_files=(PRICES,))
    run = shop.opened(cwd="/home/ana/shop")
    given = {"memory_id": known.id, "at": shop.now, "session_id": run.id}
    with tenancy.unit():
        for name, after in (("a", 7), ("", 3), ("b", 9), ("c", None)):
            GivenOut.objects.create(agent=name, after_event=after, **given)
        found = delivery_log.suggested_files(session=run.row)

    assert found == {PRICES: 3}
    assert works(run) == {CART}


LATER = "Rounding the sum in the till: this approach won't work for receipts of two pages."


def says(vendor: Vendor, *texts: str) -> None:
    """Let the model put the signals into these words, in their order."""
    told = [{"signal": number, "text": text} for number, text in enumerate(texts, 1)]
    vendor.answers["phrases"] = json.dumps({"phrases": told})


def phrasing(run: Run) -> Any:
    """Return what is told of the phrasing."""
    return run.observed["phrasing"]


def shorter(shop: Shop) -> str:
    """Return what the template says of the surest signal, with its first sentence cut short."""
    shop.ran(project=None, external_id="before")
    plain = promoted()[0].content
    return plain.replace("fatal: The current", "The current")


def test_a_model_puts_what_is_kept_into_words_in_one_call(vendor: Vendor, shop: Shop) -> None:
    words = shorter(shop)
    vendor.asked.clear()
    says(vendor, words)

    run = shop.ran(models_agreed=True)

    row = run.row
    with tenancy.unit():
        found = Memory.objects.get(session_id=run.id, type="error_pattern")
        booked = Statistic.objects.get(kind="model_use", project_id=row.project_id)
    assert (found.content, found.needs_review) == (words, True)
    assert (len(vendor.asked), row.result["calls"], booked.counts["calls"]) == (1, 1, 1)
    assert phrasing(run) == {"phrased": 1, "dropped": {}, "degraded": ""}


def test_the_template_speaks_where_the_model_fails(vendor: Vendor, shop: Shop) -> None:
    vendor.script = [Fault.GARBAGE]

    run = shop.ran(models_agreed=True)

    assert promoted()[0].content.startswith("`git push` fails")
    assert phrasing(run) == {"phrased": 0, "dropped": {}, "degraded": "model_failed"}
    with tenancy.unit():
        booked = Statistic.objects.get(kind="model_use").counts
    assert (booked["calls"], booked["fallbacks"]) == (1, 1)


def test_invented_words_are_dropped_and_counted(vendor: Vendor, shop: Shop) -> None:
    says(vendor, "Always run `make deploy` 3 times after touching src/shop/prices.py.")

    run = shop.ran(models_agreed=True)

    assert promoted()[0].content.startswith("`git push` fails")
    assert sum(phrasing(run)["dropped"].values()) == 1


@pytest.mark.parametrize(
    ("is_agreed", "degraded"), [(True, "session_calls_spent"), (False, "models_not_agreed")]
)
def test_a_session_without_calls_or_without_consent_is_shown_to_no_model(
    vendor: Vendor, shop: Shop, is_agreed: bool, degraded: str
) -> None:
    if is_agreed:
        none = {"max_llm_calls_per_session": 0}
        change_project(caller=shop.owner, ref=shop.slug, changes=none, if_version=None)
    else:
        vendors.chat_at(url=vendors.by_its_name(vendor=vendor))

    run = shop.ran(models_agreed=is_agreed)

    assert (vendor.asked, phrasing(run)["degraded"]) == ([], degraded)


def test_a_session_that_goes_on_after_its_end_is_phrased_once(vendor: Vendor, shop: Shop) -> None:
    run = shop.opened(cwd="/home/ana/shop", models_agreed=True)
    for part in (STREAM[:18], STREAM[18:]):
        run.does(*part)
        says(vendor)
        run.finalized()

    assert len(vendor.asked) == 1
    assert phrasing(run)["degraded"] == "phrased_before"
    assert run.row.result["phrasing_calls"] == 1


def test_the_pieces_of_a_long_build_leave_the_call_to_its_end(vendor: Vendor, shop: Shop) -> None:
    run = working(shop, models_agreed=True)
    run.does(report())
    promote_piece(session_id=run.id, now=run.now)
    before = len(vendor.asked)
    run.does({"sequence": 101, "kind": "reasoning", "step": 9, "text": LATER}, report(102))
    says(vendor)

    run.finalized()

    assert (before, len(vendor.asked)) == (0, 1)
    assert LATER in json.dumps(vendor.asked)
    assert len(promoted()) == 3


def test_a_signal_is_known_in_other_words(vendor: Vendor, shop: Shop) -> None:
    says(vendor, shorter(shop))
    shop.ran(models_agreed=True)

    run = shop.ran(models_agreed=True, external_id="again")

    assert run.observed["dropped"]["known"] == 2
    with tenancy.unit():
        new = Memory.objects.filter(session_id=run.id)
        assert not new.filter(type__in=("gotcha", "dead_end")).exists()
