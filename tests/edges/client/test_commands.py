"""The command line against a running server: asked, told, refused, checked; MCP over stdin."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from memory.client.commands.setup import HELLO
from tests.edges.client.conftest import Cairn
from tests.support.live import Place

pytestmark = pytest.mark.django_db

CART = "The cart service caches prices for 30 s, so a test must wait or call flush_prices()."
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
TRIED = "Caching prices in the browser with localStorage failed: shoppers saw stale prices."
DIFF = """\
--- a/shop/prices.ts
+++ b/shop/prices.ts
@@ -1 +1,2 @@
+// cached prices in the browser, localStorage
 return all
"""


def test_login_with_a_token_that_nobody_gave_out_keeps_nothing(
    cairn: Cairn, address: str, home: Path
) -> None:
    done = cairn("--token", "crn_pat_" + "0" * 38, "login", address)

    assert done.code == 3
    assert "try: cairn login" in done.err
    assert list(home.iterdir()) == []


def test_project_is_chosen_anew_with_the_login_there_is(here: Cairn) -> None:
    refused = here("login", "--project", "atlantis")

    assert (refused.code, here("login", "--project", "shop").code) == (2, 0)
    assert here("status").out.startswith("* shop")
    assert here("--json", "whoami").rows()[0]["role"] == "owner"


def test_token_is_read_from_stdin(
    cairn: Cairn, address: str, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{place.token}\n"))

    done = cairn("login", address)

    assert done.code == 0
    assert place.token not in done.out + done.err


def test_what_was_added_is_found_listed_and_counted(here: Cairn) -> None:
    added = here("--json", "add", CART, "--type", "gotcha").rows()

    assert added[0]["outcome"] in {"added", "confirmed", "known"}
    found = here("search", "stale", "prices", "in", "cart", "tests", "--json").rows()
    assert found[0]["memory"]["content"] == CART
    assert here("recent", "--limit", "1").out.count("\n") == 1
    assert here("stats", "--json").rows()[0]["types"]["gotcha"] == 1
    nothing = here("search", "zebra migration patterns of the Serengeti")
    assert (nothing.code, nothing.out) == (0, "")
    assert "Nothing relevant" in nothing.err


def test_lines_of_stdin_become_memories_and_a_refused_one_makes_it_partial(
    here: Cairn, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "Invoices are numbered by the database, because gaps are illegal.\nshort\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))

    done = here("add", "--lines", "--json")

    assert done.code == 5
    assert [row["outcome"] for row in done.rows()] == ["added", "refused"]
    assert json.loads(done.err)["error"] == "partial"


def test_refused_memory_says_why_and_leaves_a_request_to_ask_about(here: Cairn) -> None:
    done = here("add", "short")
    other = here("search", "prices", "--project", "atlantis")

    assert (done.code, other.code) == (1, 4)
    assert "characters" in done.err
    assert "request " in done.err
    assert "try: cairn status" in other.err


def test_export_is_written_whole_and_taken_in_again(here: Cairn, home: Path) -> None:
    here("add", CART, "--type", "gotcha")

    assert here("export", "--format", "ndjson", "-o", str(home / "all.ndjson")).code == 0

    assert CART in (home / "all.ndjson").read_text()
    assert not (home / "all.ndjson.part").exists()
    done = here("import", "--no-wait", str(home / "all.ndjson"), "--json")
    assert done.code == 0, done.err
    assert done.rows()[0]["state"] == "queued"


def test_dry_run_of_an_import_stores_nothing(here: Cairn, home: Path) -> None:
    (home / "CLAUDE.md").write_text(
        "# Rules\n\n- Deploys need the VPN, for the registry is inside.\n"
    )

    done = here("import", "--dry-run", str(home / "CLAUDE.md"), "--json")

    assert done.rows()[0]["total"] == 1
    assert "VPN" not in here("recent").out


def test_somebody_elses_memories_are_neither_found_nor_counted_nor_exported(
    here: Cairn, cairn: Cairn, address: str, other_place: Place
) -> None:
    here("add", CART, "--type", "gotcha")

    theirs = ("--url", address, "--token", other_place.token)
    told = "".join(
        cairn(*theirs, *words).out
        for words in (("search", "cart", "prices"), ("recent",), ("stats", "--json"), ("export",))
    )

    assert "cart" not in told
    assert '"memories": 0' in told


def test_what_cannot_be_done_names_the_reason_and_the_next_command(
    cairn: Cairn, place: Place
) -> None:
    away = cairn("--url", "http://127.0.0.1:9", "--token", place.token, "--json", "whoami")
    no_login = cairn("--json", "recent")

    assert (cairn("fly").code, cairn("export", "--format", "pdf").code) == (2, 2)
    assert (no_login.code, json.loads(no_login.err)["command"]) == (2, "cairn login")
    assert (away.code, json.loads(away.err)["error"]) == (1, "unreachable")


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let lines stand on stdin."""

    def say(*lines: object) -> None:
        text = "".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in lines)
        stdin = io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")
        monkeypatch.setattr("sys.stdin", stdin)

    return say


def test_messages_are_carried_and_a_line_that_is_none_stops_no_other(
    here: Cairn, said: Any
) -> None:
    said(HELLO, READY, "no json", LIST)

    done = here("mcp")

    assert done.code == 0, done.err
    hello, broken, tools = done.rows()  # what has no id gets no answer
    assert (hello["id"], broken["error"]["code"], tools["id"]) == (1, -32_700, 2)
    assert "search" in {tool["name"] for tool in tools["result"]["tools"]}


def test_server_that_is_away_is_an_error_of_the_message(cairn: Cairn, said: Any) -> None:
    said(LIST, READY)

    (answer,) = cairn("--url", "http://127.0.0.1:9", "--token", "t", "mcp").rows()

    assert (answer["id"], answer["error"]["code"]) == (2, -32_000)


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
