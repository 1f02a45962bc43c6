"""No text of the pages is missing, guessed or mangled in any language; refusals are found."""

from pathlib import PurePosixPath

import pytest
from babel.messages.catalog import Catalog

from tests.support import catalogs
from tests.support.catalogs import Text

LEFT_OUT = ("memory/api/writing.py", "memory/mcp/app.py", "config/rest/problems.py", "a/b.html")


def test_every_text_is_translated() -> None:
    assert catalogs.check() == ()


def test_sources_are_really_read() -> None:
    found = catalogs.texts()

    singulars = {"Confirm", "%(number)s memory", "Gotcha", "Remembered."}
    assert singulars <= {text.singular for text in found}
    messages = {"The address {slug} is taken.", "This memory is {status}."}
    assert messages <= {text.singular for text in found if text.is_message}


def test_what_only_programs_are_told_is_not_looked_at() -> None:
    assert not any(catalogs.is_for_pages(path=PurePosixPath(path)) for path in LEFT_OUT)
    assert catalogs.is_for_pages(path=PurePosixPath("memory/records/actions/confirm.py"))


@pytest.mark.parametrize(
    "source",
    [
        'raise NotFound(detail="Look.")',
        'raise NotFound(hint="Look." if one else "Look.")',
        'raise NotFound(hint=hint or "Look.")',
        'raise refused(why=message("Look."))',
        'HINT: Final = "Look."',
        'detail = "Look."',
        'title = "Look."',
        'class Wrong(NotFound, title="Look."): ...',
        'def wrong(*, hint: str = "Look.") -> None: ...',
        'def _wrong(pointer: str, detail: str) -> None: ...\n_wrong("/a", "Look.")',
    ],
)
def test_message_is_found_wherever_it_is_written(source: str) -> None:
    found = catalogs.messages_of(source=source, path="errors.py")

    assert {(one.singular, one.fault) for one in found} == {("Look.", "")}


def test_only_errors_have_titles_for_pages() -> None:
    assert list(catalogs.messages_of(source='title = "Look."', path="module.py")) == []


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
    found = catalogs.messages_of(source=source, path="module.py")

    assert [bool(one.fault) for one in found] == [True]


@pytest.mark.parametrize(
    ("english", "french", "complaint"),
    [
        ("Nobody wrote this", "", "is not translated"),
        ("Really?", "Vraiment ?", "needs a no-break space before ; : ! ? »"),
        ("{most:,} of {name!r}.", "De {name}, {most}.", None),
        *(
            ("No {name!r}.", french, "is translated with other placeholders")
            for french in ("Pas de {nom}.", "Rien.", "{name} {n}", "{name!r}", "{name:,}", "{name")
        ),
    ],
)
def test_what_is_wrong_with_a_translation_is_named(
    english: str, french: str, complaint: str | None
) -> None:
    catalog = Catalog(locale="fr")
    if french:
        catalog.add(english, french)
    text = Text(singular=english, place="here:1", is_message="{" in english)

    found = list(catalogs.complaints(catalog=catalog, wanted=(text,)))

    assert found == ([] if complaint is None else [f"here:1: {english!r} {complaint}"])
