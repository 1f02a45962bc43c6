"""Sets and conversations are measured, and the installation is as before."""

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from accounts.models import Job, Organization, User
from memory.evaluation import conversations, dataset, measures
from memory.evaluation.actions import evaluate, evaluate_extraction
from memory.evaluation.conversations import CaseOutcome, Conversation
from memory.evaluation.dataset import Split
from memory.evaluation.measures import Evaluation
from memory.extraction.actions import Mode
from memory.management.commands.evaluate_extraction import SHIPPED
from memory.providers.guard import DEFAULT_EMBEDDER, Limits
from memory.search.request import PROFILES
from tests.support import models, vendors
from tests.support.vendor_server import Vendor
from tests.support.vendors import installed

AT_FIRST, LATER = "2026-01-05T00:00:00Z", "2026-03-01T00:00:00Z"
LIMIT = "The upload limit of receipts is {} MB per file in the receipts service."
LOCK = "Carts are merged under a Postgres advisory lock, taken per customer."
MEMORIES: tuple[dict[str, object], ...] = (
    {"id": "m-lock", "content": LOCK, "type": "decision", "event_at": AT_FIRST},
    {"id": "m-old", "content": LIMIT.format(5), "type": "fact", "event_at": AT_FIRST,
     "valid_until": LATER, "superseded_by": "m-new"},
    {"id": "m-new", "content": LIMIT.format(20), "type": "fact", "event_at": LATER},
)  # fmt: skip
QUERIES: tuple[dict[str, object], ...] = (
    {"id": "q-1", "text": "advisory lock for merging carts", "kind": "words",
     "relevant": {"m-lock": 3}},
    {"id": "q-2", "text": "upload limit of receipts", "kind": "time", "relevant": {"m-old": 3},
     "as_of": "2026-02-01T00:00:00Z", "confusable": ["m-new"]},
    {"id": "q-3", "text": "zebra migration in Kenya", "kind": "nothing", "relevant": {}},
)  # fmt: skip

pytestmark = pytest.mark.django_db


def _write(folder: Path, name: str, rows: tuple[dict[str, object], ...]) -> None:
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A set of three memories and three queries."""
    _write(tmp_path, "memories", MEMORIES)
    _write(tmp_path, "queries", QUERIES)
    return tmp_path


def _run(folder: Path, *options: str) -> dict[str, object]:
    out = folder / "report.json"
    given = (*options, "--set", str(folder), "--out", str(out))
    call_command("evaluate", *given, stdout=StringIO(), stderr=StringIO())
    found: dict[str, object] = json.loads(out.read_text(encoding="utf-8"))
    return found


def test_a_set_is_asked_of_each_profile_and_nothing_of_it_remains(folder: Path) -> None:
    short = {"id": "m-short", "content": "Too short", "type": "fact"}
    twin = {**QUERIES[0], "id": "q-4", "relevant": {"m-twin": 3}}
    _write(folder, "memories", (*MEMORIES, short, {**MEMORIES[0], "id": "m-twin"}))
    _write(folder, "queries", (*QUERIES, twin))

    found = _run(folder)

    asked = found["systems"]["plain"]["queries"]
    assert set(found["systems"]) == set(PROFILES)
    assert asked["q-1"]["ranked"][0] == "m-lock"
    assert "m-old" in asked["q-2"]["ranked"]  # it is asked as of a time
    assert "m-new" not in asked["q-2"]["ranked"]
    assert asked["q-3"]["silent"] is True
    assert asked["q-4"]["measures"]["recall@10"] == 1.0  # what says the same counts as one
    assert found["systems"]["plain"]["kinds"]["all"]["MRR"]["mean"] == 1.0
    assert (list(found["refused"]), found["embedded"]) == (["m-short"], 3)
    assert not any(model.objects.exists() for model in (Organization, User, Job))


def test_nothing_remains_of_a_run_that_fails_and_a_wrong_file_is_named(folder: Path) -> None:
    _write(folder, "memories", ({**MEMORIES[0], "project": "Not A Slug"},))
    _write(folder, "queries", QUERIES[:1])
    with pytest.raises(CommandError, match=r"slug|short name"):
        _run(folder)
    _write(folder, "queries", ({**QUERIES[0], "relevant": {"m-none": 3}},))
    with pytest.raises(CommandError, match=r"queries.jsonl, line 1, field 'relevant': .*m-none"):
        _run(folder)

    assert not Organization.objects.exists()
    assert not User.objects.exists()


def test_one_half_asks_only_its_queries_and_reports_are_paired_by_query(folder: Path) -> None:
    _write(folder, "queries", tuple({**row, "kind": "words"} for row in QUERIES))
    halves = dataset.split_of(items=((str(row["id"]), "words") for row in QUERIES))
    found = _run(folder, "--profile", "plain", "--split", "train")
    said = StringIO()

    call_command("evaluate", "compare", *[str(folder / "report.json")] * 2, stdout=said)

    train = [id for id, half in halves.items() if half == "train"]
    assert sorted(found["systems"]["plain"]["queries"]) == sorted(train)
    assert "plain: report.json minus report.json, paired by query" in said.getvalue()
    assert f"| all | {len(train)} | second - first | +0.000 [+0.000, +0.000] |" in said.getvalue()


def test_a_converted_public_set_can_be_evaluated(folder: Path) -> None:
    (folder / "qrels").mkdir()
    for name, text in (
        ("corpus.jsonl", '{"_id": "d1", "title": "Locks", "text": "Locks end with the session."}'),
        ("queries.jsonl", '{"_id": "q1", "text": "when is a lock freed by its session"}'),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\n"),
    ):
        (folder / name).write_text(text)
    target = folder / "out"
    given = ("convert", "--from", "beir", str(folder), str(target))

    call_command("evaluate", *given, stdout=StringIO())

    assert _run(target)["systems"]["rrf"]["kinds"]["all"]["recall@10"]["mean"] == 1.0


# Written by hand, mistakes among them; those of a real model: `evaluate_extraction --mode llm`.
ANSWERS = Path(vendors.__file__).with_name("recorded_answers.jsonl")
PLANTED = ("password", "no review", "sudo")
ALL = conversations.parse(text=SHIPPED.read_text(encoding="utf-8"))

Figure = Callable[[str], None]


def measured(half: Split) -> tuple[CaseOutcome, ...]:
    """Extract by words from one half."""
    return tuple(
        evaluate_extraction(conversation=one, mode=Mode.HEURISTIC).outcome
        for one in ALL
        if one.split is half
    )


def told(outcomes: tuple[CaseOutcome, ...]) -> str:
    """Return precision and recall in words."""
    found = conversations.scores(outcomes=outcomes)
    assert found["precision"] is not None
    assert found["recall"] is not None
    shares = (("precision", found["precision"]), ("recall", found["recall"]))
    return ", ".join(
        f"{name} {one.mean:.2f} [{one.low:.2f}, {one.high:.2f}]" for name, one in shares
    )


@pytest.fixture
def vendor() -> Iterator[Vendor]:
    """An installation whose chat model is a vendor on the loopback interface."""
    with vendors.chatting_vendor(model="recorded", limits=Limits()) as running:
        yield running


# Floors below what was measured. Cues of agents' sentences that were right in less than half of
# foreign conversations went, though they find more in this set.
LEAST_PRECISION = 0.85  # 0.95 and 0.86 measured
LEAST_RECALL = 0.42  # 0.77 and 0.46 measured


@pytest.mark.parametrize("half", Split)
def test_words_alone_are_precise(half: Split, figure: Figure) -> None:
    outcomes = measured(half)

    found = conversations.scores(outcomes=outcomes)
    figure(f"{half}: {told(outcomes)}")
    assert found["precision"] is not None
    assert found["precision"].mean >= LEAST_PRECISION
    assert found["recall"] is not None
    assert found["recall"].mean >= LEAST_RECALL


def test_of_recorded_answers_what_holds_is_taken(vendor: Vendor, figure: Figure) -> None:
    answers = {line["id"]: line for line in map(json.loads, ANSWERS.read_text().splitlines())}
    outcomes = tuple(_with(vendor, one, answers[one.id]["memories"]) for one in ALL)

    figure(told(outcomes))
    found = conversations.scores(outcomes=outcomes)
    assert found["precision"] is not None
    assert found["precision"].mean >= 0.9
    wrong = " ".join(text for one in outcomes for text in one.wrong).lower()
    assert not any(word in wrong for word in PLANTED)


def _with(vendor: Vendor, conversation: Conversation, memories: list[object]) -> CaseOutcome:
    vendor.chat_content = json.dumps({"memories": memories})
    found = evaluate_extraction(conversation=conversation, mode=Mode.LLM)
    assert found.degraded == ""
    return found.outcome


def test_the_command_prints_shares_and_refuses_a_wrong_set(tmp_path: Path) -> None:
    said = StringIO()
    broken = tmp_path / "set.jsonl"
    broken.write_text('{"id": "a", "turns": [["nobody", "x"]], "keep": []}\n')

    call_command("evaluate_extraction", split="train", errors=True, stdout=said)

    assert "precision  0." in said.getvalue()
    assert "[0." in said.getvalue()
    assert "missed" in said.getvalue()
    with pytest.raises(CommandError, match="line 1"):
        call_command("evaluate_extraction", file=broken)


FOLDER = Path(dataset.__file__).parent / "sets" / "coding"
# Floors stand below what was measured, so that a fault fails and a draw does not.
FLOORS = {"recall@10": 0.85, "nDCG@10": 0.78, "MRR": 0.78}  # 0.901, 0.842, 0.841 measured
PARAPHRASES = 0.48  # nDCG@10; 0.505 measured, 0.477 when short words are read as other ones
SURE = {"identifier": 0.95, "question": 0.95, "lookalike": 0.95, "time": 0.88, "typo": 0.9}


@pytest.fixture
def local_embedder() -> Iterator[None]:
    """The embedder of an installation without any setting."""
    with installed(embedder=DEFAULT_EMBEDDER, models_dir=models.models_dir()):
        yield


@pytest.fixture
def found(db: None, local_embedder: None, now: datetime) -> Evaluation:
    """Every query of the set, asked of the default profile."""
    memories, queries = (
        (FOLDER / name).read_text(encoding="utf-8") for name in (dataset.MEMORIES, dataset.QUERIES)
    )
    whole = dataset.parse(name="coding", memories=memories, queries=queries)
    return evaluate(judged=whole, profiles=PROFILES[:1], split=None, now=now, tell=lambda _: None)


@pytest.mark.slow
def test_the_default_profile_ranks_well(found: Evaluation) -> None:
    values = measures.values_of(evaluation=found, profile=PROFILES[0])
    rows = {row.kind: dict(row.measures) for row in measures.table(values=values)}

    assert (found.refused, found.degraded) == ({}, ())
    assert {name: _mean(rows["all"][name]) >= floor for name, floor in FLOORS.items()} == (
        dict.fromkeys(FLOORS, True)
    )
    assert all(_mean(rows[kind]["recall@10"]) >= floor for kind, floor in SURE.items())
    assert _mean(rows["paraphrase"]["nDCG@10"]) >= PARAPHRASES


def _mean(value: measures.Interval | None) -> float:
    assert value is not None
    return value.mean
