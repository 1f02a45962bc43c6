"""No text of the pages is missing, guessed or mangled in any language."""

from config import translations


def test_every_text_is_translated() -> None:
    assert translations.check() == ()


def test_sources_are_really_read() -> None:
    singulars = {text.singular for text in translations.texts()}

    assert {"Confirm", "%(number)s memory", "Gotcha", "Remembered."} <= singulars


def test_missing_text_is_named() -> None:
    text = translations.Text(singular="Nobody wrote this", plural="", context=None, place="here:1")

    complaints = translations.complaints(
        catalog=translations.catalog(language="fr"), wanted=(text,)
    )

    assert list(complaints) == ["here:1: 'Nobody wrote this' is not translated"]
