"""What is read of a file: symbols, references and chunks by language, and of anything at all."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.code import chunk
from graph.code.languages import EXTENSIONS, language_of
from graph.code.parse import LARGEST_PARSED, Problem, parse
from graph.code.values import Chunk, Parsed
from graph.vocabulary import NodeKind
from tests.support import reading

BODIES = {NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.TEST}
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


@pytest.mark.parametrize("name", reading.PATHS)
def test_symbols_references_and_chunks_of_a_language(name: str) -> None:
    expected = (reading.FOLDER / f"{name}.expected").read_text(encoding="utf-8")

    parsed = reading.read(name)

    assert reading.told(parsed) == expected
    assert parsed.problems == ()


def test_the_language_is_told_by_the_extension() -> None:
    paths = ("a/b.py", "B.TSX", "c.mjs", "d.rs", "e.go", "f.d.ts", "g.rb", "Makefile", ".py")

    told = [language_of(path=path) for path in paths]

    assert told == ["python", "tsx", "javascript", "rust", "go", "typescript", None, None, None]


def test_an_unknown_language_is_cut_every_hundred_lines() -> None:
    parsed = parse(path="notes.rb", source=b"puts 1\n" * 250)

    assert (parsed.language, parsed.symbols, parsed.references) == (None, (), ())
    assert _lines(parsed.chunks) == [(1, 100), (101, 200), (201, 250)]


@pytest.mark.parametrize(
    ("source", "problem", "chunks"),
    [
        (b"x = 1\0", Problem.NOT_TEXT, 0),
        (b"x = 1\n" * (LARGEST_PARSED // 6 + 1), Problem.TOO_LARGE, 3334),
        (b"x = [" + b"1, " * 5_000 + b"]\n", Problem.MINIFIED, 1),
        (b"\n" * 1_000_001, Problem.TOO_MANY_LINES, 0),
    ],
)
def test_what_no_person_wrote_is_not_parsed(source: bytes, problem: Problem, chunks: int) -> None:
    parsed = parse(path="a.py", source=source)

    assert parsed.problems == (problem,)
    assert (parsed.symbols, len(parsed.chunks)) == ((), chunks)


def test_a_file_with_errors_is_read_as_far_as_it_goes() -> None:
    parsed = parse(path="a.py", source=b"def f():\n    return 1\n\ndef (\n\ndef g(): \xff\n")

    assert parsed.problems == (Problem.NOT_UTF8, Problem.SYNTAX)
    assert [symbol.name for symbol in parsed.symbols][:1] == ["f"]


def test_functions_of_tests_are_tests_only_in_files_of_tests() -> None:
    source = b"def test_a():\n    pass\n\nclass TestB:\n    def test_c(self):\n        pass\n"

    in_tests, elsewhere = (parse(path=path, source=source) for path in ("test_x.py", "x.py"))

    assert [s.kind for s in in_tests.symbols] == [NodeKind.TEST, NodeKind.CLASS, NodeKind.TEST]
    assert [s.kind for s in elsewhere.symbols] == [
        NodeKind.FUNCTION, NodeKind.CLASS, NodeKind.METHOD,
    ]  # fmt: skip


def test_cases_of_ecma_are_tests_by_their_sentences() -> None:
    source = b'describe("a shop", () => {\n  it("opens", () => { open(); });\n});\n'

    parsed = parse(path="a.test.ts", source=source)

    assert [s.qualified for s in parsed.symbols] == ["a shop", "a shop.opens"]
    assert parse(path="a.ts", source=source).symbols == ()
    assert (parsed.references[0].kind, parsed.references[0].target) == ("tests", "a")


@given(path=NAMES, source=st.binary(max_size=300))
def test_any_bytes_are_read(path: str, source: bytes) -> None:
    parsed = parse(path=path, source=source)

    _check_lines(parsed)


@given(path=NAMES, text=SCRAPS)
def test_lines_are_in_one_chunk_and_bodies_in_one_piece(path: str, text: str) -> None:
    parsed = parse(path=path, source=text.encode())

    _check_lines(parsed)
    _check_bodies(parsed)


@settings(max_examples=20)
@given(first=st.integers(1, 900), second=st.integers(1, 200), methods=st.integers(0, 30))
def test_bodies_are_whole_unless_longer_than_the_limit(
    first: int, second: int, methods: int
) -> None:
    long = "def f():\n" + "    x = 1\n" * first
    nested = "    def g():\n" + "        y = 2\n" * second
    members = "".join(f"    def m{n}(self):\n        z = 3\n\n" for n in range(methods))

    parsed = parse(path="a.py", source=f"{long}{nested}\nclass C:\n    w = 4\n{members}".encode())

    _check_lines(parsed)
    _check_bodies(parsed)


def test_a_long_class_is_its_head_and_its_members() -> None:
    members = "".join(f"    # {n}\n    def m{n}(self):\n        pass\n\n" for n in range(30))

    parsed = parse(path="a.py", source=f"class C:\n    w = 4\n\n{members}".encode())

    assert [(c.kind, c.name) for c in parsed.chunks[:2]] == [("class", "C"), ("method", "C.m0")]
    assert _lines(parsed.chunks[:3]) == [(1, 3), (4, 7), (8, 11)]
    assert len(parsed.chunks) == 31


def _lines(chunks: tuple[Chunk, ...]) -> list[tuple[int, int]]:
    return [(one.first_line, one.last_line) for one in chunks]


def _check_lines(parsed: Parsed) -> None:
    covered = [n for first, last in _lines(parsed.chunks) for n in range(first, last + 1)]
    assert covered == list(range(1, parsed.lines + 1))
    assert all(1 <= s.first_line <= s.last_line <= parsed.lines for s in parsed.symbols)
    assert all(1 <= r.line <= max(1, parsed.lines) for r in parsed.references)
    known = {symbol.qualified for symbol in parsed.symbols}
    assert len(known) == len(parsed.symbols)
    assert {reference.source for reference in parsed.references} <= known | {""}


def _check_bodies(parsed: Parsed) -> None:
    for symbol in parsed.symbols:
        within = [c for c in parsed.chunks if c.first_line <= symbol.first_line <= c.last_line]
        if symbol.kind in BODIES and symbol.last_line - symbol.first_line < chunk.LONGEST_BODY:
            assert symbol.last_line <= within[0].last_line, (symbol, within)
