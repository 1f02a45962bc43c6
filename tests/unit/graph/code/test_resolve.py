"""Edges of small projects: what imports and names lead to, and how sure that is."""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.code.parse import parse
from graph.code.resolve import resolve
from graph.code.values import LONGEST_LABEL, Edge, Place, ReferenceKind

FOLDER = Path(__file__).with_name("projects")  # beside a project, `.expected` has edges of it


def _project(name: str) -> dict[str, str]:
    """Read the files of a project; each begins with its path behind an arrow."""
    parts = re.split(r"^==> (.+)\n", (FOLDER / f"{name}.txt").read_text("utf-8"), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


PROJECTS = {name: _project(name) for name in ("python", "ecma", "go", "rust")}


@pytest.mark.parametrize("name", PROJECTS)
def test_what_is_named_is_found(name: str) -> None:
    expected = (FOLDER / f"{name}.expected").read_text("utf-8").splitlines()

    assert len(expected) > 5
    assert set(expected) - _told(_edges(PROJECTS[name])) == set()


def test_what_the_language_brings_along_is_not_told_and_what_is_said_often_weighs_more() -> None:
    told = [edge.text for name in ("python", "go") for edge in _edges(PROJECTS[name])]
    edges = _edges({"a.py": "def f(): pass\ndef g():\n    f()\n    f()\n    h()\n"})

    weights = {edge.target: edge.weight for edge in edges if edge.type == "calls"}

    assert not {text.rpartition(".")[2] for text in told} & {"append", "len", "print"}
    assert weights == {Place(path="a.py", qualified="f"): 2.0, None: 1.0}


def test_a_method_is_guessed_only_where_there_is_one_of_its_name() -> None:
    caller = {"a.py": "def f(x):\n    x.store_it()\n"}
    one = {"b.py": "class B:\n    def store_it(self): pass\n"}
    two = {"c.py": "class C:\n    def store_it(self): pass\n"}

    alone, many = _told(_edges(caller | one)), _told(_edges(caller | one | two))

    assert "calls a.py:f -> b.py:B.store_it 0.4" in alone
    assert "calls a.py:f -> ? x.store_it 0.1" in many


def test_imports_in_circles_and_classes_that_inherit_themselves_end() -> None:
    circle = {
        "a.py": "from b import *\nfrom b import x\nclass A(B):\n    def f(self): self.g()\n",
        "b.py": "from a import *\nfrom a import x\nfrom a import A\nclass B(A): pass\n",
        "c.py": "class C(C.D):\n    def f(self): self.g(x())\n",
    }

    assert "inherits b.py:B -> a.py:A 0.95" in _told(_edges(circle))


def test_lattices_of_classes_and_imports_of_everything_take_no_time() -> None:
    rows = [f"class L{n}(L{n + 1}, R{n + 1}): pass\nclass R{n}(L{n + 1}, R{n + 1}): pass\n"
            for n in range(40)]  # fmt: skip
    calls = "class Z(L0):\n    def f(self):\n        self.nowhere()\n        lost()\n"
    stars = "".join(f"from m{n} import *\n" for n in range(40))

    edges = _edges({"a.py": "".join(rows) + calls} | {f"m{n}.py": stars + calls for n in range(40)})

    assert {edge.text for edge in edges if edge.type == "calls"} == {"self.nowhere", "lost"}


def test_what_is_not_found_is_named_as_long_as_its_column_is() -> None:
    files = {"a.py": f"def f():\n    g().{'a' * LONGEST_LABEL}()\n"}

    lengths = {len(edge.text) for edge in _edges(files) if edge.type == "calls"}
    assert lengths == {len("g"), LONGEST_LABEL}


def test_a_file_of_tests_that_may_be_about_two_files_is_about_none() -> None:
    files = {"a/s.py": "", "b/s.py": "", "tests/test_s.py": ""}

    assert _edges(files) == ()
    assert _told(_edges(files | {"tests/a/test_s.py": ""})) == {
        "tests tests/a/test_s.py -> a/s.py 0.7"
    }


@given(
    st.dictionaries(
        st.sampled_from([path for files in PROJECTS.values() for path in files]),
        st.sampled_from([text for files in PROJECTS.values() for text in files.values()]),
        max_size=12,
    )
)
def test_edges_join_what_there_is_once_and_in_one_order(files: dict[str, str]) -> None:
    read = {path: parse(path=path, source=source.encode()) for path, source in files.items()}
    places = {Place(path=path) for path in files} | {
        Place(path=path, qualified=one.qualified) for path in read for one in read[path].symbols
    }

    edges = resolve(files=read)

    assert {edge.source for edge in edges} | {e.target for e in edges if e.target} <= places
    assert all(bool(edge.text) == (edge.target is None) for edge in edges)
    assert {edge.type for edge in edges} <= {"defines", *ReferenceKind}
    assert len({(e.type, e.source, e.target, e.text) for e in edges}) == len(edges)
    assert edges == resolve(files=dict(reversed(read.items())))


def _edges(files: dict[str, str]) -> tuple[Edge, ...]:
    return resolve(files={p: parse(path=p, source=text.encode()) for p, text in files.items()})


def _told(edges: Iterable[Edge]) -> set[str]:
    return {
        f"{edge.type} {_place(edge.source)} -> "
        f"{_place(edge.target) if edge.target else '? ' + edge.text} {edge.confidence}"
        for edge in edges
    }


def _place(place: Place) -> str:
    return f"{place.path}:{place.qualified}" if place.qualified else place.path
