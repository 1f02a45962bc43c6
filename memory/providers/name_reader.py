"""The statistical reader of names: spaCy with a small English model, an extra.

In the flow: the nightly job opens it; nothing else imports spaCy, which takes 1.6 s and 100 MB. The
model is a folder of files that `weights --names` brought; each is compared with its pinned hash
before spaCy reads it, and the package that carries them is never imported.
"""

import importlib
import importlib.util
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from accounts.messages import message
from memory.entities.accurate import Reader, ReadSpan
from memory.providers import model_files
from memory.providers.contracts import Provider
from memory.providers.errors import ProviderInvalidAnswer, ProviderRefused, ProviderUnavailable
from memory.providers.pins import NAME_READER

NUMBER: Final = 1  # of this reader; grows with the model and with what is believed of it
LIBRARY: Final = "spacy"
DICTIONARY: Final = "lemmatizer/lookups"  # its words by part of speech, in small letters
EVERYDAY: Final = ("verb", "adj")  # nouns there are names of people and places too
LEFT_OUT: Final = (  # parts of the pipeline that names do not need; their files are not fetched
    "tok2vec", "tagger", "parser", "senter", "attribute_ruler", "lemmatizer",
)  # fmt: skip
STUMBLES: Final = (  # of a library over a text; a machine without memory is another thing
    ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError,
)  # fmt: skip


class Standing(StrEnum):
    """Whether names can be read on this machine."""

    READY = "ready"
    NOT_INSTALLED = "not_installed"
    ALTERED = "altered"


def standing(*, models_dir: Path) -> Standing:
    """Say whether the library and the model are there; hashes 7 MB, imports nothing."""
    folder = models_dir / NAME_READER.name
    if importlib.util.find_spec(LIBRARY) is None:
        return Standing.NOT_INSTALLED
    if not all((folder / file.name).is_file() for file in NAME_READER.files):
        return Standing.NOT_INSTALLED
    return Standing.ALTERED if _altered(folder) else Standing.READY


def load(*, models_dir: Path) -> Reader:
    """Load the model; what is returned marks the names in texts, or raises ProviderInvalidAnswer.

    Raises:
        ProviderUnavailable: the extra is not installed.
        ProviderRefused: a file of the model is not the one that is pinned.
    """
    folder = models_dir / NAME_READER.name
    found = standing(models_dir=models_dir)
    if found is Standing.NOT_INSTALLED:
        raise ProviderUnavailable(
            detail="The reader of names is not installed.",
            hint="Run: make ner",
            provider=Provider.LOCAL,
        )
    if found is Standing.ALTERED:
        raise ProviderRefused(
            detail=message(
                "The file {file} of the reader of names is not as pinned, so it is not read.",
                file=str(folder / _altered(folder)[0]),
            ),
            hint="Delete its folder and run: make ner",
            provider=Provider.LOCAL,
        )
    pipeline = importlib.import_module(LIBRARY).load(folder, exclude=LEFT_OUT)
    return _reader(pipeline, _everyday(folder))


def _altered(folder: Path) -> tuple[str, ...]:
    return tuple(
        file.name
        for file in NAME_READER.files
        if not model_files.is_intact(path=folder / file.name, pinned=file)
    )


def _everyday(folder: Path) -> frozenset[str]:
    lookups = importlib.import_module(f"{LIBRARY}.lookups").Lookups()
    index = lookups.from_disk(folder / DICTIONARY).get_table("lemma_index")
    return frozenset(word for part in EVERYDAY for word in index[part])


def _reader(pipeline: Any, everyday: frozenset[str]) -> Reader:
    def read(texts: tuple[str, ...]) -> tuple[tuple[ReadSpan, ...], ...]:
        try:
            return tuple(_spans(marked, everyday) for marked in pipeline.pipe(texts))
        except STUMBLES as error:
            raise ProviderInvalidAnswer(
                detail="The reader of names stumbled over a text.",
                hint="Its memory is kept without further names; change its text to have it read.",
                provider=Provider.LOCAL,
            ) from error

    return read


def _spans(marked: Any, everyday: frozenset[str]) -> tuple[ReadSpan, ...]:
    return tuple(
        ReadSpan(
            label=mark.label_,
            start=mark.start_char,
            end=mark.end_char,
            is_everyday=_is_everyday(mark.text, everyday),
        )
        for mark in marked.ents
    )


def _is_everyday(text: str, everyday: frozenset[str]) -> bool:
    """Say whether a single word, or a part of one with hyphens, is a verb or an adjective."""
    if " " in text:
        return False
    parts = text.casefold().split("-")
    return any(part in everyday or part.removesuffix("s") in everyday for part in parts)
