"""What the index of a project's code does not take, what it keeps of files, and who sees it."""

from dataclasses import replace
from datetime import datetime

import pytest

from accounts import tenancy, token_format
from accounts.caller import Caller, TokenScope
from accounts.errors import InvalidInput, NotFound
from graph.errors import ManifestMismatch
from graph.index import announce_files as announcing
from graph.index.queries import State, code_index, files, symbols
from graph.index.take_files import Sent, take_files
from graph.models import Edge, Node
from teams.actions.projects import create_project
from teams.errors import RoleNotSufficient
from teams.models import AuditEntry, Change
from tests.support.coding import CART, FILES, announce, digest, index

pytestmark = pytest.mark.usefixtures("shop")

CHANGED = CART + "\n\ndef rebate(lines):\n    return total(lines) / 10\n"


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/etc/passwd", "absolute"),
        ("C:/a.py", "absolute"),
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
    monkeypatch.setattr(announcing, "AT_ONCE", 2)
    hidden = token_format.mint(kind=token_format.TokenKind.PERSON, entropy=bytes(range(24))).text
    paths = ("a.py", f"{hidden}/b.py", "c.py", f"d/{hidden}", f"e/{hidden}")

    with pytest.raises(InvalidInput) as refused:
        announce(caller, now, dict.fromkeys(paths, ""))
    monkeypatch.setattr(announcing, "MOST_FAULTS", 2)
    with pytest.raises(InvalidInput, match="3 files are refused") as bounded:
        announce(caller, now, dict.fromkeys(paths, ""))

    at = [f"/files/{number}/path" for number in (1, 3, 4)]
    assert [fault.pointer for fault in refused.value.errors] == at
    assert [fault.pointer for fault in bounded.value.errors] == at[:2]
    assert hidden not in repr(refused.value.errors)


def test_a_file_that_is_not_what_its_hash_says_is_refused(caller: Caller, now: datetime) -> None:
    told = announce(caller, now)
    wrong = Sent(path="shop/cart.py", hash=digest(CART), content=b"x = 1\n")

    with pytest.raises(ManifestMismatch) as refused:
        take_files(caller=caller, ref="shop", run=told.run, files=(wrong,), now=now)

    assert [fault.pointer for fault in refused.value.errors] == ["/files/0/hash"]


def test_what_a_changed_file_was_before_is_refused(caller: Caller, now: datetime) -> None:
    index(caller, now)
    told = announce(caller, now, {**FILES, "shop/cart.py": CHANGED})
    before = Sent(path="shop/cart.py", hash=digest(CART), content=CART.encode())

    with pytest.raises(ManifestMismatch, match="another hash") as refused:
        take_files(caller=caller, ref="shop", run=told.run, files=(before,), now=now)

    assert [fault.pointer for fault in refused.value.errors] == ["/files/0/hash"]
    assert code_index(caller=caller, ref="shop").state is State.RECEIVING


def test_a_file_that_no_manifest_names_is_refused(caller: Caller, now: datetime) -> None:
    told = announce(caller, now)
    other = Sent(path="other.py", hash=digest("x"), content=b"x")

    with pytest.raises(ManifestMismatch, match="does not name") as refused:
        take_files(caller=caller, ref="shop", run=told.run, files=(other,), now=now)

    assert [fault.pointer for fault in refused.value.errors] == ["/files/0/path"]


def test_a_file_that_is_no_text_is_kept_as_refused(caller: Caller, now: datetime) -> None:
    content = "\0\1\2"

    index(caller, now, {"logo.py": content, **FILES})

    view = code_index(caller=caller, ref="shop")
    assert view.state is State.DONE
    assert [(one.path, one.reason) for one in view.refused] == [
        ("logo.py", "This is not a text file.")
    ]
    assert announce(caller, now, {"logo.py": content, **FILES}).missing == ()


def test_names_that_look_like_secrets_are_not_kept(caller: Caller, now: datetime) -> None:
    hidden = token_format.mint(kind=token_format.TokenKind.PERSON, entropy=bytes(range(24))).text
    text = f"def {hidden}():\n    pass\n\n\ndef open_gate():\n    {hidden}()\n"

    index(caller, now, {"a.py": text})

    with tenancy.unit():
        kept = repr(list(Node.objects.values())) + repr(list(Edge.objects.values()))
    assert hidden not in kept
    assert "open_gate" in _ids()


def test_who_may_not_index_is_told_which_scope_it_takes(caller: Caller, now: datetime) -> None:
    reader = replace(caller, scopes=caller.scopes - {TokenScope.INDEX})

    with pytest.raises(RoleNotSufficient, match="index"):
        announce(reader, now)


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


def test_files_come_by_path_page_by_page(caller: Caller, now: datetime) -> None:
    index(caller, now, {**FILES, "a.md": "# Shop\n"})

    first, after = files(caller=caller, ref="shop", after=None, limit=2)
    rest, last = files(caller=caller, ref="shop", after=after, limit=2)

    assert [one.path for one in first] == ["a.md", "shop/cart.py"]
    assert [(one.path, one.symbols) for one in rest] == [("shop/shop.py", 2)]
    assert last is None


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


def _page(caller: Caller, ref: str) -> tuple[object, ...]:
    return files(caller=caller, ref=ref, after=None, limit=50)[0]
