"""Check every answer of a model before anyone sees it.

What is wrong in count, dimension, figures or shape becomes ProviderInvalidAnswer, so that nothing
malformed is ever stored. Pure: no vendor is called here.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Final

import jsonschema
import numpy as np
import numpy.typing as npt

from accounts.messages import message
from memory.providers.contracts import EmbeddingModel, Vectors
from memory.providers.errors import ProviderInvalidAnswer

LARGEST_FIGURE: Final = 1e18  # no embedding comes near; above it squares overflow
SMALLEST_LENGTH: Final = 1e-6  # below it a vector's direction is rounding noise


def unit_vectors(*, rows: object, count: int, model: EmbeddingModel) -> Vectors:
    """Return the rows as float32 (count, dimensions), each scaled to unit length.

    Raises:
        ProviderInvalidAnswer: other shape, not figures, NaN, infinite, or a zero vector.
    """
    try:
        array: npt.NDArray[np.float64] = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        what = message("vectors that are not equally long rows of figures")
        raise _invalid(model.provider, what) from error
    if count == 0 and array.size == 0:
        return np.zeros((0, model.dimensions), dtype=np.float32)
    if array.ndim != 2 or array.shape[0] != count:
        got = len(array) if array.ndim else 0
        what = message("{vectors} vectors for {texts} texts", vectors=got, texts=count)
        raise _invalid(model.provider, what)
    if array.shape[1] != model.dimensions:
        raise _other_dimensions(model, array.shape[1])
    if not (np.abs(array) < LARGEST_FIGURE).all():
        raise _invalid(model.provider, message("a vector with NaN or infinite figures"))
    lengths = np.linalg.norm(array, axis=1, keepdims=True)
    if (lengths < SMALLEST_LENGTH).any():
        raise _invalid(model.provider, message("a zero vector"))
    scaled: Vectors = (array / lengths).astype(np.float32)
    return scaled


def scores_in_order(
    *, scores: Sequence[tuple[int, float]], count: int, provider: str
) -> tuple[float, ...]:
    """Return one score in [0, 1] a text, in the order of the texts, from pairs (text, score).

    Raises:
        ProviderInvalidAnswer: a text without a score or with two, or a score out of range.
    """
    by_index = dict(scores)
    if len(scores) != count or by_index.keys() != set(range(count)):
        what = message("scores that do not match the {texts} texts one to one", texts=count)
        raise _invalid(provider, what)
    if not all(0.0 <= score <= 1.0 for score in by_index.values()):
        raise _invalid(provider, message("a score outside 0 to 1"))
    return tuple(by_index[index] for index in range(count))


def json_object(*, text: str, provider: str) -> Mapping[str, object]:
    """Return the JSON object that is the whole text.

    Raises:
        ProviderInvalidAnswer: no JSON, cut off, not an object, NaN, or nested too deep.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise _invalid(provider, message("text that is not JSON")) from error
    if not isinstance(value, dict):
        raise _invalid(provider, message("JSON that is not an object"))
    return value


def check_schema(
    *, data: Mapping[str, object], schema: Mapping[str, object], provider: str
) -> None:
    """Check an object against a JSON schema (draft 2020-12).

    Raises:
        ProviderInvalidAnswer: it does not fit; the message names the place, never the content.
    """
    validator = jsonschema.Draft202012Validator(schema)
    fault = jsonschema.exceptions.best_match(validator.iter_errors(data))
    if fault is not None:
        rule, path = str(fault.validator), fault.json_path
        raise _invalid(
            provider, message("JSON that breaks {rule!r} at {path}", rule=rule, path=path)
        )


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


def _invalid(provider: str, what: str) -> ProviderInvalidAnswer:
    return ProviderInvalidAnswer(
        detail=message("{provider} answered with {what}.", provider=provider, what=what),
        provider=provider,
    )


def _other_dimensions(model: EmbeddingModel, dimensions: int) -> ProviderInvalidAnswer:
    return ProviderInvalidAnswer(
        detail=message(
            "{key} answered with {dimensions} dimensions instead of {wanted}.",
            key=model.key,
            dimensions=dimensions,
            wanted=model.dimensions,
        ),
        provider=model.provider,
        hint=message(
            "Set the provider's dimensions to {dimensions}, or choose a model that can be asked "
            "for {wanted}.",
            dimensions=dimensions,
            wanted=model.dimensions,
        ),
    )
