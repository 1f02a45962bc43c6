"""The index of a project's code: only what changed travels, what is gone goes, all of it heals.

What it does not take, what it keeps of files, and who sees it.
"""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from django.db.models import F
from django.db.models.functions import Now

from accounts import jobs, tenancy, token_format
from accounts.caller import Caller
from accounts.errors import InvalidInput, NotFound
from accounts.jobs import PermanentFailure
from accounts.models import Job
from graph.code.values import Refused
from graph.errors import IndexRunning, ManifestMismatch
from graph.index import actions as indexing
from graph.index.actions import Sent, resolve_code, take_files
from graph.index.queries import State, code_index, files, symbols
from graph.models import Edge, Node
from teams.actions import create_project
from teams.models import AuditEntry, Change, Project
from tests.support import coding, work
from tests.support.coding import CART, FILES, SHOP, announce, digest, index, resolve, send

pytestmark = pytest.mark.usefixtures("shop")

CHANGED = CART + "\n\ndef rebate(lines):\n    return total(lines) / 10\n"


@pytest.fixture
def shop(caller: Caller, in_organization: tenancy.Tenant, now: datetime) -> str:
    """The slug of a project without code."""
    return create_project(caller=caller, slug="shop", name="Shop", now=now).slug


def test_code_is_sent_read_and_joined_and_the_second_run_asks_for_nothing(
    caller: Caller, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "ROWS_AT_ONCE", 1)
    sent = {**FILES, "logo.py": "\0\1\2"}
    index(caller, now, sent)
    before = _rows()
    told = announce(caller, now, sent)
    view = code_index(caller=caller, ref="shop")
    file, found = symbols(caller=caller, ref="shop", path="shop/shop.py")

    assert (told.missing, told.gone, told.kept, told.job_id) == ((), 0, 3, None)
    assert _rows() == before
    assert (view.state, view.files_done, view.files_total) == (State.DONE, 3, 3)
    assert view.refused == (Refused(path="logo.py", reason="This is not a text file."),)
    assert view.languages == {"python": 3}
    assert view.indexed_at is not None
    assert view.figures["symbols"] == 3
    assert {("Shop.checkout", "calls", "total"), ("Shop", "defines", "Shop.checkout")} <= _edges()
    assert (file.language, file.lines, file.symbols, file.hash) == ("python", 6, 2, digest(SHOP))
    assert [(one.kind, one.qualified, one.first_line, one.last_line) for one in found] == [
        ("class", "Shop", 4, 6),
        ("method", "Shop.checkout", 5, 6),
    ]


def test_of_a_changed_file_alone_the_text_is_asked_for_while_it_is_other(
    caller: Caller, now: datetime
) -> None:
    index(caller, now)
    ids, edges = _ids(), _edges()
    changed = {**FILES, "shop/cart.py": CHANGED}

    told = announce(caller, now, changed)

    assert (told.missing, told.gone, told.kept) == (("shop/cart.py",), 0, 1)
    assert code_index(caller=caller, ref="shop").state is State.RECEIVING
    assert symbols(caller=caller, ref="shop", path="shop/cart.py")[1] == ()
    assert announce(caller, now).missing == ()  # it is again as it was
    resolve()
    assert (code_index(caller=caller, ref="shop").state, _edges()) == (State.DONE, edges)
    send(caller, now, announce(caller, now, changed), changed)
    resolve()
    assert _edges() >= {("rebate", "calls", "total"), ("Shop.checkout", "calls", "total")}
    assert {name: _ids()[name] for name in ids} == ids


def test_with_a_file_goes_what_it_defined_and_without_files_nothing_is_left(
    caller: Caller, now: datetime
) -> None:
    index(caller, now)
    with tenancy.unit():  # a text that is the number of the node that goes
        gone = Node.objects.get(qualified="total")
        edge = Edge.objects.get(from_node__qualified="Shop.checkout", to_node=gone, type="calls")
        edge.pk, edge.to_node, edge.to_text = None, None, str(gone.pk)
        edge.save(force_insert=True)

    told = announce(caller, now, {"shop/shop.py": SHOP})

    assert (told.missing, told.gone, told.kept) == ((), 1, 1)
    assert "total" not in _ids()
    assert not [edge for edge in _edges() if edge[2] == "total"]
    resolve()
    with tenancy.unit():
        calls = Edge.objects.get(type="calls", from_node__qualified="Shop.checkout")
    assert (calls.to_node_id, calls.to_text) == (None, "total")
    assert calls.confidence < 1
    announce(caller, now, {})
    resolve()
    view = code_index(caller=caller, ref="shop")
    assert (view.state, view.files_total) == (State.EMPTY, 0)
    assert _ids().keys() == {""}
    with tenancy.unit():
        assert not Edge.objects.exists()


def test_nothing_of_a_text_is_kept_and_no_name_that_looks_like_a_secret(
    caller: Caller, now: datetime
) -> None:
    hidden = token_format.mint(kind=token_format.TokenKind.PERSON, entropy=bytes(range(24))).text
    text = f"def {hidden}():\n    pass\n\n\ndef open_gate():\n    {hidden}('stone')  # bridge\n"

    index(caller, now, {"a.py": text})

    with tenancy.unit():
        kept = [list(model.objects.values()) for model in (Node, Edge, AuditEntry, Change)]
    for secret in (hidden, "stone", "bridge"):
        assert secret not in repr((kept, list(Job.objects.values())))
    assert "open_gate" in _ids()


def test_a_file_is_taken_once_in_its_turn_and_never_of_an_older_manifest(
    caller: Caller, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = announce(caller, now)
    with monkeypatch.context() as patch:
        patch.setattr(indexing, "SECONDS", 0.0)
        late = send(caller, now, first)
    taken, again = send(caller, now, first), send(caller, now, first)
    announce(caller, now, {**FILES, "shop/cart.py": CHANGED})

    with pytest.raises(IndexRunning, match="Another manifest"):
        send(caller, now, first)

    assert (late.indexed, late.known, late.waiting) == (0, 0, tuple(FILES))
    assert late.index.state is State.RECEIVING
    assert (taken.indexed, taken.waiting) == (2, ())
    assert (again.indexed, again.known) == (0, 2)


@pytest.mark.parametrize(("waited", "begins"), [(20, 30), (580, 20)])
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


def test_an_index_that_was_cut_off_goes_on_with_what_is_missing(
    caller: Caller, now: datetime
) -> None:
    told = announce(caller, now)
    send(caller, now, replace(told, missing=("shop/cart.py",)))

    again = announce(caller, now)
    done = code_index(caller=caller, ref="shop").files_done
    send(caller, now, again)
    Job.objects.filter(name=coding.JOB).delete()  # its edges are made by the next run
    last = announce(caller, now)
    resolve()

    assert (again.missing, done) == (("shop/shop.py",), 1)
    assert (last.missing, last.job_id is None) == ((), False)
    assert ("Shop.checkout", "calls", "total") in _edges()
    assert code_index(caller=caller, ref="shop").state is State.DONE
    more = {**FILES, "shop/late.py": "x = 1\n"}  # whose sender died
    assert announce(caller, now, more).job_id is not None
    resolve()
    view = code_index(caller=caller, ref="shop")
    assert (view.state, view.files_done) == (State.RECEIVING, 2)
    assert ("Shop.checkout", "calls", "total") in _edges()
    assert announce(caller, now, more).job_id is None


def test_an_index_whose_edges_cannot_be_made_says_why_and_is_tried_again(
    caller: Caller, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = announce(caller, now)
    job = send(caller, now, told).job_id
    with monkeypatch.context() as patch:
        patch.setattr(indexing, "MOST_REFERENCES", 1)
        with pytest.raises(PermanentFailure) as failed:
            resolve()
    jobs.fail(held=work.taken(job), reason=failed.value.reason, permanent=True)

    view = code_index(caller=caller, ref="shop")
    assert (view.state, view.files_done) == (State.FAILED, 2)
    assert view.reason.startswith("The files of the project name each other more than 1 times")
    assert announce(caller, now).index.state is State.RESOLVING
    resolve()
    view = code_index(caller=caller, ref="shop")
    assert (view.state, view.reason) == (State.DONE, "")
    with tenancy.unit():
        (project,) = Project.objects.all()
    made = resolve_code(project_id=project.id, now=now, tell=lambda *_: None)
    assert made == {"edges": 0}  # they are not made again


@pytest.mark.parametrize("step", [1, 2])
def test_work_that_is_overtaken_writes_nothing_and_is_queued_anew(
    caller: Caller, now: datetime, step: int
) -> None:
    send(caller, now, announce(caller, now))
    with tenancy.unit():
        (project,) = Project.objects.all()

    def overtake(done: int, total: int) -> None:
        if done == step:
            announce(caller, now, {"shop/cart.py": CART})
            Job.objects.filter(name=coding.JOB).delete()

    counts = resolve_code(project_id=project.id, now=now, tell=overtake)

    assert counts == {"outdated": 1}
    with tenancy.unit():
        assert not Edge.objects.exists()
    assert Job.objects.filter(name=coding.JOB, state="queued").count() == 1
    resolve()
    assert code_index(caller=caller, ref="shop").state is State.DONE


def test_paths_that_are_none_are_refused_with_their_places(caller: Caller, now: datetime) -> None:
    wrong = {
        "/etc/passwd": "absolute",
        "a/../b.py": "two dots",
        "a//b.py": "empty part",
        "a\\b.py": "backslash",
        "a\nb.py": "control",
        "a" * 401: "400 characters",
    }

    with pytest.raises(InvalidInput) as refused:
        announce(caller, now, {"a.py": "", **dict.fromkeys(wrong, "")})

    for number, (fault, says) in enumerate(
        zip(refused.value.errors, wrong.values(), strict=True), 1
    ):
        assert fault.pointer == f"/files/{number}/path"
        assert says in str(fault.detail)
    assert code_index(caller=caller, ref="shop").state is State.EMPTY


def test_paths_that_hold_secrets_are_all_named_at_once(
    caller: Caller, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "PATHS_AT_ONCE", 2)
    hidden = token_format.mint(kind=token_format.TokenKind.PERSON, entropy=bytes(range(24))).text
    paths = ("a.py", f"{hidden}/b.py", "c.py", f"d/{hidden}", f"e/{hidden}")

    with pytest.raises(InvalidInput) as refused:
        announce(caller, now, dict.fromkeys(paths, ""))
    monkeypatch.setattr(indexing, "MOST_FAULTS", 2)
    with pytest.raises(InvalidInput, match="3 files are refused") as bounded:
        announce(caller, now, dict.fromkeys(paths, ""))

    at = [f"/files/{number}/path" for number in (1, 3, 4)]
    assert [fault.pointer for fault in refused.value.errors] == at
    assert [fault.pointer for fault in bounded.value.errors] == at[:2]
    assert hidden not in repr(refused.value.errors)


@pytest.mark.parametrize(
    ("path", "promised", "content", "says", "place"),
    [
        ("shop/cart.py", CART, "x = 1\n", "not the SHA-256", "hash"),
        ("shop/cart.py", CART, CART, "another hash", "hash"),  # what it was before
        ("other.py", "x", "x", "does not name", "path"),
    ],
)
def test_a_file_that_the_manifest_does_not_promise_is_refused(
    caller: Caller, now: datetime, path: str, promised: str, content: str, says: str, place: str
) -> None:
    index(caller, now)
    told = announce(caller, now, {**FILES, "shop/cart.py": CHANGED})
    wrong = Sent(path=path, hash=digest(promised), content=content.encode())

    with pytest.raises(ManifestMismatch) as refused:
        take_files(caller=caller, ref="shop", run=told.run, files=(wrong,), now=now)

    (fault,) = refused.value.errors
    assert fault.pointer == f"/files/0/{place}"
    assert says in str(fault.detail)
    assert code_index(caller=caller, ref="shop").state is State.RECEIVING


def test_projects_know_nothing_of_each_other(caller: Caller, now: datetime) -> None:
    create_project(caller=caller, slug="depot", name="Depot", now=now)
    index(caller, now)

    told = index(caller, now, {"shop/cart.py": CART}, ref="depot")
    bound = replace(caller, bound_projects=())

    assert told.missing == ("shop/cart.py",)
    page, _ = files(caller=caller, ref="depot", after=None, limit=50)
    assert [one.path for one in page] == ["shop/cart.py"]
    with pytest.raises(NotFound):
        symbols(caller=caller, ref="depot", path="shop/shop.py")
    with pytest.raises(NotFound):
        code_index(caller=bound, ref="shop")


def test_each_write_is_one_entry_of_the_log_and_progress_is_told(
    caller: Caller, now: datetime
) -> None:
    index(caller, now)

    with tenancy.unit():
        acts = list(AuditEntry.objects.filter(act__contains="code").values_list("act", "details"))
        told = list(
            Change.objects.filter(kind="index.progress").order_by("id").values_list("summary")
        )
    assert acts == [
        ("project.code_announced", {"files": 2, "missing": 2, "gone": 0}),
        ("project.code_received", {"files": 2, "refused": 0}),
    ]
    assert [(one["state"], one["done"]) for (one,) in told] == [
        ("receiving", 0),
        ("resolving", 2),
        ("done", 2),
    ]


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
