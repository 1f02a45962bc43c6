"""`cairn check`: plans and diffs for people, hooks of git and CI; exit codes that say stop."""

import io
from pathlib import Path

import pytest

from tests.edges.client.conftest import Cairn

pytestmark = pytest.mark.django_db

TRIED = "Caching prices in the browser with localStorage failed: shoppers saw stale prices."
DIFF = """\
--- a/shop/prices.ts
+++ b/shop/prices.ts
@@ -1 +1,2 @@
+// cached prices in the browser, localStorage
 return all
"""


@pytest.fixture
def plan(tmp_path: Path, here: Cairn) -> Path:
    """A plan that a known dead end speaks against."""
    added = here("add", TRIED, "--type", "dead_end", "--files", "shop/prices.ts")
    assert added.code == 0, added.err
    file = tmp_path / "plan.md"
    file.write_text("1. Measure.\n2. Cache prices in the browser, in localStorage.\n")
    return file


def test_a_plan_that_is_to_stop_ends_with_6_and_says_where(here: Cairn, plan: Path) -> None:
    done = here("check", "--plan", str(plan))

    assert done.code == 6
    assert done.out.startswith("stop     step 2 (line 2): was tried and did not work. dead_end ")
    assert TRIED[:60] in done.out
    assert "verdict: stop" in done.err


def test_a_diff_is_read_from_stdin(
    here: Cairn, plan: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(DIFF.encode())))

    done = here("--json", "check", "--diff", "-")

    (told,) = done.rows()
    assert (done.code, told["verdict"]) == (6, "stop")
    assert told["findings"][0]["places"][0]["file"] == "shop/prices.ts"


def test_what_is_clear_is_done_and_an_empty_diff_asks_no_server(
    here: Cairn, cairn: Cairn, tmp_path: Path
) -> None:
    file = tmp_path / "clear.md"
    file.write_text("Translate the mails to French.")
    (tmp_path / "empty.diff").write_text("\n")

    done = here("check", "--plan", str(file))
    empty = cairn("--url", "http://127.0.0.1:9", "check", "--diff", str(tmp_path / "empty.diff"))

    assert (done.code, done.out, empty.code, empty.out) == (0, "", 0, "")
    assert "verdict: clear" in done.err


@pytest.mark.parametrize(
    ("text", "out", "err"),
    [
        (
            "Keep stored sessions for 24 hours.",
            "caution  step 1 (line 1): names another number. requirement ",
            "verdict: caution",
        ),
        ("- Mail.\n" * 61, "", "not all of it was looked at: steps_left_out"),
    ],
)
def test_caution_and_what_was_not_all_looked_at_fail_only_when_asked_to(
    here: Cairn, tmp_path: Path, text: str, out: str, err: str
) -> None:
    here("add", "Stored sessions are kept for 72 hours.", "--type", "requirement")
    file = tmp_path / "plan.md"
    file.write_text(text)

    usual, strict = (here("check", "--plan", str(file), *more) for more in ((), ("--strict",)))

    assert (usual.code, strict.code) == (0, 6)
    assert usual.out.startswith(out)
    assert err in strict.err


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ((), 2, "one of the two"),
        (("--plan", "a", "--diff", "b"), 2, "one of the two"),
        (("--diff", "/nowhere/at.diff"), 2, "cannot be read"),
        (
            ("--diff", str(Path(__file__).with_name("conftest.py"))),
            1,
            "/diff: This is no unified diff",
        ),
    ],
)
def test_what_cannot_be_checked_is_said(
    here: Cairn, arguments: tuple[str, ...], code: int, says: str
) -> None:
    done = here("check", *arguments)

    assert done.code == code
    assert says in done.err
