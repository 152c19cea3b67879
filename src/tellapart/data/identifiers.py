"""Columns that name rows instead of measuring them: numbers in a row, hashes, texts all different.

They would tell any two files apart, and mean nothing. Whether a column is one is decided by its
pooled values, in no order and without labels: what is left out is the same for every permutation
of the labels, and p-values stay valid.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

# A text column with more distinct values than this, and than half the rows, names its rows.
MOST_LABELS = 50
# Fewer rows than this may hold consecutive numbers by chance or by design; and fewer than this say
# nothing, whatever the column is called.
FEWEST_CONSECUTIVE = 20
FEWEST_NAMED = 5

_LIKE_A_NAME = re.compile(r"(?:.*[\W_])?(?:id|uid|uuid|guid|rowid|idx|key)", re.IGNORECASE)
_CAMEL = re.compile(r".*[a-z](?:Id|ID|Uid|UID|Uuid|UUID|Guid|GUID|Key)")
_HASH = re.compile(
    r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?:0x)?(?=.*[0-9])[0-9a-f]{16,}", re.IGNORECASE
)


def is_named_like_one(name: str) -> bool:
    """Say whether a column's name says that it names rows.

    >>> [is_named_like_one(name) for name in ("patient_id", "PassengerId", "ID", "covid", "humid")]
    [True, True, True, False, False]
    """
    return bool(_LIKE_A_NAME.fullmatch(name) or _CAMEL.fullmatch(name))


def why_text_names_rows(counts: Mapping[str, int], n_rows: int, n_samples: int) -> str | None:
    """Say why a column of text names rows, from how often each text occurs; None if it does not.

    Parameters
    ----------
    counts : mapping
        How often each text occurs in all samples.
    n_rows : int
        Rows of all samples.
    n_samples : int
        A name may occur once in each of them: the same patients, before and after.

    Examples
    --------
    >>> why_text_names_rows({f"p{k}": 1 for k in range(60)}, 60, 2)
    '60 distinct texts in 60 rows'
    >>> why_text_names_rows({"f": 30, "m": 30}, 60, 2) is None
    True
    """
    if not counts:
        return None
    once = max(counts.values()) <= n_samples
    n_distinct = len(counts)
    if n_distinct > MOST_LABELS and (once or 2 * n_distinct > n_rows):
        return f"{n_distinct} distinct texts in {n_rows} rows"
    if once and n_distinct >= FEWEST_NAMED and all(map(_HASH.fullmatch, counts)):
        return f"texts like hashes, {n_distinct} distinct ones in {n_rows} rows"
    return None


def may_be_consecutive(
    low: NDArray[np.float64], high: NDArray[np.float64], n_rows: int, n_samples: int
) -> NDArray[np.bool_]:
    """Say which columns of whole numbers have extremes that consecutive numbers would have.

    Each number once in every sample: between n_rows/n_samples and n_rows of them.
    """
    span = high - low + 1
    return np.asarray(
        (n_rows >= FEWEST_CONSECUTIVE) & (span <= n_rows) & (span * n_samples >= n_rows)
    )


def why_numbers_name_rows(name: str, values: NDArray[np.float64], n_samples: int) -> str | None:
    """Say why a column of whole numbers names rows, from its pooled values; None if it does not.

    Consecutive numbers, or any in a column called so, each at most once in every sample. A count
    or a code repeats itself, and a measurement leaves gaps.

    Examples
    --------
    >>> why_numbers_name_rows("visit", np.arange(100.0), 2)
    'consecutive whole numbers, each at most once in a sample'
    >>> why_numbers_name_rows("pulse", np.array([71.0, 64, 80, 71, 66] * 20), 2) is None
    True
    """
    distinct, counts = np.unique(values, return_counts=True)
    if not values.size or counts.max() > n_samples:
        return None
    if values.size >= FEWEST_CONSECUTIVE and distinct[-1] - distinct[0] + 1 == distinct.size:
        return "consecutive whole numbers, each at most once in a sample"
    if values.size >= FEWEST_NAMED and is_named_like_one(name):
        return "its name, and whole numbers, each at most once in a sample"
    return None
