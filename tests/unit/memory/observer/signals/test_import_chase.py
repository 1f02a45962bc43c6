"""Signal 12: from file to file along their imports."""

import pytest

from memory.observer.signals import import_chase
from tests.support.stories import Story, keys


@pytest.mark.parametrize(
    ("story", "seen"),
    [
        (
            Story().read("a.py", "from x import b").read("x/b.py", "import c").read("c.py"),
            ["a.py|c.py"],
        ),
        (
            Story()
            .read("a.ts", "import { q } from './lib/b'")
            .read("lib/b.ts", "export * from '../c'")
            .read("c.ts"),
            ["a.ts|c.ts"],
        ),
        (
            Story()
            .read("a.js", "const b = require('./b')")
            .grep("x")
            .read("b.js", "  1\timport z from './z/index'")
            .read("z/index.js"),
            ["a.js|z/index.js"],
        ),
    ],
)
def test_it_is_seen(story: Story, seen: list[str]) -> None:
    assert keys(import_chase.find, story) == seen


@pytest.mark.parametrize(
    "story",
    [
        Story().read("a.py", "from x import b").read("b.py"),
        Story().read("a.py", "import b").edit("a.py").read("b.py", "import c").read("c.py"),
        Story().read("a.py", "x = 1").read("b.py", "import c").read("c.py"),
        Story().read("a.py", "import b").read("z.py", "import c").read("c.py"),
    ],
)
def test_it_is_not_seen(story: Story) -> None:
    assert keys(import_chase.find, story) == []
