"""Transcripts replayed into sessions, or followed as they are written: nothing lost or twice."""

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import pytest

from memory.client.api import Client
from memory.client.configuration import Connection
from memory.client.transcripts import reader
from memory.client.transcripts.reader import Bookmark, Bookmarks
from memory.client.transcripts.upload import (
    LIVE_SECONDS,
    LONGEST_WAIT_SECONDS,
    RANKS_MOST,
    Round,
    UploadPlan,
    Watch,
)
from memory.sessions.actions import append_events
from tests.edges.client.conftest import Cairn, Known, Ran
from tests.support.fault_proxy import REFUSING, SOUND, FaultProxy
from tests.support.live import Place
from tests.support.scripted import Served

pytestmark = pytest.mark.django_db

SAMPLES = Path(__file__).parents[2] / "unit" / "memory" / "client" / "transcripts"
NAMES = {"claude_code_2.jsonl": ".claude/projects/-shop", "rollout-2026.jsonl": ".codex/sessions/1"}
SAMPLE = SAMPLES / "claude_code_2.jsonl"
LINES = SAMPLE.read_bytes().splitlines(keepends=True)
SESSION = b"0b1c8f0e-7d0a-4a64-9a53-2f8f2f3c1b11"  # that the samples name
Whole = Callable[[Path], dict[str, Any]]


def _renamed(sample: Path, path: Path) -> bytes:
    """Return a sample as the transcript of a session of its own."""
    return sample.read_bytes().replace(SESSION, path.stem.encode())


@pytest.fixture
def transcripts(home: Path, request: pytest.FixtureRequest) -> dict[str, Path]:
    """Transcripts where agents keep them, under names that no other test has used."""
    made = {}
    for name, folder in NAMES.items():
        stem, _, end = name.partition(".")
        path = home / folder / f"{stem}-{request.node.name[5:30]}.{end}"
        path.parent.mkdir(parents=True)
        path.write_bytes(_renamed(SAMPLES / name, path))
        made[name] = path
    return made


def test_transcripts_become_sessions_of_their_own_once(
    here: Cairn, transcripts: dict[str, Path], known: Known
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
    session = known()[claude["external_id"]]
    assert (session["external_id"], session["turns"]) == (claude["external_id"], 3)
    assert (session["scope"], session["state"] != "open") == ("personal", True)
    assert [row["session"] for row in again] == [claude["session"], codex["session"]]
    assert [(row["stored"], row["known"]) for row in again] == [
        (0, row["stored"]) for row in (claude, codex)
    ]
    assert [(row["lines"], row["session"]) for row in on] == [(0, ""), (0, "")]


def _parts(known: Known, name: str) -> list[tuple[str, str, str, int]]:
    """Return the sessions of a transcript: name, thread, whether they run, and their events."""
    rows = (one for id, one in known().items() if id.startswith(name))
    return sorted((one["external_id"], one["thread"], one["state"], one["events"]) for one in rows)


def test_transcript_that_one_session_has_no_room_for_goes_on_in_the_next_of_its_thread(
    here: Cairn, transcripts: dict[str, Path], known: Known, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(append_events, "MOST_OF_SESSION", 8)
    long = transcripts["claude_code_2.jsonl"]
    first = here("replay", str(long), "--json")

    assert first.code == 0, first.err
    (row,) = first.rows()
    parts = _parts(known, row["external_id"])
    assert sum(events for *_, events in parts) == row["events"] > 8
    assert all(events <= 8 for *_, events in parts)
    assert {state for _, _, state, _ in parts} <= {"ended", "consolidated"}
    assert {thread for _, thread, _, _ in parts} == {row["external_id"]}
    assert [name for name, *_ in parts][1] == f"{row['external_id']}#2"
    (again,) = here("replay", str(long), "--again", "--json").rows()
    assert (again["stored"], again["known"]) == (0, row["stored"])
    assert len(_parts(known, row["external_id"])) == len(parts)


@pytest.fixture
def shop(transcripts: dict[str, Path], home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder one is in; Claude Code has worked below it, Codex in one of nearly its name."""
    for name, folder in (("claude_code_2.jsonl", "shop/cart"), ("rollout-2026.jsonl", "shop-2")):
        (home / "work" / folder).mkdir(parents=True)
        text = transcripts[name].read_text().replace("/home/mia/shop", f"{home}/work/{folder}")
        transcripts[name].write_text(text)
    monkeypatch.chdir(home / "work" / "shop")
    return home / "work" / "shop"


def test_work_in_other_folders_is_not_sent_unless_all_is_said_nor_shared_without_a_yes(
    here: Cairn, shop: Path, transcripts: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = here("replay", "--dry-run", "--json").rows()
    sent = here("sync", "--json").rows()
    everything = here("sync", "--all", "--json").rows()

    mine = str(transcripts["claude_code_2.jsonl"])
    assert [row["transcript"] for row in (*counted, *sent)] == [mine, mine]
    assert [row["stored"] > 0 for row in (*sent, *everything)] == [True, False, True]
    refused = [here(command, "--all", "--shared") for command in ("replay", "sync", "watch")]
    monkeypatch.chdir(shop.parents[1])
    at_home = here("sync", "--shared")

    assert [one.code for one in (*refused, at_home)] == [2] * 4
    assert all("--yes" in one.err for one in refused)
    assert "--all" in at_home.err


def test_session_of_a_run_that_was_cut_off_before_its_end_is_ended_by_the_next(
    here: Cairn, transcripts: dict[str, Path], known: Known, monkeypatch: pytest.MonkeyPatch
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
    assert known()[row["external_id"]]["state"] != "open"


def test_what_may_not_be_sent_is_told_before_anything_is_read(
    cairn: Cairn, transcripts: dict[str, Path], address: str, place: Place
) -> None:
    reading = ("--url", address, "--token", place.reading_token, "replay", "--all")

    nowhere, refused = cairn(*reading), cairn(*reading, "--project", "shop")

    assert (nowhere.code, refused.code) == (2, 3)
    assert "--project" in nowhere.err
    assert "scope" in refused.err


@pytest.fixture
def transcript(home: Path, request: pytest.FixtureRequest) -> Path:
    """Where Claude Code is about to write."""
    path = home / ".claude/projects/-shop" / f"{request.node.name[5:45]}.jsonl"
    path.parent.mkdir(parents=True)
    return path


@pytest.fixture
def proxy(address: str) -> Iterator[FaultProxy]:
    """A line to the server that a test breaks."""
    with FaultProxy(target=urlsplit(address).port or 0) as proxy:
        yield proxy


@pytest.fixture
def following(home: Path, proxy: FaultProxy, place: Place) -> Iterator[Watch]:
    """What `cairn watch` does, round by round, without its pauses."""
    url = f"http://127.0.0.1:{proxy.port}"
    connection = Connection(url=url, token=place.token, project="shop")
    with Client(connection=connection, pause=lambda _: None) as client:
        bookmarks = Bookmarks(folder=home / "replays", url=url, project="shop")
        yield Watch(
            plan=UploadPlan(api=client, bookmarks=bookmarks, project="shop", ends=False),
            find=lambda: reader.find_transcripts(home=home),
            belongs=lambda _: True,
            every_seconds=2.0,
        )


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let children end by SIGINT though this run may have been started with it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def _round(following: Watch, path: Path, later: float = 0.0) -> Round:
    """Make a round, so many seconds after a transcript was written."""
    return following.round(now_seconds=path.stat().st_mtime + later)


@pytest.fixture
def whole(cairn: Cairn, known: Known) -> Whole:
    """Return the session of a transcript, of which all was stored, and once."""

    def look(path: Path) -> dict[str, Any]:
        (counted,) = cairn("replay", str(path), "--dry-run", "--json").rows()
        row = known()[f"claude-code/{path.stem}"]
        assert (row["turns"], row["events"]) == (counted["turns"], counted["events"])
        return row

    return look


def _write(transcript: Path, count: int) -> None:
    """Let so many lines be written, and half of the next."""
    lines = _renamed(SAMPLE, transcript).splitlines(keepends=True)
    half = lines[count][: len(lines[count]) // 2] if count < len(lines) else b""
    transcript.write_bytes(b"".join(lines[:count]) + half)


def test_lines_are_sent_once_though_the_server_goes_away_and_the_run_is_killed(
    following: Watch, proxy: FaultProxy, transcript: Path, whole: Whole
) -> None:
    sent = []
    for count in range(1, 6):
        _write(transcript, count)
        sent += _round(following, transcript).results
    proxy.set(REFUSING)
    proxy.reset()
    _write(transcript, 9)
    away = [_round(following, transcript) for _ in range(7)]
    proxy.set(SOUND)
    back = _round(following, transcript)
    fresh = replace(following, seen={}, faults={})
    _write(transcript, len(LINES))
    old = transcript.with_name("old.jsonl")
    old.write_bytes(_renamed(SAMPLE, old))

    # Neither is written any more; one was begun.
    last = _round(fresh, transcript, later=2 * LIVE_SECONDS).results

    assert all(one.fault is not None for one in away)
    assert [one.wait_seconds for one in away[:3]] == [4.0, 8.0, 16.0]
    assert away[-1].wait_seconds == LONGEST_WAIT_SECONDS
    assert (back.fault, back.wait_seconds) == (None, 2.0)
    assert sum(one.counts.known for one in (*sent, *back.results, *last)) == 0
    assert [one.transcript.path for one in last] == [transcript]
    assert old in fresh.seen  # so that no later round opens it
    assert _round(fresh, transcript).results == ()
    assert whole(transcript)["state"] == "open"


def _subagent(transcript: Path, name: str, at: str) -> None:
    """Let a subagent of a session say something."""
    folder = transcript.with_suffix("") / "subagents"
    folder.mkdir(parents=True, exist_ok=True)
    content = [{"type": "text", "text": f"I am {name}."}]
    message = {"role": "assistant", "id": name, "content": content}
    line = {"type": "assistant", "timestamp": at, "isSidechain": True, "message": message}
    (folder / f"agent-{name}.jsonl").write_text(json.dumps(line) + "\n")


def test_what_a_subagent_did_is_kept_though_another_is_found_to_have_begun_before(
    following: Watch, transcript: Path, known: Known
) -> None:
    transcript.write_bytes(b"".join(_renamed(SAMPLE, transcript).splitlines(keepends=True)[:5]))
    _subagent(transcript, "b", "2026-11-20T12:02:00Z")
    first = _round(following, transcript).results
    name = f"claude-code/{transcript.stem}"
    before = known()[name]["events"]
    _subagent(transcript, "a", "2026-11-20T12:01:00Z")

    second = _round(following, transcript).results

    assert [one.counts.known for one in (*first, *second)] == [0, 0]
    assert known()[name]["events"] == before + 1


def test_subagents_beyond_the_numbers_of_a_session_are_told_of(
    following: Watch, transcript: Path
) -> None:
    transcript.write_bytes(b"".join(_renamed(SAMPLE, transcript).splitlines(keepends=True)[:5]))
    (found,) = following.find()
    following.plan.bookmarks.save(
        transcript=found, bookmark=Bookmark(ranks={"agent-x": RANKS_MOST})
    )
    _subagent(transcript, "y", "2026-11-20T12:01:00Z")

    (done,) = _round(following, transcript).results

    assert done.counts.stored > 0
    assert done.fault is not None
    assert f"{RANKS_MOST} subagents" in done.fault.detail


def test_file_that_cannot_be_read_is_told_once_and_keeps_no_other(
    following: Watch, transcript: Path
) -> None:
    broken = transcript.with_name("0-broken.jsonl")
    broken.symlink_to(broken)
    transcript.write_bytes(b"".join(_renamed(SAMPLE, transcript).splitlines(keepends=True)[:5]))

    first = _round(following, transcript)
    second = _round(following, transcript, later=LONGEST_WAIT_SECONDS)
    broken.unlink()
    broken.write_bytes(_renamed(SAMPLE, broken))
    third = _round(following, transcript, later=3 * LONGEST_WAIT_SECONDS)

    assert [(one.transcript.path, one.fault is None) for one in first.results] == [
        (broken, False),
        (transcript, True),
    ]
    assert (first.fault, second.results) == (None, ())
    assert [(one.transcript.path, one.fault) for one in third.results] == [(broken, None)]


@pytest.mark.parametrize("status", [422, 503])
def test_end_of_a_transcript_is_sent_after_a_refusal(
    following: Watch, transcript: Path, served: Served, status: int
) -> None:
    transcript = transcript.with_name(f"refused-{status}.jsonl")  # on one server for all of them
    transcript.write_bytes(b"".join(_renamed(SAMPLE, transcript).splitlines(keepends=True)[:5]))
    plan = following.plan
    with served((status, {}, {})).client() as refused:
        following.plan = replace(plan, api=refused)
        first = _round(following, transcript)
    following.plan = plan

    (later,) = _round(following, transcript, later=LONGEST_WAIT_SECONDS).results

    assert first.results[0].fault is not None
    assert (first.fault is None) == (status == 422)  # which say something of this file
    assert later.fault is None
    assert later.counts.stored > 0


def test_a_transcript_whose_rows_are_refused_is_told_once(
    following: Watch, transcript: Path, served: Served
) -> None:
    transcript = transcript.with_name("rows-refused.jsonl")
    transcript.write_bytes(b"".join(_renamed(SAMPLE, transcript).splitlines(keepends=True)[:5]))
    opened, refused = (201, {}, {"id": str(uuid4())}), (422, {}, {})
    with served(opened, refused, opened, refused).client() as api:
        following.plan = replace(following.plan, api=api)
        first = _round(following, transcript)
        second = _round(following, transcript, later=LONGEST_WAIT_SECONDS)

    (told,) = first.results
    assert (told.fault is None, told.session_id) == (False, "")
    assert second.results == ()


def test_once_sends_what_there_is_and_ends(here: Cairn, transcript: Path) -> None:
    transcript.write_bytes(_renamed(SAMPLE, transcript))
    os.utime(transcript)

    first = here("watch", "--all", "--once", "--json")
    second = here("watch", "--all", "--once", "--json")
    away = here("--url", "http://127.0.0.1:9", "watch", "--all", "--once", "--project", "shop")

    assert first.code == second.code == 0, first.err
    (row,) = first.rows()
    assert row["stored"] == row["turns"] + row["events"] > 0
    assert [one["lines"] for one in second.rows()] == [0]
    assert away.code == 5
    assert "watch --once" in away.err


@pytest.mark.usefixtures("interruptible")
def test_a_running_watch_tells_what_it_sends_and_ends_cleanly(
    home: Path, transcript: Path, here: Cairn, whole: Whole
) -> None:
    lines = _renamed(SAMPLE, transcript).splitlines(keepends=True)
    transcript.write_bytes(b"".join(lines[:7]))
    command = [sys.executable, "-m", "memory.client", "--json", "watch", "--all", "--every", "0.2"]
    environment = {**os.environ, "HOME": str(home)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True
    ) as running:
        assert running.stdout is not None
        first = json.loads(running.stdout.readline())
        transcript.write_bytes(b"".join(lines))
        second = json.loads(running.stdout.readline())
        running.send_signal(signal.SIGINT)
        _, told = running.communicate(timeout=20)

    assert (running.returncode, told) == (0, "")
    assert (first["lines"], second["known"]) == (7, 0)
    assert whole(transcript)


def test_two_programs_with_one_file_name_and_a_file_that_claims_anothers_session_are_told_apart(
    here: Cairn, home: Path, known: Known
) -> None:
    name = f"transcript-{uuid4().hex}.jsonl"
    first, second, liar = (
        home / folder / name for folder in ("a/.claude", "b/.codex", "c/.claude")
    )
    for path in (first, second, liar):
        path.parent.mkdir(parents=True)
    own = uuid4().hex.encode()
    first.write_bytes(SAMPLE.read_bytes().replace(SESSION, own))
    second.write_bytes((SAMPLES / "rollout-2026.jsonl").read_bytes().replace(SESSION, own))
    lines = SAMPLE.read_bytes().replace(SESSION, own).splitlines(keepends=True)
    liar.write_bytes(b"".join(lines[1:]))

    one, other = (here("replay", str(path), "--json").rows()[0] for path in (first, second))
    refused = here("replay", str(liar), "--json")

    assert one["external_id"] == f"claude-code/{own.decode()}"
    assert other["external_id"] == f"codex/{own.decode()}"
    assert one["stored"] == known()[one["external_id"]]["turns"] + one["events"]
    assert refused.code != 0
    assert "says that it is the session of" in refused.rows()[0]["error"]
    assert refused.rows()[0]["stored"] == 0


def _hook(here: Cairn, monkeypatch: pytest.MonkeyPatch, *more: str, **payload: object) -> Ran:
    """Run the command that a hook runs, with its payload."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(payload).encode())))
    return here("hook", "claude-code", *more)


def test_a_hook_sends_what_was_said_between_tools_into_its_own_session_alone(
    here: Cairn,
    address: str,
    place: Place,
    transcript: Path,
    known: Known,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    transcript.write_bytes(_renamed(SAMPLE, transcript))
    own: dict[str, object] = {"session_id": transcript.stem, "transcript_path": str(transcript)}
    name = f"claude-code/{transcript.stem}"
    unheard = _hook(here, monkeypatch, **own)
    prompt = {"hook_event_name": "UserPromptSubmit", "prompt": "Clear the price cache."}
    headers = {"Authorization": f"Bearer {place.token}", "X-Cairn-Project": "shop"}
    url = f"{address}/api/v1/hooks/claude-code"
    httpx.post(url, headers=headers, json={"session_id": transcript.stem, **prompt})
    before = known()[name]

    theirs = _hook(here, monkeypatch, **{**own, "session_id": "another"})
    after = known()[name]
    done = _hook(here, monkeypatch, **own)
    ended = _hook(here, monkeypatch, "--end", **own)

    assert {one.code for one in (unheard, theirs, done, ended)} == {0}
    assert name not in unheard.out
    assert (after["turns"], after["events"]) == (before["turns"], before["events"])
    row = known()[name]
    assert row["turns"] > before["turns"]
    assert row["state"] != "open"
