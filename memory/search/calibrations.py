"""The fitted constants of relevance, one row an embedder; data, no decisions.

Made by `manage.py evaluate fit-relevance` on the train half of the shipped set, with the embedder
of the row configured; signs and threshold are chosen by cross-validation there, the threshold so
that a tenth of the answerable queries are withheld. NO_VECTORS is for searches by words alone, ANY
for an embedder that was never fitted: it does not use the size of the cosine, which differs between
models, and was fitted with the static one, the weakest of them, so that it withholds little.
"""

from collections.abc import Mapping
from typing import Final

from memory.search.relevance import Calibration, Rivals, Sign

NO_VECTORS: Final = "no vectors"
ANY: Final = "any"


def calibration_of(*, model: str, has_vectors: bool) -> Calibration:
    """Return the row of an embedder's key, or what stands in for it."""
    if not has_vectors:
        return CALIBRATIONS[NO_VECTORS]
    return CALIBRATIONS.get(model, CALIBRATIONS[ANY])


_ROWS: Final = (  # key, intercept, slopes, threshold, cosine and matched share of usual rivals
    (
        "local/all-minilm-l6-v2",
        -5.476,
        {
            Sign.COSINE_LEAD: 2.268,
            Sign.MATCHED: 3.287,
            Sign.MATCHED_LEAD: 4.952,
            Sign.MISSING: -2.167,
            Sign.CLOSEST: 2.244,
            Sign.COSINE_WORDS: 0.647,
            Sign.FRENCH_LEAD: 11.569,
        },
        0.146,
        0.242,
        0.129,
    ),
    (
        NO_VECTORS,
        -4.993,
        {
            Sign.MATCHED: 5.823,
            Sign.MATCHED_LEAD: 7.737,
            Sign.MISSING: -1.649,
            Sign.FRENCH_MATCHED: 16.31,
        },
        0.05,
        0.0,
        0.181,
    ),
    (
        "static/potion-base-8m",
        -5.182,
        {
            Sign.COSINE_LEAD: 0.132,
            Sign.MATCHED: 5.522,
            Sign.MATCHED_LEAD: 3.105,
            Sign.MISSING: -1.674,
            Sign.CLOSEST: 3.005,
        },
        0.099,
        0.292,
        0.129,
    ),
    (
        ANY,
        -5.219,
        {
            Sign.COSINE_STANDING: 0.298,
            Sign.MATCHED: 5.316,
            Sign.MATCHED_LEAD: 3.048,
            Sign.MISSING: -1.683,
            Sign.CLOSEST: 2.533,
        },
        0.09,
        0.292,
        0.129,
    ),
    (
        "hashing/words-384",
        -5.504,
        {
            Sign.MATCHED: 6.371,
            Sign.MATCHED_LEAD: 8.711,
            Sign.MISSING: -1.36,
        },
        0.05,
        0.169,
        0.129,
    ),
)

CALIBRATIONS: Final[Mapping[str, Calibration]] = {
    key: Calibration(
        key=key,
        intercept=intercept,
        slopes=slopes,
        threshold=threshold,
        rivals=Rivals(cosine=cosine, matched=matched),
    )
    for key, intercept, slopes, threshold, cosine, matched in _ROWS
}
