"""Close names: what is taken for one thing, and above all what is not."""

import csv
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.entities import close_names
from memory.entities.close_names import MOST_ALIKE, Known, Reason
from memory.entities.rules import EntityType
from tests import support

FILE = Path(support.__file__).with_name("close_names.tsv")
LEAST_PRECISION = 0.95
LEAST_RECALL = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """Two names as somebody wrote them down, and whether they are one thing."""

    first: Known
    second: Known
    same: bool

    @property
    def held(self) -> bool:
        """Whether nothing was fitted on it."""
        text = f"{self.first.type} {self.first.key} {self.second.key} {len(self.first.beside)}"
        return hashlib.sha256(text.encode()).digest()[0] % 2 == 1


def _labelled() -> tuple[Labelled, ...]:
    with FILE.open(encoding="utf-8", newline="") as file:
        rows = tuple(csv.DictReader(file, delimiter="\t"))
    return tuple(
        Labelled(
            first=_known(row["first"], row["type"], int(row["beside"])),
            second=_known(row["second"], row["type"], int(row["beside"])),
            same=row["same"] == "1",
        )
        for row in rows
    )


def _known(key: str, type: str = "system", beside: int = 0) -> Known:
    names = frozenset(f"thing {number}" for number in range(beside))
    return Known(type=EntityType(type), key=key, beside=names)


def _compared(first: str, second: str, type: str = "system", beside: int = 0) -> Reason | None:
    return close_names.compare(
        first=_known(first, type, beside), second=_known(second, type, beside)
    )


@pytest.mark.parametrize("held", [False, True], ids=["train", "held"])
def test_pairs_that_people_labelled(held: bool, figure: Callable[[str], None]) -> None:
    every = [one for one in _labelled() if one.held is held]
    said = [one for one in every if close_names.compare(first=one.first, second=one.second)]

    right = sum(one.same for one in said)
    precision, recall = right / len(said), right / sum(one.same for one in every)

    part = "held out" if held else "train"
    figure(f"{part}: {len(every)} pairs, precision {precision:.2f}, recall {recall:.2f}")
    assert precision >= LEAST_PRECISION
    assert recall >= LEAST_RECALL


def test_what_is_certain_is_never_wrong() -> None:
    sure = [
        one.same
        for one in _labelled()
        if close_names.compare(first=one.first, second=one.second) is Reason.JOINED
    ]

    assert len(sure) >= 10
    assert all(sure)
    project = _known("authgate", "project")  # things of two kinds are never one
    assert close_names.compare(first=_known("auth gate"), second=project) is None


@pytest.mark.parametrize(
    ("first", "second", "type", "beside", "reason"),
    [
        ("auth gate", "authgate", "system", 0, Reason.JOINED),
        ("connection broker", "conection broker", "system", 0, Reason.MISSPELLED),
        ("receiver", "reciever", "system", 0, Reason.MISSPELLED),
        ("adapter", "adaptor", "system", 0, Reason.MISSPELLED),
        ("a lovelace", "ada lovelace", "person", 0, Reason.INITIAL),
        ("globex", "globex corp", "organization", 0, Reason.LONGER),
        ("checkout", "checkout service", "system", 2, Reason.LONGER),
        ("checkout", "checkout service", "system", 1, None),
        ("upload worker", "unload worker", "system", 9, None),
        ("billing 1", "billing 2", "system", 9, None),
        ("my sql", "mssql", "system", 9, None),
        ("2026-01-02", "2026-01-03", "other", 9, None),
        ("a@x.test", "b@x.test", "email", 9, None),
    ],
)
def test_reasons(first: str, second: str, type: str, beside: int, reason: Reason | None) -> None:
    assert _compared(first, second, type, beside) is reason


@given(
    first=st.text(alphabet="abcdefgh 1/", min_size=1, max_size=16),
    second=st.text(alphabet="abcdefgh 1/", min_size=1, max_size=16),
)
def test_order_does_not_matter(first: str, second: str) -> None:
    assert _compared(first, second) is _compared(second, first)


def test_sure_pairs_are_found_among_many() -> None:
    names = [_known(f"thing{number:04} of many") for number in range(3_000)]
    mine = [_known("auth gate"), _known("conection broker"), _known("connection broker")]

    found = close_names.sure_pairs(names=(*mine, _known("authgate"), *names))

    assert found == ((_known("auth gate").name, _known("authgate").name),)
    assert len(names) > MOST_ALIKE
