"""The index of a project's code: only what changed travels, what is gone goes, all of it heals."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from django.db.models import F
from django.db.models.functions import Now

from accounts import jobs, tenancy
from accounts.caller import Caller
from accounts.errors import RateLimited
from accounts.jobs import PermanentFailure
from accounts.models import Job
from graph.errors import IndexRunning
from graph.index import parser_process
from graph.index import resolve_code as resolving
from graph.index import take_files as taking
from graph.index.queries import State, code_index, symbols
from graph.index.resolve_code import resolve_code
from graph.index.take_files import Sent, take_files
from graph.models import Edge, Node
from teams.models import AuditEntry, Change, Project
from tests.support import coding, work
from tests.support.coding import CART, FILES, SHOP, announce, digest, index, resolve, send

pytestmark = pytest.mark.usefixtures("shop")

CHANGED = CART + "\n\ndef rebate(lines):\n    return total(lines) / 10\n"


def test_code_is_sent_read_and_joined(caller: Caller, now: datetime) -> None:
    index(caller, now)

    view = code_index(caller=caller, ref="shop")
    assert (view.state, view.files_done, view.files_total) == (State.DONE, 2, 2)
    assert view.languages == {"python": 2}
    assert view.indexed_at is not None
    assert view.figures["symbols"] == 3
    assert ("Shop.checkout", "calls", "total") in _edges()


def test_what_a_file_defines_is_told_by_line(caller: Caller, now: datetime) -> None:
    index(caller, now)

    file, found = symbols(caller=caller, ref="shop", path="shop/shop.py")

    assert (file.language, file.lines, file.symbols, file.hash) == ("python", 6, 2, digest(SHOP))
    assert [(one.kind, one.qualified, one.first_line, one.last_line) for one in found] == [
        ("class", "Shop", 4, 6),
        ("method", "Shop.checkout", 5, 6),
    ]


def test_the_second_run_asks_for_nothing(caller: Caller, now: datetime) -> None:
    index(caller, now)
    before = _rows()

    told = announce(caller, now)

    assert (told.missing, told.gone, told.kept, told.job_id) == ((), 0, 2, None)
    assert _rows() == before


def test_of_a_changed_file_alone_the_text_is_asked_for(caller: Caller, now: datetime) -> None:
    index(caller, now)
    before = _ids()
    changed = {**FILES, "shop/cart.py": CHANGED}

    told = announce(caller, now, changed)

    assert (told.missing, told.gone, told.kept) == (("shop/cart.py",), 0, 1)
    assert code_index(caller=caller, ref="shop").state is State.RECEIVING
    assert symbols(caller=caller, ref="shop", path="shop/cart.py")[1] == ()
    send(caller, now, told, changed)
    resolve()
    assert ("rebate", "calls", "total") in _edges()
    assert ("Shop.checkout", "calls", "total") in _edges()
    assert {name: _ids()[name] for name in before} == before


def test_a_changed_file_that_is_as_before_again_need_not_come(
    caller: Caller, now: datetime
) -> None:
    index(caller, now)
    before = _edges()
    announce(caller, now, {**FILES, "shop/cart.py": CHANGED})

    told = announce(caller, now)
    resolve()

    assert told.missing == ()
    assert code_index(caller=caller, ref="shop").state is State.DONE
    assert _edges() == before


def test_with_a_file_goes_what_it_defined(caller: Caller, now: datetime) -> None:
    index(caller, now)

    told = announce(caller, now, {"shop/shop.py": SHOP})

    assert (told.missing, told.gone, told.kept) == ((), 1, 1)
    assert "total" not in _ids()
    assert not [edge for edge in _edges() if edge[2] == "total"]
    resolve()
    with tenancy.unit():
        calls = Edge.objects.get(type="calls", from_node__qualified="Shop.checkout")
    assert (calls.to_node_id, calls.to_text) == (None, "total")
    assert calls.confidence < 1


def test_a_file_goes_whose_number_another_names(caller: Caller, now: datetime) -> None:
    index(caller, now)
    with tenancy.unit():
        gone = Node.objects.get(qualified="total")
        edge = Edge.objects.get(from_node__qualified="Shop.checkout", to_node=gone, type="calls")
        edge.pk, edge.to_node, edge.to_text = None, None, str(gone.pk)
        edge.save(force_insert=True)

    told = announce(caller, now, {"shop/shop.py": SHOP})
    resolve()

    assert told.gone == 1
    with tenancy.unit():
        calls = Edge.objects.filter(type="calls", from_node__qualified="Shop.checkout")
        assert list(calls.values_list("to_node", "to_text")) == [(None, "total")]


def test_an_index_without_files_is_empty(caller: Caller, now: datetime) -> None:
    index(caller, now)

    announce(caller, now, {})
    resolve()

    view = code_index(caller=caller, ref="shop")
    assert (view.state, view.files_total) == (State.EMPTY, 0)
    assert _ids().keys() == {""}
    with tenancy.unit():
        assert not Edge.objects.exists()


def test_nothing_of_a_text_is_kept(caller: Caller, now: datetime) -> None:
    told = announce(caller, now, {"a.py": "x = 'the third stone'  # under the bridge\n"})

    send(caller, now, told, {"a.py": "x = 'the third stone'  # under the bridge\n"})

    with tenancy.unit():
        kept = repr(list(Node.objects.values())) + repr(list(Edge.objects.values()))
        kept += repr(list(AuditEntry.objects.values())) + repr(list(Change.objects.values()))
    kept += repr(list(Job.objects.values()))
    assert "stone" not in kept
    assert "bridge" not in kept


def test_the_files_of_an_older_manifest_are_not_taken(caller: Caller, now: datetime) -> None:
    first = announce(caller, now)
    announce(caller, now, {**FILES, "shop/cart.py": CHANGED})

    with pytest.raises(IndexRunning, match="Another manifest"):
        send(caller, now, first)

    assert code_index(caller=caller, ref="shop").files_done == 0


def test_a_file_that_is_sent_twice_is_known(caller: Caller, now: datetime) -> None:
    told = announce(caller, now)
    send(caller, now, told)

    again = send(caller, now, told)

    assert (again.indexed, again.known) == (0, 2)


def test_files_whose_turn_did_not_come_stay_missing_and_are_told(
    caller: Caller, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = announce(caller, now)
    with monkeypatch.context() as patch:
        patch.setattr(taking, "SECONDS", 0.0)
        late = send(caller, now, told)

    assert (late.indexed, late.known, late.waiting) == (0, 0, tuple(FILES))
    assert late.view.state is State.RECEIVING
    again = send(caller, now, told)
    assert (again.indexed, again.waiting) == (2, ())


@pytest.mark.parametrize(("waited", "begins"), [(20, 30), (580, 20), (900, -300)])
def test_a_file_that_comes_lets_the_edges_wait_but_not_for_ever(
    caller: Caller, now: datetime, waited: int, begins: int
) -> None:
    files = {**FILES, "shop/more.py": "def more():\n    return 1\n"}
    told = announce(caller, now, files)
    since = Now() - timedelta(seconds=waited)
    Job.objects.filter(name="graph.resolve").update(created_at=since, run_after=since)

    again = send(caller, now, replace(told, missing=("shop/cart.py",)))

    left = Job.objects.filter(name="graph.resolve").annotate(left=F("run_after") - Now())
    assert again.job_id is None
    assert [round(job.left.total_seconds(), -1) for job in left] == [begins]


def test_as_many_calls_as_may_are_read_at_a_time(caller: Caller, now: datetime) -> None:
    told = announce(caller, now)

    with (
        parser_process.READING.hold(),
        parser_process.READING.hold(),
        pytest.raises(RateLimited, match="2 calls"),
    ):
        send(caller, now, told)

    assert send(caller, now, told).indexed == 2


def test_an_index_that_was_cut_off_goes_on_with_what_is_missing(
    caller: Caller, now: datetime
) -> None:
    told = announce(caller, now)
    take_files(
        caller=caller,
        ref="shop",
        run=told.run,
        files=(Sent(path="shop/cart.py", hash=digest(CART), content=CART.encode()),),
        now=now,
    )

    again = announce(caller, now)

    assert again.missing == ("shop/shop.py",)
    assert code_index(caller=caller, ref="shop").files_done == 1


def test_edges_that_were_never_made_are_made_by_the_next_run(caller: Caller, now: datetime) -> None:
    send(caller, now, announce(caller, now))
    Job.objects.filter(name=coding.JOB).delete()

    told = announce(caller, now)

    assert told.missing == ()
    assert told.job_id is not None
    resolve()
    assert ("Shop.checkout", "calls", "total") in _edges()
    assert code_index(caller=caller, ref="shop").state is State.DONE


def test_edges_that_are_made_are_not_made_again(caller: Caller, now: datetime) -> None:
    index(caller, now)
    with tenancy.unit():
        (project,) = Project.objects.all()
        Edge.objects.all().delete()

    counts = resolve_code(project_id=project.id, now=now, tell=lambda *_: None)

    assert counts == {"edges": 0}
    assert _edges() == set()


def test_an_index_whose_edges_cannot_be_made_says_why_and_is_tried_again(
    caller: Caller, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = announce(caller, now)
    job = send(caller, now, told).job_id
    with monkeypatch.context() as patch:
        patch.setattr(resolving, "MOST_REFERENCES", 1)
        with pytest.raises(PermanentFailure) as failed:
            resolve()
    jobs.fail(held=work.taken(job), reason=failed.value.reason, permanent=True)

    view = code_index(caller=caller, ref="shop")
    assert (view.state, view.files_done) == (State.FAILED, 2)
    assert view.reason.startswith("The files of the project name each other more than 1 times")
    assert announce(caller, now).view.state is State.RESOLVING
    resolve()
    view = code_index(caller=caller, ref="shop")
    assert (view.state, view.reason) == (State.DONE, "")


def test_edges_are_read_and_written_portion_by_portion(
    caller: Caller, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resolving, "AT_ONCE", 1)

    index(caller, now)

    assert ("Shop.checkout", "calls", "total") in _edges()
    assert ("Shop", "defines", "Shop.checkout") in _edges()


def test_work_that_was_overtaken_writes_nothing(caller: Caller, now: datetime) -> None:
    send(caller, now, announce(caller, now))
    with tenancy.unit():
        (project,) = Project.objects.all()

    counts = resolve_code(
        project_id=project.id,
        now=now,
        tell=lambda *_: announce(caller, now, {"shop/cart.py": CART}) and None,
    )

    assert counts == {"outdated": 1}
    with tenancy.unit():
        assert not Edge.objects.exists()
    assert Job.objects.filter(name=coding.JOB, state="queued").exists()


def test_work_that_is_overtaken_before_its_end_is_queued_anew(
    caller: Caller, now: datetime
) -> None:
    send(caller, now, announce(caller, now))
    with tenancy.unit():
        (project,) = Project.objects.all()

    def overtake(done: int, total: int) -> None:
        if done == 2:
            announce(caller, now, {"shop/cart.py": CART})
            Job.objects.filter(name=coding.JOB).delete()

    counts = resolve_code(project_id=project.id, now=now, tell=overtake)

    assert counts == {"outdated": 1}
    assert Job.objects.filter(name=coding.JOB, state="queued").count() == 1
    resolve()
    assert code_index(caller=caller, ref="shop").state is State.DONE


def test_an_index_whose_sender_died_has_the_edges_of_what_came(
    caller: Caller, now: datetime
) -> None:
    index(caller, now)

    told = announce(caller, now, {**FILES, "shop/late.py": "x = 1\n"})
    resolve()

    assert told.job_id is not None
    view = code_index(caller=caller, ref="shop")
    assert (view.state, view.files_done) == (State.RECEIVING, 2)
    assert ("Shop.checkout", "calls", "total") in _edges()
    assert announce(caller, now, {**FILES, "shop/late.py": "x = 1\n"}).job_id is None


def _edges() -> set[tuple[str, str, str]]:
    """Return the edges between nodes that are not stale."""
    with tenancy.unit():
        found = Edge.objects.filter(stale_at=None, to_node__isnull=False)
        return set(found.values_list("from_node__qualified", "type", "to_node__qualified"))


def _ids() -> dict[str, int]:
    with tenancy.unit():
        return dict(Node.objects.order_by("id").values_list("qualified", "id"))


def _rows() -> list[dict[str, object]]:
    with tenancy.unit():
        nodes = Node.objects.exclude(kind="repository").order_by("id").values()
        return [*nodes, *Edge.objects.order_by("id").values()]
