"""What the index of a project's code does not take, what it keeps of files, and who sees it."""

from dataclasses import replace
from datetime import datetime

import pytest

from accounts import tenancy, token_format
from accounts.caller import Caller
from accounts.errors import InvalidInput, NotFound
from graph.code.values import Refused
from graph.errors import ManifestMismatch
from graph.index import actions as indexing
from graph.index.actions import Sent, take_files
from graph.index.queries import FileView, State, code_index, files, symbols
from graph.models import Edge, Node
from teams.actions import create_project
from teams.models import AuditEntry, Change
from tests.support.coding import CART, FILES, announce, digest, index

pytestmark = pytest.mark.usefixtures("shop")

CHANGED = CART + "\n\ndef rebate(lines):\n    return total(lines) / 10\n"


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/etc/passwd", "absolute"),
        ("a/../b.py", "two dots"),
        ("a//b.py", "empty part"),
        ("a\\b.py", "backslash"),
        ("a\nb.py", "control"),
        ("a" * 401, "400 characters"),
    ],
)
def test_a_path_that_is_none_is_refused_with_its_place(
    caller: Caller, now: datetime, path: str, says: str
) -> None:
    with pytest.raises(InvalidInput, match=says) as refused:
        announce(caller, now, {"a.py": "", path: ""})

    assert [fault.pointer for fault in refused.value.errors] == ["/files/1/path"]
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


def test_a_file_that_is_no_text_is_kept_as_refused(caller: Caller, now: datetime) -> None:
    sent = {"logo.py": "\0\1\2", **FILES}

    index(caller, now, sent)

    view = code_index(caller=caller, ref="shop")
    assert view.state is State.DONE
    assert view.refused == (Refused(path="logo.py", reason="This is not a text file."),)
    assert announce(caller, now, sent).missing == ()


def test_names_that_look_like_secrets_are_not_kept(caller: Caller, now: datetime) -> None:
    hidden = token_format.mint(kind=token_format.TokenKind.PERSON, entropy=bytes(range(24))).text
    text = f"def {hidden}():\n    pass\n\n\ndef open_gate():\n    {hidden}()\n"

    index(caller, now, {"a.py": text})

    with tenancy.unit():
        kept = repr(list(Node.objects.values())) + repr(list(Edge.objects.values()))
    assert hidden not in kept
    assert "open_gate" in _ids()


def test_projects_know_nothing_of_each_other(caller: Caller, now: datetime) -> None:
    create_project(caller=caller, slug="depot", name="Depot", now=now)
    index(caller, now)

    told = index(caller, now, {"shop/cart.py": CART}, ref="depot")
    bound = replace(caller, bound_projects=())

    assert told.missing == ("shop/cart.py",)
    assert [one.path for one in _page(caller, "depot")] == ["shop/cart.py"]
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


def _ids() -> dict[str, int]:
    with tenancy.unit():
        return dict(Node.objects.order_by("id").values_list("qualified", "id"))


def _page(caller: Caller, ref: str) -> tuple[FileView, ...]:
    return files(caller=caller, ref=ref, after=None, limit=50)[0]
