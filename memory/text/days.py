"""Days in words: how a day is written into what is searched, and which days a question names.

A memory that happened at some time is found by its day as people write it, `3 May 2023`, and by
one word for the whole day, which no other day shares. A question may write a day otherwise (`May
3rd`, `2023-05-03`, `le 3 mai`) or relative to its own time (yesterday, last Tuesday, two weeks
ago): it is asked with that word too. A day without a year is the latest one that is not after the
question's. English and French.
"""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final

MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_FRENCH_MONTHS: Final = (
    "janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre",
    "octobre", "novembre", "décembre",
)  # fmt: skip
_MONTH: Final = {
    **{name[:3].lower(): number for number, name in enumerate(MONTHS, start=1)},
    **{name.lower(): number for number, name in enumerate(MONTHS, start=1)},
    **{name: number for number, name in enumerate(_FRENCH_MONTHS, start=1)},
}
_WEEKDAY: Final = {
    name: number
    for names in (
        "monday tuesday wednesday thursday friday saturday sunday",
        "lundi mardi mercredi jeudi vendredi samedi dimanche",
    )
    for number, name in enumerate(names.split())
}
_AGO: Final = {  # days before the question's
    "today": 0, "aujourd'hui": 0, "yesterday": 1, "hier": 1, "last night": 1,
    "the day before yesterday": 2, "avant-hier": 2,
}  # fmt: skip
_NUMBER: Final = {
    name: number
    for names in ("a two three four five six", "un deux trois quatre cinq six")
    for number, name in enumerate(names.split(), start=1)
} | {"one": 1, "une": 1}
_DAYS_OF: Final = {"day": 1, "jour": 1, "week": 7, "semaine": 7}
_ANY_MONTH: Final = "|".join(sorted(_MONTH, key=len, reverse=True))
_ANY_WEEKDAY: Final = "|".join(_WEEKDAY)
_ANY_NUMBER: Final = rf"\d{{1,3}}|{'|'.join(_NUMBER)}"
_WRITTEN: Final = re.compile(
    r"\b(?P<iso>\d{4}-\d{2}-\d{2})\b"
    rf"|\b(?P<day>\d{{1,2}})(?:st|nd|rd|th|er)? (?:of )?(?P<month>{_ANY_MONTH})\b\.?,?"
    r"(?: (?P<year>\d{4})\b)?"
    rf"|\b(?P<month_first>{_ANY_MONTH})\b\.? (?P<day_second>\d{{1,2}})(?:st|nd|rd|th)?\b,?"
    r"(?: (?P<year_last>\d{4})\b)?"
    rf"|\b(?P<ago>{'|'.join(sorted(_AGO, key=len, reverse=True))})\b"
    rf"|\b(?:last|on|since|this past) (?P<weekday>{_ANY_WEEKDAY})\b"
    rf"|\b(?P<jour>{_ANY_WEEKDAY}) dernier\b"
    rf"|\b(?P<many>{_ANY_NUMBER}) (?P<unit>day|week)s? ago\b"
    rf"|\bil y a (?P<combien>{_ANY_NUMBER}) (?P<unite>jour|semaine)s?\b"
)


def words_of(*, day: date) -> str:
    """Return the words by which a day is found: `3 May 2023 day20230503`."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year} {word_of(day=day)}"


def word_of(*, day: date) -> str:
    """Return the one word of a day; `search/sql/functions.sql` knows its beginning."""
    return f"day{day:%Y%m%d}"


def find_days(*, text: str, today: date) -> tuple[date, ...]:
    """Return the days that a question of today names, each once, in order; linear in the text."""
    return tuple(dict.fromkeys(_find(text.lower().replace("\u2019", "'"), today)))


def _find(low: str, today: date) -> Iterator[date]:
    for found in _WRITTEN.finditer(low):
        given = {name: value for name, value in found.groupdict().items() if value is not None}
        try:
            yield _relative(given, today) if _is_relative(given) else _written(given, today)
        except (ValueError, OverflowError):
            continue  # the 31st of June names no day


def _is_relative(given: dict[str, str]) -> bool:
    return not given.keys().isdisjoint({"ago", "weekday", "jour", "many", "combien"})


def _written(given: dict[str, str], today: date) -> date:
    """Return a day of the calendar. Raises ValueError for one that there is not."""
    if "iso" in given:
        return date.fromisoformat(given["iso"])
    month = _MONTH[given.get("month") or given["month_first"]]
    day = int(given.get("day") or given["day_second"])
    year = given.get("year") or given.get("year_last")
    if year is not None:
        return date(int(year), month, day)
    this_year = date(today.year, month, day)
    return this_year if this_year <= today else date(today.year - 1, month, day)


def _relative(given: dict[str, str], today: date) -> date:
    if "ago" in given:
        return today - timedelta(days=_AGO[given["ago"]])
    weekday = given.get("weekday") or given.get("jour")
    if weekday is not None:
        back = (today.weekday() - _WEEKDAY[weekday]) % 7
        return today - timedelta(days=back or 7)
    count = given.get("many") or given["combien"]
    days = _DAYS_OF[given.get("unit") or given["unite"]]
    number = int(count) if count.isdigit() else _NUMBER[count]
    return today - timedelta(days=number * days)
