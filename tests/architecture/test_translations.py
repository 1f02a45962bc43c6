"""No text of the pages is missing, guessed or mangled in any language."""

from babel.messages.catalog import Catalog

from config import translations
from tests.support import catalogs


def test_every_text_is_translated() -> None:
    assert catalogs.check() == ()


def test_sources_are_really_read() -> None:
    singulars = {text.singular for text in catalogs.texts()}

    assert {"Confirm", "%(number)s memory", "Gotcha", "Remembered."} <= singulars


def test_line_never_ends_before_a_sign_of_french() -> None:
    french = Catalog(locale="fr")
    french.add("Really?", "Vraiment ?")
    text = catalogs.Text(singular="Really?", place="here:1")

    complaints = catalogs.complaints(catalog=french, wanted=(text,))

    assert list(complaints) == ["here:1: 'Really?' needs a no-break space before ; : ! ? »"]


def test_missing_text_is_named() -> None:
    text = catalogs.Text(singular="Nobody wrote this", place="here:1")

    complaints = catalogs.complaints(catalog=translations.catalog(language="fr"), wanted=(text,))

    assert list(complaints) == ["here:1: 'Nobody wrote this' is not translated"]
