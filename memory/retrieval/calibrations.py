"""The fitted constants of relevance, one row an embedder; data, no decisions (spec 11.1).

Made by `manage.py evaluate fit-relevance` on the train half of the shipped set, with the embedder
of the row configured; the threshold is the value that withholds a tenth of the answerable queries
of that half. NO_VECTORS is for searches by words alone, ANY for an embedder that was never fitted:
it does not use the size of the cosine, which differs between models, and was fitted with the static
one, the weakest of them, so that it withholds little.
"""

from collections.abc import Mapping
from typing import Final

from memory.retrieval.relevance import Calibration, Rivals, Sign

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
        -4.067,
        {
            Sign.COSINE: 0.25,
            Sign.COSINE_LEAD: 11.041,
            Sign.MATCHED: 2.265,
            Sign.MATCHED_LEAD: 5.482,
            Sign.MISSING: -2.514,
        },
        0.064,
        0.242,
        0.129,
    ),
    (
        NO_VECTORS,
        -4.766,
        {Sign.MATCHED: 5.218, Sign.MATCHED_LEAD: 7.961, Sign.MISSING: -1.688},
        0.05,
        0.0,
        0.182,
    ),
    (
        "static/potion-base-8m",
        -4.147,
        {Sign.COSINE_LEAD: 7.5, Sign.MATCHED: 4.2, Sign.MATCHED_LEAD: 4.254, Sign.MISSING: -1.868},
        0.05,
        0.292,
        0.127,
    ),
    (
        ANY,
        -4.784,
        {
            Sign.COSINE_STANDING: 1.162,
            Sign.MATCHED: 4.105,
            Sign.MATCHED_LEAD: 3.88,
            Sign.MISSING: -1.778,
        },
        0.05,
        0.292,
        0.127,
    ),
    (
        "hashing/words-384",
        -5.64,
        {
            Sign.COSINE_LEAD: 1.046,
            Sign.MATCHED: 6.524,
            Sign.MATCHED_LEAD: 9.013,
            Sign.MISSING: -2.663,
        },
        0.05,
        0.169,
        0.127,
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
