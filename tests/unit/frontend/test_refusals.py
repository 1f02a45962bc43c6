"""Refusals are said in the language of the page, with their values put in afterwards."""

import pytest
from django.utils import translation

from accounts.caller import Role, TokenScope
from accounts.messages import message
from frontend.presenters.refusals import NAMES, correction, noted, translate
from memory.intake.actions.replacement import SENT_AGAIN

NB = "\u00a0"


def _french(text: str) -> str:
    with translation.override("fr"):
        return translate(text)


@pytest.mark.parametrize(
    ("english", "french"),
    [
        ("There is no such memory.", "Ce souvenir n’existe pas."),
        (message("The address {slug} is taken.", slug="a"), "L’adresse a est déjà prise."),
        (
            message("Use at most {most} characters.", most=20_000),
            f"Utilisez au plus 20{NB}000 caractères.",
        ),
        (
            message("Your role, {role}, may not do this.", role=Role.VIEWER),
            f"Votre rôle, «{NB}Lecteur{NB}», ne le permet pas.",
        ),
        (
            message("Possible: {names}.", names=(TokenScope.READ, TokenScope.WRITE)),
            f"Possible{NB}: Lire, Écrire.",
        ),
        (
            message("Expected {what}.", what=message("a list of texts")),
            f"Attendu{NB}: une liste de textes.",
        ),
        ("", ""),
    ],
)
def test_sentence_is_said_in_french(english: str, french: str) -> None:
    assert _french(english) == french


def test_english_pages_and_what_no_catalog_has_show_the_sentence_itself() -> None:
    with translation.override("en"):
        assert translate(message("Use {most:,} of them.", most=1_000)) == "Use 1,000 of them."

    told = message("There is no project {ref!r}.", ref="{slug}")  # braces that people wrote
    assert _french(told) == f"Il n’y a pas de projet «{NB}{{slug}}{NB}»."
    assert _french(message("Nobody wrote {this}.", this="that")) == "Nobody wrote that."


def test_every_value_with_a_name_is_named() -> None:
    for kind, names in NAMES.items():
        assert set(kind) == set(names)  # type: ignore[call-overload]


def test_correction_is_named_and_what_was_written_is_left_alone() -> None:
    with translation.override("fr"):
        assert correction("wrong: seen in it") == f"C’est faux{NB}: seen in it"
        assert correction("outdated") == "C’était juste, c’est périmé"
        assert correction("a note: with a colon") == "a note: with a colon"


def test_only_what_the_product_notes_itself_is_said() -> None:
    with translation.override("fr"):
        assert noted("restored version 3") == "version 3 rétablie"
        assert noted(SENT_AGAIN) == "renvoyé sous son identifiant externe"
        assert noted("Archived") == "Archived"
        assert noted("") == ""
