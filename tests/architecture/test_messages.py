"""The messages of refusals are found in the sources, and each has a text in every catalog."""

from pathlib import PurePosixPath

import pytest
from babel.messages.catalog import Catalog

from tests.support import catalogs
from tests.support.catalogs import Text

SAID = 'raise NotFound(detail=message("No {name}.", name=name), hint="Look.")'


def _found(source: str, path: str = "module.py") -> tuple[Text, ...]:
    return tuple(catalogs.messages_of(source=source, path=path))


def _complaints(english: str, french: str) -> list[str]:
    catalog = Catalog(locale="fr")
    catalog.add(english, french)
    text = Text(singular=english, place="here:1", is_message=True)
    return list(catalogs.complaints(catalog=catalog, wanted=(text,)))


@pytest.mark.parametrize(
    "source",
    [
        'raise NotFound(detail="Look.")',
        'raise NotFound(hint="Look." if one else "Look.")',
        'raise NotFound(hint=hint or "Look.")',
        'raise refused(why=message("Look."))',
        'HINT: Final = "Look."',
        'detail = "Look."',
        'def wrong(*, hint: str = "Look.") -> None: ...',
        'def _wrong(pointer: str, detail: str) -> None: ...\n_wrong("/a", "Look.")',
    ],
)
def test_message_is_found_wherever_it_is_written(source: str) -> None:
    assert {(one.singular, one.fault) for one in _found(source)} == {("Look.", "")}


def test_titles_of_errors_are_sentences_and_no_other_titles() -> None:
    assert [one.singular for one in _found('title = "Not found"', "errors.py")] == ["Not found"]
    assert _found('title = "Not found"') == ()


@pytest.mark.parametrize(
    "source",
    [
        'raise NotFound(detail=f"No {name}.")',
        'raise NotFound(detail="No " + name)',
        'raise NotFound(detail="No %s." % name)',
        'raise NotFound(hint=", ".join(names))',
        'raise NotFound(hint="No {}.".format(name))',
        "raise NotFound(detail=message(text))",
        'raise NotFound(detail=message(f"No {name}."))',
        'raise NotFound(detail=message("No {name}.", slug=slug))',
        'raise NotFound(detail=message("No {name}.", name=name, slug=slug))',
        'def _wrong(detail: str) -> None: ...\n_wrong(f"No {name}.")',
    ],
)
def test_message_that_no_catalog_can_have_is_a_fault(source: str) -> None:
    assert [bool(one.fault) for one in _found(source)] == [True]


def test_what_only_programs_are_told_is_not_looked_at() -> None:
    told = ("memory/api/writing.py", "memory/mcp/app.py", "config/rest/problems.py", "a/b.html")

    assert not any(catalogs.is_for_pages(path=PurePosixPath(path)) for path in told)
    assert catalogs.is_for_pages(path=PurePosixPath("memory/records/actions/confirm.py"))


def test_message_without_a_french_text_is_named() -> None:
    wanted = _found(SAID, "here")

    assert list(catalogs.complaints(catalog=Catalog(locale="fr"), wanted=wanted)) == [
        "here:1: 'Look.' is not translated",
        "here:1: 'No {name}.' is not translated",
    ]


@pytest.mark.parametrize(
    "french", ["Pas de {nom}.", "Rien.", "{name} {n}", "{name!r}", "{name:,}", "{name"]
)
def test_french_with_other_places_is_named(french: str) -> None:
    assert _complaints("No {name!r}.", french) == [
        "here:1: 'No {name!r}.' is translated with other placeholders"
    ]


def test_french_may_put_the_places_in_another_order() -> None:
    assert _complaints("{most:,} of {name!r}.", "De {name}, {most}.") == []


def test_sources_are_really_read() -> None:
    found = {text.singular for text in catalogs.texts() if text.is_message}

    assert {"The address {slug} is taken.", "This memory is {status}."} <= found
