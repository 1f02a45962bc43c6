"""What is read of a file: symbols and references by language, and of anything at all."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.code.languages import EXTENSIONS, language_of
from graph.code.parse import LARGEST_PARSED, MOST_PATHS, MOST_SYMBOLS, Problem, parse, unfold
from graph.code.values import NodeKind, Parsed

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
    paths = ("a/b.py", "B.TSX", "c.mjs", "d.rs", "e.go", "f.d.ts", "g.rb", "Makefile", ".py")

    told = [language_of(path=path) for path in paths]

    assert told == ["python", "tsx", "javascript", "rust", "go", "typescript", None, None, None]


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
