"""What lies around the files and names of a question: who holds them, and what is linked to it."""

from datetime import datetime
from uuid import UUID

import pytest

from accounts import tenancy
from accounts.caller import Caller
from memory.records.models import MemoryLink
from tests.support import crowds
from tests.support.memories import CARTS, PARSER, REDIS, stored

Held = dict[str, UUID]

pytestmark = pytest.mark.usefixtures("in_organization")

OTHER = "Nightly exports wait for the warehouse lock and give up after ten minutes."


@pytest.fixture
def held(caller: Caller, store: str, now: datetime) -> Held:
    """Memories of a shared file, of a file alone, of a module, and of nothing."""
    given = {
        CARTS: ("src/shop/cart.py", "src/shop/common.py"),
        REDIS: ("src/shop/common.py",),
        PARSER: ("other/shop/cart.py",),
    }
    found = {
        text: stored(caller, now, text, project=store, related_files=files).id
        for text, files in given.items()
    }
    modules = stored(caller, now, OTHER, project=store, related_modules=("Warehouse",))
    return {**found, OTHER: modules.id}


def around(caller: Caller, *near: str, **wanted: object) -> dict[UUID, float]:
    """Return the score of each memory that the graph path reached."""
    with tenancy.unit():
        found = crowds.ask(caller=caller, near=near, **wanted)
    return {one.memory_id: round(one.scores["graph"], 4) for one in found if "graph" in one.scores}


def link(source: UUID, target: UUID, confidence: float = 1.0, kind: str = "related") -> None:
    """Relate two memories."""
    with tenancy.unit():
        MemoryLink.objects.create(
            source_id=source, target_id=target, kind=kind, confidence=confidence
        )


def test_a_file_is_known_by_any_end_of_its_path_and_the_very_file_counts_more(
    caller: Caller, held: Held
) -> None:
    for name in ("/home/ada/work/src/shop/cart.py", "SRC/shop/Cart.py", "cart.py"):
        assert held[CARTS] in around(caller, name), name
    found = around(caller, "src/shop/cart.py", "shop/cart.py")
    assert found[held[CARTS]] > found[held[PARSER]] > 0
    names = ("cart.py", "common.py", "warehouse")
    assert len(around(caller, *names)) == 4
    assert len(around(caller, *names, graph_limit=2)) == 2


def test_a_file_that_many_hold_says_less_and_each_shared_one_adds(
    caller: Caller, held: Held
) -> None:
    alone = around(caller, "other/shop/cart.py")[held[PARSER]]
    shared = around(caller, "src/shop/common.py")[held[REDIS]]
    both = around(caller, "src/shop/cart.py", "src/shop/common.py")

    assert alone == 1.0
    assert shared == pytest.approx(1 / (1 + 0.6931), abs=1e-3)
    assert both[held[CARTS]] > both[held[REDIS]]
    assert set(around(caller, "warehouse")) == {held[OTHER]}  # a module, by its name


def test_what_is_linked_comes_along_for_less_and_for_more_where_the_question_is_about_links(
    caller: Caller, held: Held
) -> None:
    link(held[PARSER], held[OTHER], confidence=0.8, kind="caused_by")
    path, module = "other/shop/cart.py", "warehouse"

    assert around(caller, path) == {held[PARSER]: 1.0, held[OTHER]: 0.4}
    assert around(caller, path, kinds=("caused_by",)) == {held[PARSER]: 1.0, held[OTHER]: 0.6}
    assert around(caller, module) == {held[OTHER]: 0.5, held[PARSER]: 0.2}  # the other way round


def test_a_link_reaches_nothing_that_filters_or_scopes_leave_out(
    caller: Caller, member_caller: Caller, held: Held, store: str, now: datetime
) -> None:
    own = stored(caller, now, "My own note on the carts of Ada.", project=store, scope="personal")
    link(held[PARSER], own.id)
    link(held[PARSER], held[OTHER])
    name = "other/shop/cart.py"

    assert set(around(caller, name)) == {held[PARSER], held[OTHER], own.id}
    assert set(around(member_caller, name)) == {held[PARSER], held[OTHER]}
    assert set(around(caller, name, author="nobody")) == set()


def test_how_many_others_hold_a_file_is_not_told(
    caller: Caller, member_caller: Caller, held: Held, store: str, now: datetime
) -> None:
    before = around(member_caller, "other/shop/cart.py")
    for number in range(3):
        text = f"Deal {number} of Ada touches the cart and is nobody's business but hers."
        files = ("other/shop/cart.py",)
        stored(caller, now, text, project=store, scope="personal", related_files=files)

    assert around(member_caller, "other/shop/cart.py") == before
    assert around(caller, "other/shop/cart.py") != before


def test_what_is_linked_to_a_thing_that_is_named_comes_along(
    caller: Caller, store: str, held: Held, now: datetime
) -> None:
    text = "AuthService keeps its tokens for an hour and then asks for new ones."
    named = stored(caller, now, text, project=store).id
    link(named, held[OTHER])

    assert around(caller, named=("auth service",)) == {held[OTHER]: 0.5}
