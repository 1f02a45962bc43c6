"""What languages bring along: names whose calls say nothing of a project."""

import builtins

from graph.code.languages import Language

_ECMA = frozenset({
    "Array", "BigInt", "Boolean", "Date", "Error", "Map", "Number", "Object", "Promise", "Proxy",
    "RangeError", "RegExp", "Set", "String", "Symbol", "TypeError", "URL", "WeakMap", "WeakSet",
    "clearInterval", "clearTimeout", "decodeURIComponent", "encodeURIComponent", "fetch", "isNaN",
    "parseFloat", "parseInt", "queueMicrotask", "require", "setInterval", "setTimeout",
    "structuredClone", "describe", "it", "test", "suite", "expect", "beforeEach", "afterEach",
    "beforeAll", "afterAll",
})  # fmt: skip
NAMES: dict[Language, frozenset[str]] = {
    Language.PYTHON: frozenset(dir(builtins)),
    Language.JAVASCRIPT: _ECMA,
    Language.TYPESCRIPT: _ECMA,
    Language.TSX: _ECMA,
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

_ECMA_METHODS = frozenset({
    "add", "apply", "at", "bind", "call", "catch", "concat", "delete", "endsWith", "entries",
    "every", "filter", "find", "findIndex", "finally", "flat", "flatMap", "forEach", "get", "has",
    "includes", "indexOf", "join", "keys", "map", "match", "padEnd", "padStart", "pop", "push",
    "reduce", "replace", "replaceAll", "reverse", "set", "shift", "slice", "some", "sort",
    "splice", "split", "startsWith", "substring", "then", "toFixed", "toLowerCase", "toString",
    "toUpperCase", "trim", "unshift", "values",
})  # fmt: skip
_PYTHON_TYPES = (str, bytes, int, float, list, tuple, dict, set, frozenset, type(iter(())), object)
METHODS: dict[Language, frozenset[str]] = {  # of the types that a language brings along
    Language.PYTHON: frozenset(name for one in _PYTHON_TYPES for name in dir(one)),
    Language.JAVASCRIPT: _ECMA_METHODS,
    Language.TYPESCRIPT: _ECMA_METHODS,
    Language.TSX: _ECMA_METHODS,
    Language.GO: frozenset({"Error", "String", "Lock", "Unlock", "Close", "Done", "Wait"}),
    Language.RUST: frozenset({
        "and_then", "as_bytes", "as_mut", "as_ref", "as_str", "clone", "cloned", "collect",
        "contains", "copied", "expect", "extend", "filter", "fmt", "get", "get_mut", "insert",
        "into", "into_iter", "is_empty", "is_none", "is_some", "iter", "iter_mut", "join", "len",
        "lock", "map", "map_err", "next", "ok", "ok_or", "push", "read", "remove", "to_owned",
        "to_string", "trim", "unwrap", "unwrap_or", "unwrap_or_default", "write",
    }),
}  # fmt: skip
