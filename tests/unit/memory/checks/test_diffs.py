"""Diffs are read strictly, as git and diff print them; what is none is refused and never breaks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.errors import InvalidInput
from memory.checks import work
from memory.checks.work import ChangedFile

PLAIN = """\
--- cart/prices.py\t2026-11-20 10:00:00
+++ cart/prices.py\t2026-11-20 10:01:00
@@ -1,3 +1,4 @@
+from functools import lru_cache
 def price(item):
-    return look_up(item)
+    return round(look_up(item))
 # end
"""
GIT = """\
commit 0123
Author: Ana

    Say --- more
    +++ and less

diff --git a/cart/a b.py b/cart/a b.py
index 1..2 100644
--- a/cart/a b.py
+++ b/cart/a b.py
@@ -10,2 +10,2 @@ def price():
-one
+two
 three
@@ -20,0 +21,2 @@
+four
+five
diff --git a/old.py b/new.py
similarity index 100%
rename from old.py
rename to new.py
diff --git a/gone.py b/gone.py
deleted file mode 100644
index 1..0
--- a/gone.py
+++ /dev/null
@@ -1,2 +0,0 @@
-one
--- two
diff --git a/born.py b/born.py
new file mode 100644
--- /dev/null
+++ b/born.py
@@ -0,0 +1 @@
+one
\\ No newline at end of file
diff --git a/logo.png b/logo.png
new file mode 100644
index 0..1
Binary files /dev/null and b/logo.png differ
diff --git "a/caf\\303\\251 \\"x\\".py" "b/caf\\303\\251 \\"x\\".py"
old mode 100644
new mode 100755
--
2.43.0
"""


def _only(text: str) -> ChangedFile:
    (found,) = work.read_diff(text=text)
    return found


def test_a_plain_diff_has_its_lines() -> None:
    found = _only(PLAIN)

    (hunk,) = found.hunks
    assert found.path == "cart/prices.py"
    assert (hunk.first, hunk.last) == (1, 4)
    assert hunk.added == ("from functools import lru_cache", "    return round(look_up(item))")
    assert hunk.removed == ("    return look_up(item)",)


def test_git_says_what_becomes_of_each_file() -> None:
    found = work.read_diff(text=GIT)

    paths = ["cart/a b.py", "new.py", "gone.py", "born.py", "logo.png", 'café "x".py']
    assert [one.path for one in found] == paths
    assert found[1].before == "old.py"
    assert [(one.first, one.last) for one in found[0].hunks] == [(10, 11), (21, 22)]
    assert found[2].hunks[0].removed == ("one", "-- two")
    assert found[3].hunks[0].added == ("one",)
    assert work.read_diff(text=GIT.replace("\n", "\r\n")) == found


def test_paths_without_prefixes_are_taken_and_a_line_that_looks_like_a_head_is_text() -> None:
    plain = _only("--- a/x.py\n+++ a/x.py\n@@ -1 +1 @@\n-1\n+2\n")
    found = _only("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n---- a/y\n+++++ b/y\n @@ -1 +1 @@\n")

    assert plain.path == "a/x.py"
    assert found.hunks[0].removed == ("--- a/y",)
    assert found.hunks[0].added == ("++++ b/y",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Please change the cart.", "names no file"),
        ("diff --cc cart.py\n--- a/cart.py\n", "combined diff"),
        ("--- a/x\n+++ b/x\n@@@ -1 -1 +1 @@@\n", "combined diff"),
        ("--- a/x\n+++ b/x\n@@ -1,5 +1,5 @@\n one\n", "line 5"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n+a\n+b\n", "line 5"),
        ("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\nbroken\n", "line 4"),
        ("@@ -1 +1 @@\n-a\n+b\n", "line 1"),
        ("--- a/x\n+++ b/x\n@@ -1 and so on\n", "line 3"),
        ("--- /dev/null\n+++ /dev/null\n", "names no file"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        work.read_diff(text=text)

    assert said in refused.value.detail
    assert refused.value.hint
    assert refused.value.errors[0].pointer == "/diff"


def test_too_many_files_or_hunks_are_refused() -> None:
    files = "".join(f"diff --git a/{n}.py b/{n}.py\nnew file mode 100644\n" for n in range(10_000))
    hunks = "--- a/x\n+++ b/x\n" + "@@ -1 +1 @@\n-a\n+b\n" * 10_001

    with pytest.raises(InvalidInput, match="more than 500 files"):
        work.read_diff(text=files)
    with pytest.raises(InvalidInput, match="more than 10000 hunks"):
        work.read_diff(text=hunks)


_ODD = ("@@ -0,0 +1,999999999 @@", '--- "a/\\777', "+++ ", "\0")
_LINES = st.sampled_from([*GIT.splitlines(), *PLAIN.splitlines(), *_ODD])


def _tried(text: str) -> tuple[ChangedFile, ...]:
    """Read a diff, as none where it is refused; anything else that is raised fails the test."""
    try:
        return work.read_diff(text=text)
    except InvalidInput:
        return ()


@given(st.lists(st.one_of(_LINES, st.text(max_size=40)), max_size=40))
def test_nothing_but_our_refusal_is_raised(lines: list[str]) -> None:
    found = _tried("\n".join(lines))

    assert all(one.path for one in found)


@given(st.integers(min_value=0, max_value=len(GIT)))
def test_a_diff_cut_anywhere_is_read_or_refused(end: int) -> None:
    whole = {one.path for one in work.read_diff(text=GIT)}

    found = _tried(GIT[:end])

    assert len(found) <= len(whole)


_WORDS = st.text(alphabet="ab +-@\\", max_size=8)


@given(st.lists(_WORDS, max_size=6), st.lists(_WORDS, max_size=6))
def test_lines_come_back_as_they_were_written(old: list[str], new: list[str]) -> None:
    body = "".join(f"-{one}\n" for one in old) + "".join(f"+{one}\n" for one in new)

    found = _only(f"--- a/x\n+++ b/x\n@@ -1,{len(old)} +1,{len(new)} @@\n{body}")

    assert found.hunks[0].removed == tuple(old)
    assert found.hunks[0].added == tuple(new)
