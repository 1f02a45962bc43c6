"""Transcripts replayed into sessions of a running server."""

import shutil
from pathlib import Path

import pytest

from memory.client.api import Client
from memory.sessions.actions import append_events
from tests.edges.client.conftest import Cairn, sessions
from tests.support.live import Place

pytestmark = pytest.mark.django_db

SAMPLES = Path(__file__).parents[2] / "unit" / "memory" / "client" / "transcripts"
NAMES = {"claude_code_2.jsonl": ".claude/projects/-shop", "rollout-2026.jsonl": ".codex/sessions/1"}


@pytest.fixture
def transcripts(home: Path, request: pytest.FixtureRequest) -> dict[str, Path]:
    """Transcripts where agents keep them, under names that no other test has used."""
    made = {}
    for name, folder in NAMES.items():
        stem, _, end = name.partition(".")
        path = home / folder / f"{stem}-{request.node.name[5:30]}.{end}"
        path.parent.mkdir(parents=True)
        shutil.copy(SAMPLES / name, path)
        made[name] = path
    return made


def test_transcripts_become_sessions_of_their_own_once(
    here: Cairn, transcripts: dict[str, Path], address: str, place: Place
) -> None:
    counted = here("--url", "http://127.0.0.1:9", "replay", "--all", "--dry-run", "--json").rows()
    first = here("replay", "--all", "--json")
    again = here("replay", "--all", "--again", "--json").rows()
    on = here("replay", "--all", "--json").rows()

    assert first.code == 0, first.err
    claude, codex = first.rows()
    assert [(row["turns"], row["stored"]) for row in counted] == [(3, 0), (4, 0)]
    assert (claude["turns"], claude["stored"]) == (3, claude["turns"] + claude["events"])
    assert (codex["turns"], codex["unknown"]) == (4, 2)
    session = sessions(address, place)[claude["external_id"]]
    assert (session["external_id"], session["turns"]) == (claude["external_id"], 3)
    assert (session["scope"], session["state"] != "open") == ("personal", True)
    assert [row["session"] for row in again] == [claude["session"], codex["session"]]
    assert [(row["stored"], row["known"]) for row in again] == [
        (0, row["stored"]) for row in (claude, codex)
    ]
    assert [(row["lines"], row["session"]) for row in on] == [(0, ""), (0, "")]


def _parts(address: str, place: Place, name: str) -> list[tuple[str, str, str, int]]:
    """Return the sessions of a transcript: name, thread, whether they run, and their events."""
    rows = (one for one in sessions(address, place).values() if one["external_id"].startswith(name))
    return sorted((one["external_id"], one["thread"], one["state"], one["events"]) for one in rows)


def test_transcript_that_one_session_has_no_room_for_goes_on_in_the_next_of_its_thread(
    here: Cairn,
    transcripts: dict[str, Path],
    address: str,
    place: Place,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(append_events, "MOST_OF_SESSION", 8)
    long = transcripts["claude_code_2.jsonl"]
    first = here("replay", str(long), "--json")

    assert first.code == 0, first.err
    (row,) = first.rows()
    parts = _parts(address, place, row["external_id"])
    assert sum(events for *_, events in parts) == row["events"] > 8
    assert all(events <= 8 for *_, events in parts)
    assert {state for _, _, state, _ in parts} <= {"ended", "consolidated"}
    assert {thread for _, thread, _, _ in parts} == {row["external_id"]}
    assert [name for name, *_ in parts][1] == f"{row['external_id']}#2"
    (again,) = here("replay", str(long), "--again", "--json").rows()
    assert (again["stored"], again["known"]) == (0, row["stored"])
    assert len(_parts(address, place, row["external_id"])) == len(parts)


def test_only_what_a_transcript_has_gained_is_sent(
    here: Cairn, transcripts: dict[str, Path]
) -> None:
    path = transcripts["claude_code_2.jsonl"]
    whole = path.read_bytes()
    path.write_bytes(b"".join(whole.splitlines(keepends=True)[:8]))
    first = here("sync", "--all", "--from", "claude-code", "--json").rows()[0]
    path.write_bytes(whole)

    rest = here("sync", "--all", "--from", "claude-code", "--json").rows()[0]

    assert rest["session"] == first["session"]
    assert first["lines"] == 8
    assert first["lines"] + rest["lines"] == len(whole.splitlines())
    assert (rest["known"], rest["stored"]) == (0, rest["turns"] + rest["events"])


@pytest.fixture
def shop(transcripts: dict[str, Path], home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder one is in; Claude Code has worked below it, Codex in one of nearly its name."""
    for name, folder in (("claude_code_2.jsonl", "shop/cart"), ("rollout-2026.jsonl", "shop-2")):
        (home / "work" / folder).mkdir(parents=True)
        text = transcripts[name].read_text().replace("/home/mia/shop", f"{home}/work/{folder}")
        transcripts[name].write_text(text)
    monkeypatch.chdir(home / "work" / "shop")
    return home / "work" / "shop"


def test_work_in_other_folders_is_not_sent_unless_all_is_said(
    here: Cairn, shop: Path, transcripts: dict[str, Path]
) -> None:
    counted = here("replay", "--dry-run", "--json").rows()
    sent = here("sync", "--json").rows()
    everything = here("sync", "--all", "--json").rows()

    mine = str(transcripts["claude_code_2.jsonl"])
    assert [row["transcript"] for row in (*counted, *sent)] == [mine, mine]
    assert [row["stored"] > 0 for row in (*sent, *everything)] == [True, False, True]


def test_work_in_every_folder_is_shared_with_a_project_by_nobody_who_has_not_said_so(
    here: Cairn, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = [here(command, "--all", "--shared") for command in ("replay", "sync", "watch")]
    monkeypatch.chdir(shop.parents[1])
    at_home = here("sync", "--shared")

    assert [one.code for one in (*refused, at_home)] == [2] * 4
    assert all("--yes" in one.err for one in refused)
    assert "--all" in at_home.err


def test_session_of_a_run_that_was_cut_off_before_its_end_is_ended_by_the_next(
    here: Cairn,
    transcripts: dict[str, Path],
    address: str,
    place: Place,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = str(transcripts["claude_code_2.jsonl"])

    def interrupted(client: Client, *, session_id: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Client, "end_session", interrupted)
        assert here("replay", path).code == 130

    synced = here("sync", "--all", "--from", "claude-code", "--json").rows()
    (row,) = here("replay", path, "--json").rows()
    (last,) = here("replay", path, "--json").rows()

    assert [one["session"] for one in synced] == [""]
    assert (row["lines"], row["session"] != "", last["session"]) == (0, True, "")
    assert sessions(address, place)[row["external_id"]]["state"] != "open"


def test_secret_is_taken_out_before_it_is_sent(here: Cairn, home: Path) -> None:
    path = home / "session.jsonl"
    secret = "ghp_" + "a1B2" * 9
    line = f'{{"type":"user","sessionId":"s","message":{{"content":"My token is {secret} now"}}}}\n'
    path.write_text(line)

    (row,) = here("replay", str(path), "--json").rows()

    assert row["masked"] == {"vendor_key": 1}
    assert row["stored"] == 2


@pytest.mark.parametrize(
    ("named", "code", "says"),
    [((), 2, "--project"), (("--project", "shop"), 3, "scope")],
    ids=["no project", "no scope"],
)
def test_what_may_not_be_sent_is_told_before_anything_is_read(
    cairn: Cairn,
    transcripts: dict[str, Path],
    address: str,
    place: Place,
    named: tuple[str, ...],
    code: int,
    says: str,
) -> None:
    done = cairn("--url", address, "--token", place.reading_token, "replay", "--all", *named)

    assert done.code == code
    assert says in done.err
