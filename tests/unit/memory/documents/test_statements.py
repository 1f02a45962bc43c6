"""Documents as statements: atomic, typed, readable alone, with stable ids."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.documents import markdown_notes
from memory.documents.markdown_notes import Statement
from memory.taxonomy import Governance, type_row

STATE = "We use Zustand instead of Redux because the store is small."
RULES = """\
---
description: rules
globs: "*.ts"
---
# CLAUDE.md

This file provides guidance to Claude Code.

## Commands

- `pnpm test` - run the unit tests

## Architecture

The app is a monorepo:

- `apps/web/` — the customer-facing site

**State**: We use Zustand instead of Redux because the store is small.

## Code style

- NEVER use `any`
- Prefer named exports
- Supported browsers:
  - Firefox
  - Chrome

## Gotchas

> [!WARNING]
> Prisma migrations are not run in CI.

## Releasing

1. Bump the version
2. Push a tag:
   ```sh
   git tag v1
   ```

## License

MIT, as in the file LICENSE.
"""
PIECES = st.sampled_from([
    "# Title", "## Why we do it", "- an item with words", "  - nested deeper here", "1. run `make`",
    "2. push the tag", "A sentence ends. Another one begins! It goes on.", "> quoted words here",
    "```sh", "```", "| a | b |", "|---|---|", "| one thing | two things |", "<div>", "***", "\t",
    "[text of a link](https://example.org/a)", "![](x.png)", "&amp; entities &lt;", "é ü 漢字 😀",
    "\\* escaped \\_", "Leads to a list:", "**Bold.** Then words follow here.", "Setext", "=====",
    "    indented code", "---", "`code with * stars`", "_emphasis_ and __strong__ words",
    "[ref]: http://x.y",
])  # fmt: skip
DOCUMENTS = st.lists(st.one_of(PIECES, st.text(max_size=40)), max_size=25).map("\n".join)


def _read(text: str, path: str = "CLAUDE.md") -> tuple[Statement, ...]:
    return markdown_notes.read_document(text=text, path=path)


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text)


def test_a_file_of_rules_becomes_typed_statements_that_stand_alone() -> None:
    found = _read(RULES)

    lines = RULES.splitlines()
    assert found[-1].steps == ("Bump the version", "Push a tag:\n```sh\ngit tag v1\n```")
    assert "pnpm test" in lines[found[0].line - 1]
    assert "NEVER" in lines[found[3].line - 1]
    assert [(item.type.value, item.content) for item in found] == [
        ("fact", "Commands: `pnpm test` - run the unit tests"),
        ("fact", "Architecture: The app is a monorepo: `apps/web/` — the customer-facing site"),
        ("fact", f"Architecture \u203a State: {STATE}"),
        ("requirement", "Code style: NEVER use `any`"),
        ("fact", "Code style: Prefer named exports"),
        ("fact", "Code style: Supported browsers: Firefox; Chrome"),
        ("fact", "Gotchas: Prisma migrations are not run in CI."),
        (
            "workflow_recipe",
            "Releasing:\n1. Bump the version\n2. Push a tag:\n```sh\ngit tag v1\n```",
        ),
    ]


def test_words_tell_the_type() -> None:
    types = {
        "Never call `flush()` in a loop, because it blocks.": "requirement",
        "Start it like so:\n\n```sh\nmake run\n```": "tool",
        "We chose advisory locks rather than retries.": "fact",
        "The service answers in English and French.": "fact",
        "My name is Sam and I decide who decides.": "fact",
    }

    for text, type in types.items():
        assert [item.type.value for item in _read(text)] == [type]


def test_a_long_document_is_read_to_its_end_in_groups_that_stand_alone() -> None:
    long = "The queue keeps every job in a row of the database for a good reason. " * 4
    item = "- Part {} must be kept apart" + " from the other parts" * 20 + ".\n"
    text = "# Big\n\n" + "".join(item.format(number) for number in range(500))

    groups = [item.text for item in _read(f"{long}It survives a crash. Workers only claim them.")]

    assert len(groups) > 1
    assert not any(group.startswith("It ") for group in groups)
    assert len(text) > 200_000
    assert len(_read(text)) == 500


def test_headings_tables_and_code_keep_the_words_that_they_need() -> None:
    text = "# Deploys\n\nDeploys need a VPN here.\n\n## Limits\n\nAt most ten a day.\n"

    said, unsaid = _read(text, "docs/deploy.md")

    assert said.content == "Deploys need a VPN here."
    assert unsaid.content == "Deploys \u203a Limits: At most ten a day."

    text = "| call | limit | unit |\n|---|---|---|\n| search results | 100 | items |\n"

    assert [item.text for item in _read(text)] == ["search results: limit: 100; unit: items"]

    code = "```python\nx = 1. Two\n\n- not a list\n# not a heading\n```"

    (item,) = _read(f"Set it up in three lines:\n\n{code}\n")

    assert item.content == f"Set it up in three lines:\n{code}"


@pytest.mark.parametrize(
    "text",
    ["", "\n\n", "# Only a heading", "![badge](x.svg) ![b](y.svg)", "- [Top](#top)\n- [End](#end)",
     "## License\n\nMIT license, see the file.", "<!-- hidden words of a comment -->", "TBD",
     "Copyright 2026 the authors of this", "```\n```", "---\ntitle: only front matter\n---\n"],
)  # fmt: skip
def test_boilerplate_says_nothing(text: str) -> None:
    assert _read(text) == ()


def test_an_id_follows_from_the_file_and_the_words_alone() -> None:
    before = {item.text: item.external_id for item in _read(RULES)}

    after = {
        item.text: item.external_id
        for item in _read(RULES.replace("- Prefer", "- Use tabs, not spaces\n- Prefer"))
    }

    assert before.items() <= after.items()

    ids = {_read("Tokens expire after a day.", path)[0].external_id for path in ("a.md", "b.md")}

    assert len(ids) == 2


@given(text=DOCUMENTS)
def test_statements_occur_in_their_document_once_and_are_never_constitutional(text: str) -> None:
    source = _letters(html.unescape(re.sub(r"\\(?=\W)", "", text)))

    found = _read(text)

    for item in found:
        words = re.split(r"[\s;:.()]+|^\d+\. ", item.text, flags=re.MULTILINE)
        assert all(_letters(html.unescape(word)) in source for word in words)
        assert type_row(type=item.type).governance is not Governance.CONSTITUTIONAL
    assert _read(text) == found
    assert len({item.external_id for item in found}) == len(found)


@pytest.mark.parametrize("sign", ["> ", "- ", "[", "`", "*", "<", "| ", "1. "])
def test_hostile_nesting_is_survived(sign: str) -> None:
    assert len(_read(sign * 3_000 + "deep words are here")) <= 1


SOURCE = '''"""The six gates, in
order.

The first that refuses ends the run, because later ones cost more. Pure.

Error
├── Refused
└── Known
"""

import os
'''


def test_paragraphs_of_a_docstring_are_the_purpose_and_insights() -> None:
    changed = SOURCE.replace("six", "seven")

    purpose, reason = markdown_notes.read_docstring(source=SOURCE, path="intake/gates.py")

    again = markdown_notes.read_docstring(source=changed, path="intake/gates.py")[0]
    assert purpose.content == "intake/gates.py: The six gates, in order."
    assert (purpose.type.value, purpose.line) == ("module_insight", 1)
    assert again.external_id == purpose.external_id
    assert (reason.type.value, reason.line) == ("module_insight", 4)
    assert reason.content.endswith("```\nError\n├── Refused\n└── Known\n```")


@pytest.mark.parametrize(
    "signpost",
    [
        "See [the policy](https://acme.example/policy) for details.",
        "To learn more, see the [lockfile](../layout.md#lock) page.",
        "Refer to [the guide](docs/guide.md).",
    ],
)
def test_a_sentence_that_only_leads_to_another_page_is_left_out(signpost: str) -> None:
    text = f"# Locks\n\n{signpost}\n\n- Set up the hooks:\n"

    assert markdown_notes.read_document(text=text, path="docs/a.md") == ()


def test_the_title_of_a_document_below_the_root_leads_its_statements() -> None:
    text = "# Bearer tokens\n\n## Caveats\n\nDrop the keyword for a real deployment.\n"

    below, above = (
        markdown_notes.read_document(text=text, path=path)[0].content
        for path in ("examples/bearer/README.md", "README.md")
    )

    assert below == "Bearer tokens: Drop the keyword for a real deployment."
    assert above == "Drop the keyword for a real deployment."
