"""Findings meet a part by their own words, anchored; nothing else is one."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar
from uuid import UUID

import pytest

from memory.checks import check_findings
from memory.checks import work as checked_work
from memory.checks.check_findings import CheckedMemory, CheckJudgment
from memory.checks.work import WorkPart
from memory.taxonomy import MemoryType

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
    relevant = {known.id: frozenset(range(len(work)))} if is_relevant else {}
    return check_findings.judge(parts=work, memories=(known,), relevant=relevant)


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

    judged = check_findings.judge(parts=_changes("a.py", "+x = 1"), memories=known, relevant={})

    assert (judged.verdict, len(judged.findings)) == ("clear", check_findings.NOTES_MOST)
    assert judged.left_out == 39 - check_findings.NOTES_MOST


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
