"""No text of the pages is missing, guessed or mangled in any language."""

from babel.messages.catalog import Catalog

from config import translations


def test_every_text_is_translated() -> None:
    assert translations.check() == ()


def test_sources_are_really_read() -> None:
    singulars = {text.singular for text in translations.texts()}

    assert {"Confirm", "%(number)s memory", "Gotcha", "Remembered."} <= singulars


def test_line_never_ends_before_a_sign_of_french() -> None:
    french = Catalog(locale="fr")
    french.add("Really?", "Vraiment ?")
    text = translations.Text(singular="Really?", plural="", context=None, place="here:1")

    complaints = translations.complaints(catalog=french, wanted=(text,))

    assert list(complaints) == ["here:1: 'Really?' needs a no-break space before ; : ! ? »"]


def test_missing_text_is_named() -> None:
    text = translations.Text(singular="Nobody wrote this", plural="", context=None, place="here:1")

    complaints = translations.complaints(
        catalog=translations.catalog(language="fr"), wanted=(text,)
    )

    assert list(complaints) == ["here:1: 'Nobody wrote this' is not translated"]
