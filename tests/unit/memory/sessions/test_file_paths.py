"""Files have one name in every session, and what is outside of the repository is known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.sessions import file_paths


@pytest.mark.parametrize(
    ("path", "relative"),
    [
        ("/work/shop/a.py", "a.py"),
        ("/work/shop/./a/../b.py", "b.py"),
        ("/work/shopping/a.py", "/work/shopping/a.py"),
        ("a/./b.py", "a/b.py"),
        ("a\\b.py", "a/b.py"),
        ("../a.py", "../a.py"),
        ("/work/shop/../secret", "/work/secret"),
    ],
)
def test_a_file_has_one_name(path: str, relative: str) -> None:
    assert file_paths.relative(path=path, root="/work/shop/") == relative


@given(st.lists(st.sampled_from(["a", "b", ".", "..", "c.py"]), min_size=1, max_size=8))
def test_naming_again_changes_nothing(parts: list[str]) -> None:
    once = file_paths.relative(path="/".join(parts), root="/r")

    assert file_paths.relative(path=once, root="/r") == once


@pytest.mark.parametrize(
    ("root", "folder", "standing"),
    [
        ("/h/shop", "/h/shop/backend", ("/h/shop", "/h/shop/backend")),
        ("/h/shop/", "/h/shop", ("/h/shop", "")),
        ("", "/h/shop", ("/h/shop", "")),
        ("/h/shop", "", ("/h/shop", "")),
        ("/private/h/shop", "/h/shop/backend", ("/h/shop/backend", "")),
        ("C:/h/shop", "C:\\h\\shop\\a", ("C:/h/shop", "C:\\h\\shop\\a")),
        ("/", "/h/shop", ("/h/shop", "")),
    ],
)
def test_a_repository_is_believed_where_the_work_lies_in_it(
    root: str, folder: str, standing: tuple[str, str]
) -> None:
    assert file_paths.working_folder(root=root, folder=folder) == standing


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a.py", "backend/a.py"),
        ("../frontend/x.ts", "frontend/x.ts"),
        ("/home/ana/shop/frontend/x.ts", "frontend/x.ts"),
        ("~/shop/frontend/x.ts", "frontend/x.ts"),
        ("~/other/x.ts", "~/other/x.ts"),
        ("../../other/x.ts", "/home/ana/other/x.ts"),
    ],
)
def test_a_path_is_named_from_the_repository_wherever_in_it_one_works(path: str, name: str) -> None:
    root = "/home/ana/shop"

    assert file_paths.relative(path=path, root=root, folder=f"{root}/backend") == name


def test_what_leaves_the_repository_is_outside() -> None:
    for path in ("/etc/passwd", "~/notes", "../a", "..", "C:/a"):
        assert file_paths.is_outside(path=path), path


def test_files_that_configure_or_test_and_the_module_of_a_file_are_known() -> None:
    config = ("package.json", "web/tsconfig.json", "config/queues.yaml", ".github/workflows/ci.yml")
    others = ("config/urls.py", "docs/settings.md", "data/prices.yaml")
    tests = ("tests/a.py", "a/test_b.py", "a.spec.ts")

    assert all(file_paths.is_config(path=path) for path in config)
    assert not any(file_paths.is_config(path=path) for path in others)
    assert all(file_paths.is_test(path=path) for path in tests)
    assert not file_paths.is_test(path="a/contest.py")
    assert file_paths.module(path="a/b/c/d.py") == "a/b"
    assert file_paths.module(path="a.py") == ""
