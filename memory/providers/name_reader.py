"""The statistical reader of names: spaCy with a small English model, an extra.

The nightly job opens it; nothing else imports spaCy, which takes 1.6 s and 100 MB. The model is a
folder of files that `weights --names` brought; each is compared with its pinned hash before spaCy
reads it, and the package that carries them is never imported.
"""

import importlib
import importlib.util
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from accounts.messages import message
from memory.providers import weights
from memory.providers.contracts import NameReader, Provider, ReadSpan
from memory.providers.errors import ProviderInvalidAnswer, ProviderRefused, ProviderUnavailable
from memory.providers.weights import NAME_READER

NUMBER: Final = 1  # of this reader; grows with the model and with what is believed of it
LIBRARY: Final = "spacy"
DICTIONARY: Final = "lemmatizer/lookups"  # its words by part of speech, in small letters
EVERYDAY: Final = ("verb", "adj")  # nouns there are names of people and places too
LEFT_OUT: Final = (  # parts of the pipeline that names do not need; their files are not fetched
    "tok2vec", "tagger", "parser", "senter", "attribute_ruler", "lemmatizer",
)  # fmt: skip
LIBRARY_FAULTS: Final = (  # of a library over a text; a machine without memory is another thing
    ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError,
)  # fmt: skip


class Readiness(StrEnum):
    """Whether names can be read on this machine."""

    READY = "ready"
    NOT_INSTALLED = "not_installed"
    ALTERED = "altered"


def readiness(*, models_dir: Path) -> Readiness:
    """Say whether the library and the model are there; hashes 7 MB, imports nothing."""
    folder = models_dir / NAME_READER.name
    if importlib.util.find_spec(LIBRARY) is None:
        return Readiness.NOT_INSTALLED
    if not all((folder / file.name).is_file() for file in NAME_READER.files):
        return Readiness.NOT_INSTALLED
    is_altered = weights.missing_files(model=NAME_READER, folder=folder)
    return Readiness.ALTERED if is_altered else Readiness.READY


def load(*, models_dir: Path) -> NameReader:
    """Load the model; what is returned marks the names in texts, or raises ProviderInvalidAnswer.

    Raises ProviderUnavailable where the extra is not installed, ProviderRefused where a file of the
    model is not the one that is pinned.
    """
    folder = models_dir / NAME_READER.name
    found = readiness(models_dir=models_dir)
    if found is Readiness.NOT_INSTALLED:
        raise ProviderUnavailable(
            detail="The reader of names is not installed.",
            hint="Run: make ner",
            provider=Provider.LOCAL,
        )
    if found is Readiness.ALTERED:
        altered = weights.missing_files(model=NAME_READER, folder=folder)[0]
        raise ProviderRefused(
            detail=message(
                "The file {file} of the reader of names is not as pinned, so it is not read.",
                file=str(folder / altered.name),
            ),
            hint="Delete its folder and run: make ner",
            provider=Provider.LOCAL,
        )
    pipeline = importlib.import_module(LIBRARY).load(folder, exclude=LEFT_OUT)
    lookups = importlib.import_module(f"{LIBRARY}.lookups").Lookups()
    index = lookups.from_disk(folder / DICTIONARY).get_table("lemma_index")
    return _reader(pipeline, frozenset(word for part in EVERYDAY for word in index[part]))


def _reader(pipeline: Any, everyday: frozenset[str]) -> NameReader:
    def span_of(mark: Any) -> ReadSpan:
        return ReadSpan(
            label=mark.label_,
            start=mark.start_char,
            end=mark.end_char,
            is_everyday=_is_everyday(mark.text, everyday),
        )

    def read(texts: tuple[str, ...]) -> tuple[tuple[ReadSpan, ...], ...]:
        try:
            return tuple(tuple(map(span_of, text.ents)) for text in pipeline.pipe(texts))
        except LIBRARY_FAULTS as error:
            raise ProviderInvalidAnswer(
                detail="The name reader failed on a text.",
                hint="Its memory is kept without further names; change its text to have it read.",
                provider=Provider.LOCAL,
            ) from error

    return read


def _is_everyday(text: str, everyday: frozenset[str]) -> bool:
    """Say whether a single word, or a part of one with hyphens, is a verb or an adjective."""
    if " " in text:
        return False
    parts = text.casefold().split("-")
    return any(part in everyday or part.removesuffix("s") in everyday for part in parts)
