"""Diffs are read strictly, plans as steps; findings match by their own words."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.errors import InvalidInput
from memory.checks import check_findings
from memory.checks import work as checked_work
from memory.checks.check_findings import CheckedMemory, CheckJudgment
from memory.checks.work import ChangedFile, WorkPart
from memory.taxonomy import MemoryType

PLAIN = """\
--- cart/prices.py\t2026-11-20 10:00:00
+++ cart/prices.py\t2026-11-20 10:01:00
@@ -1,3 +1,4 @@
+from functools import lru_cache
 def price(item):
-    return look_up(item)
+    return round(look_up(item))
 # end
"""
GIT = """\
commit 0123
Author: Ana

    Say --- more
    +++ and less

diff --git a/cart/a b.py b/cart/a b.py
index 1..2 100644
--- a/cart/a b.py
+++ b/cart/a b.py
@@ -10,2 +10,2 @@ def price():
-one
+two
 three
@@ -20,0 +21,2 @@
+four
+five
diff --git a/old.py b/new.py
similarity index 100%
rename from old.py
rename to new.py
diff --git a/gone.py b/gone.py
deleted file mode 100644
index 1..0
--- a/gone.py
+++ /dev/null
@@ -1,2 +0,0 @@
-one
--- two
diff --git a/born.py b/born.py
new file mode 100644
--- /dev/null
+++ b/born.py
@@ -0,0 +1 @@
+one
\\ No newline at end of file
diff --git a/logo.png b/logo.png
new file mode 100644
index 0..1
Binary files /dev/null and b/logo.png differ
diff --git "a/caf\\303\\251 \\"x\\".py" "b/caf\\303\\251 \\"x\\".py"
old mode 100644
new mode 100755
--
2.43.0
"""


def _only(text: str) -> ChangedFile:
    (found,) = checked_work.read_diff(text=text)
    return found


def test_a_diff_has_its_lines_and_git_says_what_becomes_of_each_file() -> None:
    (hunk,) = _only(PLAIN).hunks
    found = checked_work.read_diff(text=GIT)

    assert _only(PLAIN).path == "cart/prices.py"
    assert (hunk.first, hunk.last) == (1, 4)
    assert hunk.added == ("from functools import lru_cache", "    return round(look_up(item))")
    assert hunk.removed == ("    return look_up(item)",)

    paths = ["cart/a b.py", "new.py", "gone.py", "born.py", "logo.png", 'café "x".py']
    assert [one.path for one in found] == paths
    assert found[1].before == "old.py"
    assert [(one.first, one.last) for one in found[0].hunks] == [(10, 11), (21, 22)]
    assert found[2].hunks[0].removed == ("one", "-- two")
    assert found[3].hunks[0].added == ("one",)
    assert checked_work.read_diff(text=GIT.replace("\n", "\r\n")) == found


def test_paths_without_prefixes_are_taken_and_a_line_that_looks_like_a_head_is_text() -> None:
    plain = _only("--- a/x.py\n+++ a/x.py\n@@ -1 +1 @@\n-1\n+2\n")
    found = _only("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n---- a/y\n+++++ b/y\n @@ -1 +1 @@\n")

    assert plain.path == "a/x.py"
    assert found.hunks[0].removed == ("--- a/y",)
    assert found.hunks[0].added == ("++++ b/y",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Please change the cart.", "names no file"),
        ("diff --cc cart.py\n--- a/cart.py\n", "combined diff"),
        ("--- a/x\n+++ b/x\n@@@ -1 -1 +1 @@@\n", "combined diff"),
        ("--- a/x\n+++ b/x\n@@ -1,5 +1,5 @@\n one\n", "line 5"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n+a\n+b\n", "line 5"),
        ("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\nbroken\n", "line 4"),
        ("@@ -1 +1 @@\n-a\n+b\n", "line 1"),
        ("--- a/x\n+++ b/x\n@@ -1 and so on\n", "line 3"),
        ("--- /dev/null\n+++ /dev/null\n", "names no file"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        checked_work.read_diff(text=text)

    assert said in refused.value.detail
    assert refused.value.hint
    assert refused.value.errors[0].pointer == "/diff"


def test_too_many_files_or_hunks_are_refused() -> None:
    files = "".join(f"diff --git a/{n}.py b/{n}.py\nnew file mode 100644\n" for n in range(10_000))
    hunks = "--- a/x\n+++ b/x\n" + "@@ -1 +1 @@\n-a\n+b\n" * 10_001

    with pytest.raises(InvalidInput, match="more than 500 files"):
        checked_work.read_diff(text=files)
    with pytest.raises(InvalidInput, match="more than 10000 hunks"):
        checked_work.read_diff(text=hunks)


_ODD = ("@@ -0,0 +1,999999999 @@", '--- "a/\\777', "+++ ", "\0")
_LINES = st.sampled_from([*GIT.splitlines(), *PLAIN.splitlines(), *_ODD])


def _tried(text: str) -> tuple[ChangedFile, ...]:
    """Read a diff, as none where it is refused; anything else that is raised fails the test."""
    try:
        return checked_work.read_diff(text=text)
    except InvalidInput:
        return ()


@given(
    st.lists(st.one_of(_LINES, st.text(max_size=40)), max_size=40),
    st.integers(min_value=0, max_value=len(GIT)),
)
def test_what_is_odd_or_cut_anywhere_is_read_or_refused(lines: list[str], end: int) -> None:
    assert all(one.path for one in _tried("\n".join(lines)))
    assert len(_tried(GIT[:end])) <= len(checked_work.read_diff(text=GIT))


_WORDS = st.text(alphabet="ab +-@\\", max_size=8)


@given(st.lists(_WORDS, max_size=6), st.lists(_WORDS, max_size=6))
def test_lines_come_back_as_they_were_written(old: list[str], new: list[str]) -> None:
    body = "".join(f"-{one}\n" for one in old) + "".join(f"+{one}\n" for one in new)

    found = _only(f"--- a/x\n+++ b/x\n@@ -1,{len(old)} +1,{len(new)} @@\n{body}")

    assert found.hunks[0].removed == tuple(old)
    assert found.hunks[0].added == tuple(new)


# Plans.


def _texts(text: str) -> list[str]:
    return [one.text for one in checked_work.read_plan(text=text)[0]]


def test_items_headings_and_what_follows_them() -> None:
    plan = (
        "# Faster prices\n\n1. Measure first.\n2) Cache prices\n   in the browser\n"
        "- [ ] Tell everybody\n   * twice\n\nStep 3: Clean up.\n---\nÉtape 4 : finir\n"
    )

    assert _texts(plan) == [
        "Faster prices",
        "Measure first.",
        "Cache prices in the browser",
        "Tell everybody",
        "twice",
        "Clean up.",
        "finir",
    ]


@pytest.mark.parametrize(
    ("plan", "steps"),
    [
        (
            "First we measure. Then we\ncache v1.2 of it. Done!",
            ["First we measure.", "Then we cache v1.2 of it.", "Done!"],
        ),
        (
            "- Run this:\n  ```bash\n  # - not an item\n\n  npm audit fix\n  ```\n- Stop",
            ["Run this: # - not an item npm audit fix", "Stop"],
        ),
        ("# Measure C#, then go ##\n## Cache it\t# # \n", ["Measure C#, then go", "Cache it #"]),
        ("---\n\n***\n1.\n- 42\n", []),
    ],
    ids=["sentences of a paragraph", "code", "closing signs of a heading", "signs alone"],
)
def test_what_is_a_step(plan: str, steps: list[str]) -> None:
    assert _texts(plan) == steps


def test_a_step_knows_its_line_and_those_beyond_the_bound_are_counted() -> None:
    steps, _ = checked_work.read_plan(text="\n\n- one\n- two\n")
    many, left_out = checked_work.read_plan(text="- a step\n" * 100)

    assert [(one.place.step, one.place.first_line) for one in steps] == [(1, 3), (2, 4)]
    assert (len(many), left_out) == (checked_work.STEPS_MOST, 40)


@given(st.text(alphabet=st.sampled_from("ab1.-*#`> \n\t)"), max_size=200))
def test_any_text_has_bounded_steps_in_order(text: str) -> None:
    steps, _ = checked_work.read_plan(text=text)

    assert [one.place.step for one in steps] == list(range(1, len(steps) + 1))
    assert all(one.text.strip() and len(one.text) <= checked_work.STEP_MOST for one in steps)
    assert (lines := [one.place.first_line for one in steps]) == sorted(lines)


@pytest.mark.parametrize(
    "line",
    [
        f"# a{' ' * 99_000}b", f"# a{'#' * 99_000}b", f"# a{' #' * 49_000}b", f"{'- ' * 49_000}x",
        f"- [x] {' ' * 99_000}b", f"step 1{' ' * 99_000}b", ". " * 49_000, "\t" * 99_000 + "b",
    ],
)  # fmt: skip
def test_a_hostile_line_of_full_size_is_read_to_its_end(line: str) -> None:
    steps, _ = checked_work.read_plan(text=f"{line}\n# Next ##  \n")

    assert steps[-1].text == "Next"


ID = UUID(int=1)


def _steps(plan: str) -> tuple[WorkPart, ...]:
    return checked_work.read_plan(text=plan)[0]


def _changes(path: str, *lines: str) -> tuple[WorkPart, ...]:
    old = sum(line.startswith("-") for line in lines)
    head = f"--- a/{path}\n+++ b/{path}\n@@ -{old and 1},{old} +1,{len(lines) - old} @@\n"
    (file,) = checked_work.read_diff(text=head + "\n".join(lines) + "\n")
    return checked_work.of_file(file=file)


def _known(content: str, type: str = "decision", **given: Any) -> CheckedMemory:
    made: dict[str, Any] = {
        "id": ID,
        "type": MemoryType(type),
        "content": content,
        "confidence": 0.8,
    }
    return CheckedMemory(**{**made, **given})


def _judged(
    known: CheckedMemory, work: tuple[WorkPart, ...], *, is_relevant: bool = True
) -> CheckJudgment:
    found = check_findings.Nearness(relevance=0.5, is_relevant=is_relevant)
    near = {known.id: dict.fromkeys(range(len(work)), found)}
    return check_findings.judge(parts=work, memories=(known,), near=near)


@pytest.mark.parametrize(
    ("known", "plan", "verdict", "why"),
    [
        (_known("We tried caching prices in the browser; they went stale.", "dead_end"),
         "Cache prices in the browser", "stop", "tried_before"),
        (_known("Amounts are integers, never floats."),
         "Store amounts as floats", "stop", "decided_against"),
        (_known("Never deploy the shop on Fridays unless a manager agrees."),
         "Deploy the shop on Friday", "stop", "decided_against"),
        (_known("Never deploy the shop on Fridays unless a manager agrees."),
         "Deploy the shop on Friday, when the manager agrees", "clear", "relevant"),
        (_known("Sessions are kept in Redis."),
         "Remove Redis and keep sessions elsewhere", "caution", "takes_away"),
        (_known("Stored sessions are kept for 72 hours.", "requirement"),
         "Keep stored sessions for 24 hours", "caution", "other_value"),
        (_known("Stored sessions are kept for 72 hours.", "requirement"),
         "Keep stored sessions for 72 hours", "clear", "relevant"),
        (_known("Use Postgres for carts because joins matter."),
         "Use Postgres for the carts", "clear", "relevant"),
        (_known("Invalidating over pub/sub failed: messages were lost.", "dead_end"),
         "Poll for changed prices", "clear", "relevant"),
        (_known("Removing the retry queue failed: orders were lost.", "dead_end"),
         "Remove the retry queue", "stop", "tried_before"),
        (_known("Removing the retry queue failed: orders were lost.", "dead_end"),
         "Make the retry queue longer", "clear", "relevant"),
        (_known("Lock rows with lockForUpdate, not lockUpdate."),
         "Lock the rows with lockForUpdate", "clear", "relevant"),
        (_known("Lock rows with lockForUpdate, not lockUpdate."),
         "Lock the rows: order.lockUpdate()", "stop", "decided_against"),
        (_known("Patches that are not signed are no longer accepted."),
         "Send a signed patch", "clear", "relevant"),
        (_known("Existing migrations must not be deleted."),
         "Delete the existing migrations", "stop", "decided_against"),
        (_known("Existing migrations must not be deleted."),
         "Test the existing migrations", "clear", "relevant"),
    ],
)  # fmt: skip
def test_memories_about_a_step(known: CheckedMemory, plan: str, verdict: str, why: str) -> None:
    judged = _judged(known, _steps(plan))

    assert (judged.verdict, [one.why for one in judged.findings]) == (verdict, [why])


def test_a_dead_end_of_the_file_is_met_unless_it_names_only_the_file() -> None:
    pooling = _known("Pooling mails with asyncio failed.", "dead_end", files=("mail/pool.py",))
    changing = _known("x", "dead_end", files=("a/b.py",), approach="changing a/b.py")

    met = _judged(pooling, _changes("mail/pool.py", "+pool_mails(asyncio)"), is_relevant=False)
    judged = _judged(changing, _changes("a/b.py", "+limit = 3"))

    assert (met.verdict, met.findings[0].places[0].file) == ("stop", "mail/pool.py")
    assert (judged.verdict, judged.findings[0].why) == ("clear", "of_the_file")


@pytest.mark.parametrize(
    ("approach", "plan"),
    [
        ("running `pytest -q tests/test_cart.py::test_total`", "Run pytest tests/test_cart.py"),
        ("running npm run test -- cart", "Run npm test for the cart"),
        ("caching the cart tests with tox", "Run the cart tests with tox"),
    ],
)
def test_running_the_tests_is_never_stopped(approach: str, plan: str) -> None:
    content = f"For “cache the loader”, {approach} did not work."

    judged = _judged(_known(content, "dead_end", approach=approach), _steps(plan))

    assert judged.verdict == "clear"


@pytest.mark.parametrize(
    ("plan", "verdict"),
    [
        ("const ids = await redis.keys('cart:*')", "stop"),
        ("Replace redis.keys by a set of ids", "clear"),
        ("Read the cache_keys of a cart", "clear"),
    ],
)
def test_a_name_of_code_that_is_rejected_stops_where_it_is_relevant(
    plan: str, verdict: str
) -> None:
    never = _known("Read carts with SCAN, don't use `KEYS`.", "requirement")

    assert _judged(never, _steps(plan)).verdict == verdict
    assert _judged(never, _steps(plan), is_relevant=False).findings == ()


RIGHT = (
    ("Never return raw SQL errors to clients", "Write the SQL for the new report table"),
    ("No API keys in the repository", "Call the API with a timeout"),
    ("Never log JSON bodies of payment requests", "Return JSON from the health endpoint"),
    ("No PDF files in the repository", "Render the invoice as PDF"),
    ("Use JSON lines instead of CSV for exports", "Import the CSV file of the bank"),
    ("Not every URL needs a trailing slash", "Add the URL of the webhook to settings"),
    ("README.md must not be edited by agents", "Read README.md"),
    ("Don't commit .env files", "Load settings from .env"),
    ("Never mutate state.items", "Render state.items in the list"),
    ("Don't forget to update the OpenAPI schema", "Update the OpenAPI schema"),
    ("This does not affect MAX_RETRIES", "Raise MAX_RETRIES to 5"),
    ("The bug was not in parse_header but in the proxy", "Fix parse_header"),
    ("There is no UserFactory yet", "Write a UserFactory"),
    ("We chose Redis Streams over Kafka for the event bus", "Publish invoices on the event bus"),
    ("Do not replace moment with dayjs", "Replace lodash with remeda"),
)
TRIED_ELSEWHERE = (
    ("Tried caching the API responses in Redis; they went stale",
     "Add an API endpoint for invoices"),
    ("Tried replacing moment with dayjs; time zones broke", "Format dates with dayjs"),
    ("Disabled the query cache; pages took 3 s", "Measure the query cache"),
    ("Tried caching prices in the browser; they went stale",
     "Remove the price cache in the browser"),
)  # fmt: skip
AGAINST = (
    ("Do not replace moment with dayjs", "Replace moment with dayjs"),
    ("We chose Redis Streams over Kafka for events", "Send events over Kafka"),
    ("Don't commit .env files", "Commit the .env file"),
    ("Never call permission_allowed", "Ask permission_allowed(who)"),
)
TRIED_BEFORE = (
    ("Tried replacing moment with dayjs; time zones broke", "Replace moment with dayjs in dates"),
    ("We removed the retry lock from the scheduler; jobs ran twice",
     "Remove the retry lock from the scheduler"),
    ("Disabled the query cache; pages took 3 s", "Disable the query cache"),
    ("Dropping the index on orders.created_at made reports slow",
     "Drop the index on orders.created_at"),
    ("Skipping the warmup step made the first request fail", "Skip the warmup step"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("content", "type", "plan", "verdict"),
    [
        *((content, "requirement", plan, "clear") for content, plan in RIGHT),
        *((content, "dead_end", plan, "clear") for content, plan in TRIED_ELSEWHERE),
        *((content, "requirement", plan, "stop") for content, plan in AGAINST),
        *((content, "dead_end", plan, "stop") for content, plan in TRIED_BEFORE),
    ],
)
def test_a_name_or_a_subject_alone_stops_nothing_and_a_removal_stops_the_same_one(
    content: str, type: str, plan: str, verdict: str
) -> None:
    known = _known(content, type)

    assert _judged(known, _steps(plan)).verdict == verdict
    assert _judged(known, _steps(plan), is_relevant=False).findings == ()


def test_code_that_writes_a_word_in_capitals_is_not_stopped() -> None:
    never = _known("Never log JSON bodies of payment requests", "requirement")

    assert _judged(never, _changes("shop/api.ts", "+ const cart = JSON.parse(body)")).findings == ()


def test_a_text_about_a_change_is_read_as_words() -> None:
    never = _known("Do not use permission_allowed, it is slow.")
    line = "+Never call permission_allowed here"

    assert _judged(never, _changes("docs/rules.md", line)).verdict == "clear"
    assert _judged(never, _changes("shop/rights.py", "+ permission_allowed(who)")).verdict == "stop"


def test_what_may_be_wrong_stops_nothing_and_what_is_not_relevant_says_nothing() -> None:
    for doubt in ({"confidence": 0.4}, {"is_doubtful": True}):
        known = _known("Amounts are integers, never floats.", **doubt)
        assert _judged(known, _steps("Store amounts as floats")).verdict == "caution"
    tried = _known("We tried caching prices in the browser; they went stale.", "dead_end")
    judged = _judged(tried, _steps("Cache prices in the browser"), is_relevant=False)
    assert judged.findings == ()


def test_the_first_of_coupled_files_asks_for_the_others_and_a_folder_is_all_below_it() -> None:
    coupled = _known("B follows A.", "causal_dependency", files=("a.py", "b.py"))
    folder = _known("Prices were cached and went stale.", "gotcha", files=("shop/",))

    first = _judged(coupled, _changes("a.py", "+x = 1"))

    assert (first.verdict, first.findings[0].missing) == ("caution", ("b.py",))
    assert _judged(coupled, _changes("b.py", "+x = 1")).findings == ()
    assert _judged(folder, _changes("shop/x/7.ts", "+ a"), is_relevant=False).findings
    assert not _judged(folder, _changes("api/shop.ts", "+ a"), is_relevant=False).findings


def test_paths_are_compared_by_their_ends() -> None:
    same = (("src/a.py", "a.py"), ("./src/a.py", "src/a.py"), ("src/lib/", "src/lib/a.py"))
    others = (("ba.py", "a.py"), ("src/b.py", "src/a.py"), ("", "a.py"))

    for pairs, is_same in ((same, True), (others, False)):
        for one, other in pairs:
            assert check_findings.is_about(one=one, other=other) is is_same
            assert check_findings.is_about(one=other, other=one) is is_same


def test_more_than_can_be_told_is_counted() -> None:
    known = tuple(
        _known("A trap of this file.", "gotcha", id=UUID(int=n), files=("a.py",))
        for n in range(1, 40)
    )

    judged = check_findings.judge(parts=_changes("a.py", "+x = 1"), memories=known, near={})

    assert (judged.verdict, len(judged.findings)) == ("clear", check_findings.NOTES_MOST)
    assert judged.left_out == 39 - check_findings.NOTES_MOST


def test_notes_about_a_file_come_before_those_of_a_search() -> None:
    trap = _known("A trap.", "gotcha", id=UUID(int=99), files=("a.py",))
    vague = tuple(_known("Carts have prices.", id=UUID(int=n)) for n in range(1, 40))
    found = check_findings.Nearness(relevance=0.9, is_relevant=True)
    near = {one.id: {0: found} for one in vague}

    judged = check_findings.judge(
        parts=_steps("Round prices in a.py"), memories=(*vague, trap), near=near
    )

    assert [one.why for one in judged.findings[:2]] == ["of_the_file", "relevant"]


class _Looked(tuple[str, ...]):
    """Files that count how often they are looked at."""

    __slots__ = ()
    times: ClassVar[int] = 0

    def __iter__(self) -> Iterator[str]:
        _Looked.times += 1
        return super().__iter__()


def test_files_of_a_memory_are_looked_at_once_however_large_the_work_is() -> None:
    work = tuple(part for n in range(200) for part in _changes(f"shop/{n}.ts", "+ const a = 1"))
    _Looked.times = 0

    known = _known("Prices were cached and went stale.", files=_Looked(("shop/7.ts", "api/")))
    judged = _judged(replace(known, type=MemoryType.GOTCHA), work, is_relevant=False)

    (found,) = judged.findings
    assert [one.file for one in found.places] == ["shop/7.ts"]
    assert _Looked.times <= 2
