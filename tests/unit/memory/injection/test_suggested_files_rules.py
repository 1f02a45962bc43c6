"""What a session did by itself, and what it was told to read."""

from memory.injection.suggested_files_rules import unprompted
from tests.support.stories import Story


def test_a_file_that_was_named_and_only_read_is_nobody_s_habit() -> None:
    pad = Story().read("a.py").read("b.py").edit("c.py").done().scratchpad()

    own = unprompted(scratchpad=pad, named={"a.py": 0})

    assert set(own.files) == {"b.py", "c.py"}
    assert {deed.target for deed in own.deeds.values()} == {"b.py", "c.py"}


def test_what_was_edited_as_well_or_touched_before_it_was_named_counts() -> None:
    pad = Story().read("a.py").read("b.py").edit("b.py").read("a.py").done().scratchpad()

    own = unprompted(scratchpad=pad, named={"a.py": 2, "b.py": 0, "c.py": 0})

    assert own == pad
