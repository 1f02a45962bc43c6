"""What is read of a file, whatever it holds: symbols, references, no secret, and its modules."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.code import languages, modules, values
from graph.code.languages import EXTENSIONS, Language, language_of
from graph.code.modules import Files
from graph.code.parse import LARGEST_PARSED, MOST_PATHS, MOST_SYMBOLS, Problem, parse, unfold
from graph.code.values import NodeKind, Parsed, Reference, ReferenceKind, Symbol

FOLDER = Path(__file__).with_name("files")  # beside a file, `.expected` says what it holds
PATHS = {  # where each lies in its project
    "shop.py": "app/shop.py",
    "shop.js": "app/shop.js",
    "shop.ts": "app/shop.ts",
    "sign.tsx": "app/sign.tsx",
    "shop.go": "shop/shop.go",
    "shop.rs": "src/lib.rs",
}
NAMES = st.sampled_from(
    [f"a{extension}" for extension in EXTENSIONS] + ["a.txt", "tests/test_a.py"]
)
SCRAPS = st.lists(
    st.sampled_from([
        "def f(a):\n    return a\n", "class A(B):\n", "    def g(self):\n        x()\n", "@d\n",
        "function f() {\n", "}\n", "const a = () => {\n", "class A {\n", "  m() {\n", "};\n",
        "func f() {\n", "type A struct {\n", "fn f() {\n", "impl A {\n", "mod m {\n",
        "use a::{b, c};\n", "import a\n", 'import "a"\n', "\n", "# c\n", "// c\n", "x = 1; ", "(",
        "`", "describe('a', () => {\n",
    ]),
    max_size=60,
).map("".join)  # fmt: skip


@pytest.mark.parametrize(("name", "path"), PATHS.items())
def test_symbols_and_references_of_a_language(name: str, path: str) -> None:
    expected = (FOLDER / f"{name}.expected").read_text(encoding="utf-8")

    parsed = parse(path=path, source=(FOLDER / f"{name}.txt").read_bytes())

    assert list(_lines(parsed)) == expected.splitlines()
    assert parsed.problems == ()


def test_the_language_is_told_by_the_extension() -> None:
    paths = ("B.TSX", "c.mjs", "f.d.ts", "g.rb", "Makefile", ".py")

    told = [language_of(path=path) for path in paths]

    assert told == ["tsx", "javascript", "typescript", None, None, None]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (b"x = 1\0", Problem.NOT_TEXT),
        (b"x = 1\n" * (LARGEST_PARSED // 6 + 1), Problem.TOO_LARGE),
        (b"x = [" + b"1, " * 5_000 + b"]\n", Problem.MINIFIED),
        (b"\n" * 1_000_001, Problem.TOO_MANY_LINES),
    ],
)
def test_what_no_person_wrote_is_not_parsed(source: bytes, problem: Problem) -> None:
    parsed = parse(path="a.py", source=source)

    assert (parsed.problems, parsed.symbols, parsed.references) == ((problem,), (), ())


def test_a_file_with_errors_is_read_as_far_as_it_goes() -> None:
    parsed = parse(path="a.py", source=b"def f():\n    return 1\n\ndef (\n\ndef g(): \xff\n")

    assert parsed.problems == (Problem.NOT_UTF8, Problem.SYNTAX)
    assert [symbol.name for symbol in parsed.symbols][:1] == ["f"]


def test_tests_are_known_in_files_of_tests_by_their_names_and_sentences() -> None:
    python = b"def test_a():\n    pass\n\nclass TestB:\n    def test_c(self):\n        pass\n"
    ecma = b'describe("a shop", () => {\n  it("opens", () => { open(); });\n});\n'

    in_tests, elsewhere = (parse(path=path, source=python) for path in ("test_x.py", "x.py"))
    cases = parse(path="a.test.ts", source=ecma)

    assert [s.kind for s in in_tests.symbols] == [NodeKind.TEST, NodeKind.CLASS, NodeKind.TEST]
    assert [s.kind for s in elsewhere.symbols] == [
        NodeKind.FUNCTION, NodeKind.CLASS, NodeKind.METHOD,
    ]  # fmt: skip
    assert [s.qualified for s in cases.symbols] == ["a shop", "a shop.opens"]
    assert parse(path="a.ts", source=ecma).symbols == ()
    assert (cases.references[0].kind, cases.references[0].target) == ("tests", "a")


@given(path=NAMES, source=st.binary(max_size=300) | SCRAPS.map(str.encode))
def test_of_any_bytes_what_is_read_lies_within_them(path: str, source: bytes) -> None:
    parsed = parse(path=path, source=source)

    assert all(1 <= s.first_line <= s.last_line <= parsed.lines for s in parsed.symbols)
    assert all(1 <= r.line <= max(1, parsed.lines) for r in parsed.references)
    known = {symbol.qualified for symbol in parsed.symbols}
    assert len(known) == len(parsed.symbols)
    assert {reference.source for reference in parsed.references} <= known | {""}


def test_paths_that_a_use_of_rust_names_are_unfolded() -> None:
    uses = {
        "a::b as c": {"a::b": "c"},
        "a::{b, c::{self, d as e,}, f::*}": {
            "a::b": "b", "a::c": "c", "a::c::d": "e", "a::f::*": "*",
        },
        "{a, b::{c::{d}}, e}": {"a": "a", "b::c::d": "d", "e": "e"},
        "a::{}": {},
        "r#type::b": {"r#type::b": "b"},
        "}}{,{": {},
    }  # fmt: skip
    for text, paths in uses.items():
        assert {"::".join(parts): local for parts, local in unfold(text=text)} == paths


@given(st.text(alphabet="ab:{},* as", max_size=80))
def test_any_use_of_rust_is_unfolded_and_has_an_end(text: str) -> None:
    assert all(segments for segments, _ in unfold(text=text))
    assert len(unfold(text="a::{" + "b, " * 5_000 + "}")) == MOST_PATHS


def test_what_is_more_than_an_index_keeps_is_left_out() -> None:
    source = b"import a\n" + b"def f(): g()\n" * (MOST_SYMBOLS + 1)

    parsed = parse(path="a.py", source=source)
    marked = parse(path="a.js", source=b'import "\x01" + "17"; import "b"; import "\x01c";\n')

    assert parsed.problems == (Problem.TOO_MANY,)
    assert len(parsed.symbols) == MOST_SYMBOLS
    assert [one.target for one in marked.references] == ["b"]


def _lines(parsed: Parsed) -> Iterator[str]:
    """Yield what a file holds as its `.expected` does: symbols, a line of dashes, references."""
    for symbol in parsed.symbols:
        yield f"{symbol.kind} {symbol.qualified} {symbol.first_line}-{symbol.last_line}"
    yield "---"
    for one in parsed.references:
        taken = f" {one.name or '-'} as {one.local or '-'}" if one.kind == "imports" else ""
        yield f"{one.line} {one.kind} {one.source or '-'}: {one.target}{taken}"


# What is kept of a file holds no secret, and finding that out has an end.


class Eye:
    """Takes what says so for a secret, and counts how often it looked."""

    def __init__(self) -> None:
        self.looks = 0

    def __call__(self, text: str) -> bool:
        self.looks += 1
        return "hidden" in text


def test_names_of_secrets_are_left_out_with_what_refers_to_them() -> None:
    eye = Eye()
    parsed = parsed_of(("open_gate", "hidden_1", "close_gate"), ("total", "hidden_2", "open_gate"))

    left = values.without_secrets(parsed=parsed, is_secret=eye)
    again = Eye()

    assert values.without_secrets(parsed=left, is_secret=again) is left
    assert again.looks == 1  # a file without secrets is looked at once
    assert [one.name for one in left.symbols] == ["open_gate", "close_gate"]
    assert [one.target for one in left.references] == ["total", "open_gate"]


def test_one_secret_among_many_is_found_by_halves_and_a_file_full_of_them_is_left() -> None:
    eye, tired = Eye(), Eye()
    names = tuple(f"name_{number}" for number in range(20_000))
    hidden = tuple(f"hidden_{number}" for number in range(20_000))

    left = values.without_secrets(parsed=parsed_of((), (*names, "hidden")), is_secret=eye)
    none = values.without_secrets(parsed=parsed_of(hidden[:5_000], hidden), is_secret=tired)

    assert [one.target for one in left.references] == list(names)
    assert eye.looks < 40
    assert (none.symbols, none.references) == ((), ())
    assert tired.looks <= values.MOST_LOOKS


def parsed_of(symbols: tuple[str, ...], targets: tuple[str, ...]) -> Parsed:
    return Parsed(
        language=Language.PYTHON,
        lines=1,
        symbols=tuple(
            Symbol(kind=NodeKind.FUNCTION, name=name, qualified=name, first_line=1, last_line=1)
            for name in symbols
        ),
        references=tuple(
            Reference(kind=ReferenceKind.CALLS, source="", target=target, line=1)
            for target in targets
        ),
    )


# Which files and functions are tests, and where imports lead.

PROJECT = (
    "app/__init__.py", "app/a.py", "app/sub/__init__.py", "app/sub/b.py", "app/types.pyi",
    "libs/one/src/one/__init__.py", "libs/one/src/one/c.py", "libs/two/src/two/d.py",
    "tools/run.py", "tools/near.py",
    "web/src/index.ts", "web/src/ui/button.tsx", "web/src/ui/index.ts", "web/src/api.d.ts",
    "web/src/old.js", "web/test/ui.test.ts",
    "go.go", "internal/db/db.go", "internal/db/db_test.go", "json/json.go",
    "rs/store-core/src/lib.rs", "rs/store-core/src/deep/mod.rs", "rs/app/src/main.rs",
)  # fmt: skip


@pytest.mark.parametrize(
    ("path", "is_test", "tested"),
    [
        ("tests/unit/test_store.py", True, "store"),
        ("app/store_test.py", True, "store"),
        ("app/store.py", False, ""),
        ("app/contest.py", False, ""),
        ("store_test.go", True, "store"),
        ("test_store.go", False, "store"),
        ("src/store.spec.ts", True, "store"),
        ("src/__tests__/store.jsx", True, ""),
        ("tests/all.rs", True, ""),
        ("src/tests.rs", False, ""),
    ],
)
def test_files_of_tests_are_known_by_their_paths_and_functions_by_their_names(
    path: str, is_test: bool, tested: str
) -> None:
    tests = ((Language.PYTHON, "test_a"), (Language.GO, "TestA"), (Language.GO, "BenchmarkA"))
    others = ((Language.PYTHON, "a_test"), (Language.GO, "Testify"), (Language.RUST, "test_a"))
    assert all(languages.is_test_name(name=name, language=one) for one, name in tests)
    assert not any(languages.is_test_name(name=name, language=one) for one, name in others)
    language = language_of(path=path)

    assert language is not None
    assert languages.is_test_file(path=path, language=language) is is_test
    assert languages.tested_name(path=path) == tested


@pytest.fixture(scope="module")
def files() -> Files:
    """Look at the paths, as of a project whose files of Go import a package of its own."""
    return modules.survey(paths=PROJECT, go_imports=("example.com/x/internal/db", "fmt"))


@pytest.mark.parametrize(
    ("importer", "target", "found"),
    [
        ("app/a.py", ".sub", ("app/sub/__init__.py",)),
        ("app/a.py", ".", ("app/__init__.py",)),
        ("app/sub/b.py", "..a", ("app/a.py",)),
        ("app/sub/b.py", "...", ()),
        ("app/a.py", "app.sub.b", ("app/sub/b.py",)),
        ("app/a.py", "app.types", ("app/types.pyi",)),
        ("tools/run.py", "near", ("tools/near.py",)),
        ("app/a.py", "near", ()),
        ("libs/two/src/two/d.py", "one.c", ("libs/one/src/one/c.py",)),
        ("app/a.py", "json", ()),
        ("web/src/index.ts", "./ui", ("web/src/ui/index.ts",)),
        ("web/src/index.ts", "./ui/button.js", ("web/src/ui/button.tsx",)),
        ("web/src/ui/button.tsx", "../api", ("web/src/api.d.ts",)),
        ("web/src/ui/button.tsx", "../old", ("web/src/old.js",)),
        ("web/test/ui.test.ts", "@/ui/button", ("web/src/ui/button.tsx",)),
        ("web/src/index.ts", "react", ()),
        ("web/src/index.ts", "@org/ui", ()),
        ("web/src/index.ts", "../../../out", ()),
        ("go.go", "example.com/x/internal/db", ("internal/db/db.go",)),
        ("internal/db/db.go", "example.com/x", ("go.go",)),
        ("go.go", "json", ()),
        ("notes.rb", "app.a", ()),
    ],
)
def test_a_module_is_found(
    files: Files, importer: str, target: str, found: tuple[str, ...]
) -> None:
    assert modules.find(files=files, importer=importer, target=target) == found


def test_crates_have_their_roots_and_their_names(files: Files) -> None:
    root = modules.crate_root(files=files, path="rs/store-core/src/deep/mod.rs")

    assert root == "rs/store-core/src"
    assert files.crates == {"store_core": "rs/store-core/src"}
    assert modules.rust_file(files=files, folder="rs/app/src") == "rs/app/src/main.rs"
    assert modules.module_folder(path="rs/app/src/x.rs") == "rs/app/src/x"
    assert modules.crate_root(files=files, path="else/where.rs") == "else"
