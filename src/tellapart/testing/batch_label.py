"""What a batch is called: text, a number or a date, told as text."""

from __future__ import annotations

import datetime
import numbers
from decimal import Decimal

import numpy as np

from tellapart.errors import InputError


def label_text(label: object) -> str:
    """Return a label as text: dates and times in ISO's form, numbers as they are written.

    Examples
    --------
    >>> [label_text(label) for label in (datetime.date(2026, 11, 17), 3, "before")]
    ['2026-11-17', '3', 'before']
    """
    if isinstance(label, str) and label:
        return label
    if isinstance(label, np.generic):
        is_time = isinstance(label, np.datetime64) and not np.isnat(label)
        return str(label) if is_time else label_text(label.item())
    if isinstance(label, datetime.date | datetime.time) and label == label:  # not pandas' NaT
        return label.isoformat()
    is_number = isinstance(label, numbers.Real | Decimal) and not isinstance(label, bool)
    # Periods of pandas, which has no part in this package unless the user brings it.
    is_period = type(label).__name__ == "Period" and hasattr(label, "ordinal")
    if (is_number and label == label) or is_period:
        return str(label)
    raise InputError(f"label must be a text, a number or a date; got {label!r}")
