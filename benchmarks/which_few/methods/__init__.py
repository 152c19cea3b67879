"""The selectors by name; a new competitor is one new file here."""

from __future__ import annotations

from which_few.methods import (
    best_subset,
    boosting,
    f_test,
    forest,
    hsic_lasso,
    l1_logistic,
    mann_whitney,
    mutual_information,
    own,
    sparse_programs,
)
from which_few.methods.base import METHODS, Method

__all__ = ["METHODS", "ROOMS", "Method"]

ROOMS = (
    own,
    f_test,
    mann_whitney,
    mutual_information,
    forest,
    boosting,
    l1_logistic,
    hsic_lasso,
    best_subset,
    sparse_programs,
)
"""The files of selectors: that they are imported is what enters their selectors."""
