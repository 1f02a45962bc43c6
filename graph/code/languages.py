"""The languages of code: their extensions, their tests by name, and what they bring along."""

import builtins
import re
from enum import StrEnum
from pathlib import PurePosixPath
from posixpath import splitext

_STEM = re.compile(r"^test_(?P<after>.+)$|^(?P<before>.+?)(?:_test|[.](?:test|spec))$")
_PYTHON_TYPES = (str, bytes, int, float, list, tuple, dict, set, frozenset, type(iter(())), object)


class Language(StrEnum):
    """The languages that are parsed."""

    PYTHON = "python"
    JAVASCRIPT = "javascript"  # JSX is part of its grammar
    TYPESCRIPT = "typescript"
    TSX = "tsx"
    GO = "go"
    RUST = "rust"

    @property
    def family(self) -> "Language":
        """The language whose rules apply: JavaScript for TypeScript and TSX, else itself."""
        is_ecma = self in {Language.TYPESCRIPT, Language.TSX}
        return Language.JAVASCRIPT if is_ecma else self


EXTENSIONS: dict[str, Language] = {
    ".py": Language.PYTHON,
    ".pyi": Language.PYTHON,
    ".js": Language.JAVASCRIPT,
    ".jsx": Language.JAVASCRIPT,
    ".mjs": Language.JAVASCRIPT,
    ".cjs": Language.JAVASCRIPT,
    ".ts": Language.TYPESCRIPT,
    ".mts": Language.TYPESCRIPT,
    ".cts": Language.TYPESCRIPT,
    ".tsx": Language.TSX,
    ".go": Language.GO,
    ".rs": Language.RUST,
}


def language_of(*, path: str) -> Language | None:
    """Return the language of a file by its extension; none for one that is not parsed."""
    return EXTENSIONS.get(splitext(path)[1].lower())


_FILES = {  # this and what follows: by family
    Language.PYTHON: re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$|(?:^|/)tests?/"),
    Language.JAVASCRIPT: re.compile(r"\.(?:test|spec)\.[cm]?[jt]sx?$|(?:^|/)(?:__tests__|tests?)/"),
    Language.GO: re.compile(r"_test\.go$"),
    Language.RUST: re.compile(r"(?:^|/)(?:tests|benches)/"),
}
_FUNCTIONS = {
    Language.PYTHON: re.compile(r"test"),
    Language.GO: re.compile(r"(?:Test|Benchmark|Fuzz|Example)(?![a-z])"),
}


def is_test_file(*, path: str, language: Language) -> bool:
    """Say whether a file holds tests, by its path."""
    return _FILES[language.family].search(path) is not None


def is_test_name(*, name: str, language: Language) -> bool:
    """Say whether a function of a file of tests is one, by its name alone."""
    pattern = _FUNCTIONS.get(language)
    return pattern is not None and pattern.match(name) is not None


def tested_name(*, path: str) -> str:
    """Return the name, without extension, of the file that a file of tests is about, or nothing.

    Only what the name itself says: `test_store.py`, `store_test.go` and `store.spec.ts` are about
    `store`.
    """
    found = _STEM.match(PurePosixPath(path).stem)
    return (found["after"] or found["before"]) if found else ""


NAMES: dict[Language, frozenset[str]] = {
    Language.PYTHON: frozenset(dir(builtins)),
    Language.JAVASCRIPT: frozenset({
        "Array", "BigInt", "Boolean", "Date", "Error", "Map", "Number", "Object", "Promise",
        "Proxy", "RangeError", "RegExp", "Set", "String", "Symbol", "TypeError", "URL", "WeakMap",
        "WeakSet", "clearInterval", "clearTimeout", "decodeURIComponent", "encodeURIComponent",
        "fetch", "isNaN", "parseFloat", "parseInt", "queueMicrotask", "require", "setInterval",
        "setTimeout", "structuredClone", "describe", "it", "test", "suite", "expect", "beforeEach",
        "afterEach", "beforeAll", "afterAll",
    }),
    Language.GO: frozenset({
        "append", "cap", "clear", "close", "complex", "copy", "delete", "imag", "len", "make",
        "max", "min", "new", "panic", "print", "println", "real", "recover", "bool", "byte",
        "error", "float32", "float64", "int", "int8", "int16", "int32", "int64", "rune", "string",
        "uint", "uint8", "uint16", "uint32", "uint64", "uintptr",
    }),
    Language.RUST: frozenset({
        "Err", "None", "Ok", "Some", "Box", "String", "Vec", "assert", "assert_eq", "assert_ne",
        "dbg", "debug_assert", "drop", "eprintln", "format", "matches", "panic", "print",
        "println", "todo", "unimplemented", "unreachable", "vec", "write", "writeln",
    }),
}  # fmt: skip

METHODS: dict[Language, frozenset[str]] = {  # of the types that a language brings along
    Language.PYTHON: frozenset(name for one in _PYTHON_TYPES for name in dir(one)),
    Language.JAVASCRIPT: frozenset({
        "add", "apply", "at", "bind", "call", "catch", "concat", "delete", "endsWith", "entries",
        "every", "filter", "find", "findIndex", "finally", "flat", "flatMap", "forEach", "get",
        "has", "includes", "indexOf", "join", "keys", "map", "match", "padEnd", "padStart", "pop",
        "push", "reduce", "replace", "replaceAll", "reverse", "set", "shift", "slice", "some",
        "sort", "splice", "split", "startsWith", "substring", "then", "toFixed", "toLowerCase",
        "toString", "toUpperCase", "trim", "unshift", "values",
    }),
    Language.GO: frozenset({"Error", "String", "Lock", "Unlock", "Close", "Done", "Wait"}),
    Language.RUST: frozenset({
        "and_then", "as_bytes", "as_mut", "as_ref", "as_str", "clone", "cloned", "collect",
        "contains", "copied", "expect", "extend", "filter", "fmt", "get", "get_mut", "insert",
        "into", "into_iter", "is_empty", "is_none", "is_some", "iter", "iter_mut", "join", "len",
        "lock", "map", "map_err", "next", "ok", "ok_or", "push", "read", "remove", "to_owned",
        "to_string", "trim", "unwrap", "unwrap_or", "unwrap_or_default", "write",
    }),
}  # fmt: skip
