"""The command line: asked, refused, checked; MCP over stdin; failures on the way."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from memory.client.api import Client
from memory.client.commands.setup import HELLO
from memory.client.configuration import Connection
from memory.client.errors import NOT_FOUND, Problem, Unreachable
from tests.edges.client.conftest import Cairn
from tests.support.live import Place
from tests.support.scripted import Answer, Served

pytestmark = pytest.mark.django_db

CART = "The cart service caches prices for 30 s, so a test must wait or call flush_prices()."
ANOTHER_NUMBER = "caution  step 1 (line 1): names another number. requirement "
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


def test_token_is_read_from_stdin_and_chooses_another_project_later(
    cairn: Cairn, address: str, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{place.token}\n"))

    done = cairn("login", address)
    refused = cairn("login", "--project", "atlantis")
    again = cairn("login", "--project", "shop")

    assert (done.code, refused.code, again.code) == (0, 2, 0)
    assert place.token not in done.out + done.err
    assert cairn("status").out.startswith("* shop")
    assert cairn("--json", "whoami").rows()[0]["role"] == "owner"


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


def test_lines_of_stdin_become_memories_and_a_refused_one_makes_it_partial_or_says_why(
    here: Cairn, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "Invoices are numbered by the database, because gaps are illegal.\nshort\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))

    done = here("add", "--lines", "--json")

    assert done.code == 5
    assert [row["outcome"] for row in done.rows()] == ["added", "refused"]
    assert json.loads(done.err)["error"] == "partial"
    alone, other = here("add", "short"), here("search", "prices", "--project", "atlantis")
    assert (alone.code, other.code) == (1, 4)
    for text in ("characters", "request "):
        assert text in alone.err
    assert "try: cairn status" in other.err


def test_export_is_written_whole_and_taken_in_again_after_a_dry_run(
    here: Cairn, home: Path
) -> None:
    here("add", CART, "--type", "gotcha")
    file, rules = home / "all.ndjson", home / "CLAUDE.md"
    rules.write_text("# Rules\n\n- Deploys need the VPN, for the registry is inside.\n")

    assert here("export", "--format", "ndjson", "-o", str(file)).code == 0
    seen = here("import", "--dry-run", str(rules), "--json")
    done = here("import", "--no-wait", str(file), "--json")

    assert CART in file.read_text()
    assert not (home / "all.ndjson.part").exists()
    assert seen.rows()[0]["total"] == 1
    assert (done.code, done.rows()[0]["state"]) == (0, "queued")
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


def test_what_cannot_be_done_names_the_reason_and_the_next_command_and_keeps_nothing(
    cairn: Cairn, address: str, place: Place, home: Path
) -> None:
    nobodys = cairn("--token", "crn_pat_" + "0" * 38, "login", address)
    away = cairn("--url", "http://127.0.0.1:9", "--token", place.token, "--json", "whoami")
    no_login = cairn("--json", "recent")

    assert (cairn("fly").code, cairn("export", "--format", "pdf").code) == (2, 2)
    assert (no_login.code, json.loads(no_login.err)["command"]) == (2, "cairn login")
    assert (away.code, json.loads(away.err)["error"]) == (1, "unreachable")
    assert (nobodys.code, "try: cairn login" in nobodys.err) == (3, True)
    assert list(home.iterdir()) == []


def test_messages_are_carried_and_what_fails_on_the_way_stops_no_other(
    here: Cairn, monkeypatch: pytest.MonkeyPatch
) -> None:
    def carried(*lines: object, options: tuple[str, ...] = ()) -> list[dict[str, Any]]:
        text = "".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in lines)
        stdin = io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")
        monkeypatch.setattr("sys.stdin", stdin)
        return here(*options, "mcp").rows()

    hello, broken, tools = carried(HELLO, READY, "no json", LIST)  # what has no id gets no answer
    (away,) = carried(LIST, READY, options=("--url", "http://127.0.0.1:9"))

    assert (hello["id"], broken["error"]["code"], tools["id"]) == (1, -32_700, 2)
    assert "search" in {tool["name"] for tool in tools["result"]["tools"]}
    assert (away["id"], away["error"]["code"]) == (2, -32_000)


def test_a_plan_or_a_diff_that_is_to_stop_ends_with_6_and_says_where(
    here: Cairn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = here("add", TRIED, "--type", "dead_end", "--files", "shop/prices.ts")
    assert added.code == 0, added.err
    plan = tmp_path / "plan.md"
    plan.write_text("1. Measure.\n2. Cache prices in the browser, in localStorage.\n")
    done = here("check", "--plan", str(plan))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(DIFF.encode())))
    diff = here("--json", "check", "--diff", "-")

    assert (done.code, diff.code) == (6, 6)
    assert done.out.startswith("stop     step 2 (line 2): was tried and did not work. dead_end ")
    assert TRIED[:60] in done.out
    assert "verdict: stop" in done.err
    (told,) = diff.rows()
    file = told["findings"][0]["places"][0]["file"]
    assert (told["verdict"], file) == ("stop", "shop/prices.ts")


def test_what_is_clear_is_done_and_an_empty_diff_asks_no_server(
    here: Cairn, tmp_path: Path
) -> None:
    file, nothing = tmp_path / "clear.md", tmp_path / "empty.diff"
    file.write_text("Translate the mails to French.")
    nothing.write_text("\n")

    done = here("check", "--plan", str(file))
    empty = here("--url", "http://127.0.0.1:9", "check", "--diff", str(nothing))

    assert (done.code, done.out, empty.code, empty.out) == (0, "", 0, "")
    assert "verdict: clear" in done.err


@pytest.mark.parametrize(
    ("text", "out", "err"),
    [
        ("Keep stored sessions for 24 hours.", ANOTHER_NUMBER, "verdict: caution"),
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


def test_what_cannot_be_checked_is_said(here: Cairn) -> None:
    for arguments, code, says in (
        ((), 2, "one of the two"),
        (("--plan", "a", "--diff", "b"), 2, "one of the two"),
        (("--diff", "/nowhere/at.diff"), 2, "cannot be read"),
        (("--diff", str(Path(__file__).with_name("conftest.py"))), 1, "/diff: This is no unified"),
    ):
        done = here("check", *arguments)

        assert (arguments, done.code) == (arguments, code)
        assert says in done.err


MEMORY = {"outcome": "added", "memory": {"id": "1", "content": "x"}}
BUSY: Answer = (429, {"Retry-After": "7"}, {"title": "Too many", "code": "rate_limited"})
GONE: Answer = (502, {}, "<html>")


def test_write_is_sent_again_under_one_key_when_it_is_told_to_and_the_next_has_its_own(
    served: Served,
) -> None:
    running: Answer = (409, {}, {"code": "still_running", "title": "Still running"})
    script = served(BUSY, GONE, (201, {}, MEMORY), running, (201, {}, MEMORY))

    with script.client() as client:
        done = client.add(content="Deploys need the VPN.")
        waited = [*script.pauses]
        client.add(content="Deploys need the VPN.")

    assert (done["outcome"], waited) == ("added", [7.0, 1.0])
    keys = [headers["Idempotency-Key"] for _, headers in script.sent]
    assert keys[0] == keys[1] == keys[2] != keys[3] == keys[4]
    assert len(keys) == 5


@pytest.mark.parametrize(
    ("answer", "is_upload", "pauses"),
    [
        (GONE, True, []),  # it may have arrived
        (BUSY, False, [7.0] * 4),  # asked five times and then believed
        ((302, {"Location": "http://127.0.0.1:9"}, {}), False, []),  # the token goes nowhere else
    ],
    ids=["upload", "busy", "redirect"],
)
def test_what_a_server_answers_is_believed(
    served: Served, answer: Answer, is_upload: bool, pauses: list[float]
) -> None:
    script = served(answer)

    with script.client() as client, pytest.raises(Problem) as raised:
        client.begin_import(name="CLAUDE.md", data=b"# Rules") if is_upload else client.me()

    assert raised.value.status == answer[0]
    assert (script.pauses, len(script.sent)) == (pauses, len(pauses) + 1)


def test_problem_tells_all_that_the_server_said(served: Served) -> None:
    document = {
        "detail": "There is no project atlantis.",
        "hint": "GET /projects lists them.",
        "code": "not_found",
        "request_id": "r-1",
        "errors": [{"pointer": "/project", "detail": "unknown"}],
    }
    script = served((404, {}, document))

    with script.client() as client, pytest.raises(Problem) as raised:
        client.search(query="prices", project="atlantis")

    problem = raised.value
    assert (problem.detail, problem.hint) == (document["detail"], document["hint"])
    assert (problem.request_id, problem.faults[0].pointer) == ("r-1", "/project")
    assert (problem.exit_code, problem.command) == (NOT_FOUND, "cairn status")


def test_pages_are_read_only_as_far_as_somebody_reads(served: Served) -> None:
    first = {"items": [{"id": "1"}, {"id": "2"}], "next_cursor": "c-1"}
    script = served((200, {}, first), (200, {}, {"items": [{"id": "3"}], "next_cursor": None}))

    with script.client() as client:
        found = client.memories()
        ids = [next(found).id]
        asked = len(script.sent)
        ids += [memory.id for memory in found]

    assert (asked, len(script.sent), ids) == (1, 2, ["1", "2", "3"])
    assert "cursor=c-1" in script.sent[1][0]


def test_export_is_waited_for_as_long_as_a_file_may_take_to_be_written(served: Served) -> None:
    script = served((200, {}, {}), (200, {}, {}))
    waits: list[float] = []
    with script.client() as client:
        hooks = client._http.event_hooks
        hooks["request"].append(lambda sent: waits.append(sent.extensions["timeout"]["read"]))
        client._http.event_hooks = hooks

        client.me()
        with client.export(form="json") as parts:
            assert b"".join(parts) == b"{}"

    assert waits == [60.0, 1_800.0]


def test_nobody_there_is_said_after_three_tries() -> None:
    pauses: list[float] = []
    connection = Connection(url="http://127.0.0.1:9", token="t-1")

    with Client(connection=connection, pause=pauses.append) as client, pytest.raises(Unreachable):
        client.me()

    assert pauses == [0.5, 1.0]


@pytest.mark.parametrize("named", ["", "-", "e1"])
def test_what_is_kept_is_named_as_the_list_shows_it(
    cairn: Cairn, served: Served, named: str
) -> None:
    waiting = {"id": "0190c0de-0000-7000-8000-00000000c0e1", "content": CART}
    page = {"items": [{"memory": waiting, "group": "session"}], "next_cursor": None}
    script = served((200, {}, page), (200, {}, page), (200, {}, waiting))
    of_it = ("--url", script.url, "--token", "t-1", "keep")

    refused, kept = cairn(*of_it, "--", named), cairn(*of_it, "0000c0e1")

    assert (refused.code, kept.code) == (2, 0), refused.err + kept.err
    assert "as the list shows it" in refused.err
    assert ["/keep" in path for path, _ in script.sent] == [False, False, True]
