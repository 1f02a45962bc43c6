"""A plan is its steps, however it is written down."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.checks import work


def _texts(text: str) -> list[str]:
    return [one.text for one in work.read_plan(text=text)[0]]


def test_items_headings_and_what_follows_them() -> None:
    plan = (
        "# Faster prices\n\n1. Measure first.\n2) Cache prices\n   in the browser\n"
        "- [ ] Tell everybody\n   * twice\n\nStep 3: Clean up.\n---\nÉtape 4 : finir\n"
    )

    assert _texts(plan) == [
        "Faster prices",
        "Measure first.",
        "Cache prices in the browser",
        "Tell everybody",
        "twice",
        "Clean up.",
        "finir",
    ]


@pytest.mark.parametrize(
    ("plan", "steps"),
    [
        (
            "First we measure. Then we\ncache v1.2 of it. Done!",
            ["First we measure.", "Then we cache v1.2 of it.", "Done!"],
        ),
        (
            "- Run this:\n  ```bash\n  # - not an item\n\n  npm audit fix\n  ```\n- Stop",
            ["Run this: # - not an item npm audit fix", "Stop"],
        ),
        (
            "# Measure C#, then go ##\n## Cache it\t# # \n",
            ["Measure C#, then go", "Cache it #"],
        ),
        ("---\n\n***\n1.\n- 42\n", []),
    ],
    ids=["sentences of a paragraph", "code", "closing signs of a heading", "signs alone"],
)
def test_what_is_a_step(plan: str, steps: list[str]) -> None:
    assert _texts(plan) == steps


def test_a_step_knows_its_line_and_those_beyond_the_bound_are_counted() -> None:
    steps, _ = work.read_plan(text="\n\n- one\n- two\n")
    many, left_out = work.read_plan(text="- a step\n" * 100)

    assert [(one.place.step, one.place.first_line) for one in steps] == [(1, 3), (2, 4)]
    assert (len(many), left_out) == (work.STEPS_MOST, 40)


@given(st.text(alphabet=st.sampled_from("ab1.-*#`> \n\t)"), max_size=200))
def test_any_text_has_bounded_steps_in_order(text: str) -> None:
    steps, _ = work.read_plan(text=text)

    assert [one.place.step for one in steps] == list(range(1, len(steps) + 1))
    assert all(one.text.strip() and len(one.text) <= work.STEP_MOST for one in steps)
    assert (lines := [one.place.first_line for one in steps]) == sorted(lines)


@pytest.mark.parametrize(
    "line",
    [
        f"# a{' ' * 99_000}b",
        f"# a{'#' * 99_000}b",
        f"# a{' #' * 49_000}b",
        f"{'- ' * 49_000}x",
        f"- [x] {' ' * 99_000}b",
        f"step 1{' ' * 99_000}b",
        ". " * 49_000,
        "\t" * 99_000 + "b",
    ],
)
def test_a_hostile_line_of_full_size_is_read_to_its_end(line: str) -> None:
    steps, _ = work.read_plan(text=f"{line}\n# Next ##  \n")

    assert steps[-1].text == "Next"
