"""Edges of small projects: what imports and names lead to, and how sure that is."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.code.parse import parse
from graph.code.resolve import resolve
from graph.code.values import LONGEST_LABEL, Edge, Place, ReferenceKind

PYTHON = {
    "src/shop/__init__.py": "from .store import Store\nfrom .words import *\n",
    "src/shop/store.py": "class Base:\n    def close(self): pass\n\n"
    "class Store(Base):\n    def save(self):\n        self.close()\n        super().close()\n",
    "src/shop/words.py": "def greet(): pass\n",
    "src/shop/deep/__init__.py": "",
    "src/shop/deep/inner.py": "from .. import words as w\nfrom ..store import Store as S\n"
    "import shop.store\n\ndef go():\n    w.greet()\n    S().save()\n    shop.store.Base.close()\n",
    "src/main.py": "import shop\nfrom shop import Store, greet, deep\nimport json\n\n"
    "def run(thing):\n    greet()\n    shop.greet()\n    Store.save()\n    json.dumps(1)\n"
    "    thing.save()\n    thing.append(1)\n    print(len([]))\n    Store.objects.all()\n",
    "tests/test_store.py": "from shop.store import Store\n\n\ndef made(): return Store()\n\n\n"
    "def test_save():\n    made()\n    Store.save()\n",
}
ECMA = {
    "src/main.ts": 'import Store, { open as start } from "./store";\n'
    'import * as util from "../lib/util.js";\nimport type { Shape } from "@/shapes";\n'
    'import React from "react";\n'
    "export class Main extends Store implements Shape {\n"
    '  run = () => { this.save(); util.trim(" "); React.render(); };\n'
    "  go() { start(); super.load(); }\n}\n",
    "src/store.ts": 'export { trim } from "../lib/util";\n'
    "export default class Store { save() {} load() {} }\n"
    "export function open() { return new Store(); }\n",
    "lib/util.ts": "export const trim = (s: string) => s;\n",
    "src/shapes/index.ts": "export interface Shape { run(): void }\n",
    "src/old.js": 'const { trim } = require("./store");\nconst lib = require("../lib/util");\n'
    "module.exports = function () { trim(1); lib.trim(2); };\n",
    "src/main.test.tsx": 'import { Main } from "./main";\n'
    'describe("main", () => { it("runs", () => { new Main(); const x = <Main/>; }); });\n',
}
GO = {
    "main.go": 'package main\nimport "example.com/shop/internal/db"\nimport "fmt"\n'
    "func main() { db.Open(); helper(); fmt.Println(1); len(x) }\n",
    "other.go": "package main\nfunc helper() {}\n",
    "internal/db/db.go": "package db\ntype Store struct { Base }\n"
    "func Open() *Store { return &Store{} }\n",
    "internal/db/get.go": "package db\ntype Base struct {}\n"
    "func (s *Store) Get() { s.check() }\nfunc (s *Store) check() {}\n",
    "internal/db/db_test.go": "package db\nfunc TestOpen(t *testing.T) { Open() }\n",
}
RUST = {
    "src/lib.rs": "mod store;\npub mod util;\nuse crate::util::{helper, deep::Thing};\n"
    "use store::Store;\nuse serde::Serialize;\n"
    "pub fn run() { helper(); Thing::new(); crate::util::deep::f(); util::helper(); }\n"
    "#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n"
    "    fn it_runs() { assert_eq!(run(), ()); }\n}\n",
    "src/store.rs": "use super::util;\npub struct Store;\npub trait Get { fn get(&self); }\n"
    "impl Get for Store { fn get(&self) { self.check(); util::helper(); } }\n"
    "impl Store { fn check(&self) {} }\n",
    "src/util/mod.rs": "pub mod deep;\npub fn helper() {}\n",
    "src/util/deep.rs": "pub struct Thing;\nimpl Thing { pub fn new() {} }\npub fn f() {}\n",
}


@pytest.mark.parametrize(
    ("project", "edge"),
    [
        (PYTHON, "imports src/main.py -> src/shop/__init__.py 1.0"),
        (PYTHON, "imports src/main.py -> src/shop/store.py:Store 1.0"),
        (PYTHON, "imports src/main.py -> src/shop/words.py:greet 1.0"),
        (PYTHON, "imports src/main.py -> src/shop/deep/__init__.py 1.0"),
        (PYTHON, "imports src/shop/deep/inner.py -> src/shop/store.py 1.0"),
        (PYTHON, "calls src/shop/deep/inner.py:go -> src/shop/words.py:greet 0.95"),
        (PYTHON, "calls src/shop/deep/inner.py:go -> src/shop/store.py:Base.close 0.95"),
        (PYTHON, "calls src/main.py:run -> src/shop/store.py:Store.save 0.95"),
        (PYTHON, "calls src/main.py:run -> src/shop/store.py:Store 0.6"),
        (PYTHON, "calls src/main.py:run -> ? json.dumps 0.1"),
        (PYTHON, "inherits src/shop/store.py:Store -> src/shop/store.py:Base 0.95"),
        (PYTHON, "calls src/shop/store.py:Store.save -> src/shop/store.py:Base.close 0.95"),
        (PYTHON, "tests tests/test_store.py -> src/shop/store.py 0.7"),
        (PYTHON, "tests tests/test_store.py:test_save -> src/shop/store.py:Store.save 0.95"),
        (PYTHON, "defines src/shop/store.py:Store -> src/shop/store.py:Store.save 1.0"),
        (ECMA, "imports src/main.ts -> src/store.ts:Store 1.0"),
        (ECMA, "imports src/main.ts -> src/shapes/index.ts:Shape 1.0"),
        (ECMA, "implements src/main.ts:Main -> src/shapes/index.ts:Shape 0.95"),
        (ECMA, "calls src/main.ts:Main.run -> src/store.ts:Store.save 0.85"),
        (ECMA, "calls src/main.ts:Main.run -> lib/util.ts:trim 0.95"),
        (ECMA, "calls src/main.ts:Main.go -> src/store.ts:open 0.95"),
        (ECMA, "calls src/main.ts:Main.go -> src/store.ts:Store.load 0.95"),
        (ECMA, "calls src/old.js:exports -> lib/util.ts:trim 0.95"),
        (ECMA, "tests src/main.test.tsx -> src/main.ts 0.7"),
        (ECMA, "tests src/main.test.tsx:main.runs -> src/main.ts:Main 0.95"),
        (GO, "imports main.go -> internal/db/get.go 1.0"),
        (GO, "calls main.go:main -> internal/db/db.go:Open 0.95"),
        (GO, "calls main.go:main -> other.go:helper 0.95"),
        (GO, "inherits internal/db/db.go:Store -> internal/db/get.go:Base 0.95"),
        (GO, "calls internal/db/get.go:Store.Get -> internal/db/get.go:Store.check 0.5"),
        (GO, "tests internal/db/db_test.go:TestOpen -> internal/db/db.go:Open 0.95"),
        (RUST, "imports src/lib.rs -> src/store.rs 1.0"),
        (RUST, "imports src/lib.rs -> src/util/deep.rs:Thing 1.0"),
        (RUST, "imports src/lib.rs -> ? serde::Serialize 0.1"),
        (RUST, "calls src/lib.rs:run -> src/util/mod.rs:helper 0.95"),
        (RUST, "calls src/lib.rs:run -> src/util/deep.rs:f 0.95"),
        (RUST, "implements src/store.rs:Store -> src/store.rs:Get 0.95"),
        (RUST, "calls src/store.rs:Store.get -> src/store.rs:Store.check 0.95"),
        (RUST, "calls src/store.rs:Store.get -> src/util/mod.rs:helper 0.95"),
        (RUST, "tests src/lib.rs:tests.it_runs -> src/lib.rs:run 0.95"),
    ],
)
def test_what_is_named_is_found(project: dict[str, str], edge: str) -> None:
    assert edge in _told(_edges(project))


def test_what_the_language_brings_along_is_not_told_and_what_is_said_often_weighs_more() -> None:
    told = [edge.text for project in (PYTHON, GO) for edge in _edges(project)]
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
        st.sampled_from([*PYTHON, *ECMA, *GO, *RUST]),
        st.sampled_from([*PYTHON.values(), *ECMA.values(), *GO.values(), *RUST.values()]),
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
