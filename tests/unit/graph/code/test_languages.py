"""Which files and functions are tests, and of what."""

import pytest

from graph.code import languages, modules
from graph.code.languages import Language, language_of
from graph.code.modules import Files

PATHS = (
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
def test_files_of_tests_are_known_by_their_paths(path: str, is_test: bool, tested: str) -> None:
    language = language_of(path=path)

    assert language is not None
    assert languages.is_test_file(path=path, language=language) is is_test
    assert languages.tested_name(path=path) == tested


def test_functions_of_tests_are_known_by_their_names() -> None:
    tests = ((Language.PYTHON, "test_a"), (Language.GO, "TestA"), (Language.GO, "BenchmarkA"))
    others = ((Language.PYTHON, "a_test"), (Language.GO, "Testify"), (Language.RUST, "test_a"))

    assert all(languages.is_test_name(name=name, language=one) for one, name in tests)
    assert not any(languages.is_test_name(name=name, language=one) for one, name in others)


@pytest.fixture(scope="module")
def files() -> Files:
    """Look at the paths, as of a project whose files of Go import a package of its own."""
    return modules.survey(paths=PATHS, go_imports=("example.com/x/internal/db", "fmt"))


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
