"""The command line against a running server: asked, told, refused."""

import io
import json
from pathlib import Path

import pytest

from tests.edges.client.conftest import Cairn
from tests.support.live import Place

pytestmark = pytest.mark.django_db

CART = "The cart service caches prices for 30 s, so a test must wait or call flush_prices()."


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
