"""Days in words: which a question names, and how one is written."""

from datetime import date

import pytest

from memory.text import days

TODAY = date(2026, 11, 28)  # a Saturday


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("what was decided on 3 May", date(2026, 5, 3)),
        ("What broke on December 24th?", date(2025, 12, 24)),
        ("the 1st of June, 2023", date(2023, 6, 1)),
        ("who deployed 2023-05-03", date(2023, 5, 3)),
        ("qu'a-t-on décidé le 3 mai 2024", date(2024, 5, 3)),
        ("what did we say yesterday", date(2026, 11, 27)),
        ("the day before yesterday", date(2026, 11, 26)),
        ("last Tuesday's outage", date(2026, 11, 24)),
        ("last Saturday", date(2026, 11, 21)),
        ("lundi dernier", date(2026, 11, 23)),
        ("two weeks ago", date(2026, 11, 14)),
        ("il y a 3 jours", date(2026, 11, 25)),
    ],
)
def test_a_question_names_a_day(text: str, day: date) -> None:
    assert days.find_days(text=text, today=TODAY) == (day,)


@pytest.mark.parametrize("text", ["31 June", "99999999-01-01", "version 3.2", "todays", ""])
def test_what_is_no_day_names_none(text: str) -> None:
    assert days.find_days(text=text, today=TODAY) == ()


def test_a_day_is_found_by_its_date_and_by_one_word() -> None:
    assert days.words_of(day=date(2023, 5, 3)) == "3 May 2023 day20230503"
