"""Which files of a folder are documents; names alone decide."""

from pathlib import Path

import pytest

from config.demo import documents


@pytest.mark.parametrize(
    "path",
    [
        "CLAUDE.md", "AGENTS.md", ".cursorrules", "README", "README.md", "lib/readme.txt",
        "docs/a.md", "services/cart/docs/deep/b.md", ".cursor/rules/style.mdc", "adr/0001-use-x.md",
        ".github/copilot-instructions.md",
    ],
)  # fmt: skip
def test_documents_are_known_by_name(path: str) -> None:
    assert documents.is_document(path=path)


@pytest.mark.parametrize(
    "path", ["notes.md", "src/main.py", "docs/logo.png", "README.rst", "readme/index.html", "docs"]
)
def test_other_files_are_not(path: str) -> None:
    assert not documents.is_document(path=path)


def test_folders_of_package_managers_and_links_are_not_entered(tmp_path: Path) -> None:
    for path in ("node_modules/x/README.md", ".git/README.md", "var/README.md", "a/README.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("# words", encoding="utf-8")
    (tmp_path / "loop").symlink_to(tmp_path)

    found = [document.path for document in documents.documents(folder=tmp_path)]

    assert found == ["a/README.md"]


def test_a_dangling_link_and_a_huge_file_are_named_with_their_reason(tmp_path: Path) -> None:
    (tmp_path / "README.md").symlink_to(tmp_path / "gone.md")
    with (tmp_path / "CLAUDE.md").open("wb") as file:
        file.truncate(documents.LARGEST_BYTES + 1)

    skipped = {item.path: item.skipped for item in documents.documents(folder=tmp_path)}

    assert skipped == {"CLAUDE.md": "too large", "README.md": "no such file or directory"}


@pytest.mark.parametrize(
    ("path", "tag"),
    [("CLAUDE.md", "agent-rules"), ("a/README.md", "readme"), ("docs/x.md", "docs")],
)
def test_a_tag_says_what_kind_of_document_it_was(path: str, tag: str) -> None:
    assert documents.tag_of(path=path) == tag
