"""The selections of tellapart as its users call them."""

from __future__ import annotations

import tellapart as ta
from which_few.methods.base import method
from which_few.table import IntArray, Table


@method("tellapart", "tellapart.select_variables(X, Y, d)", own=True)
def default(X: Table, Y: Table, d: int, seed: int) -> IntArray:
    """Select by the default call."""
    return ta.select_variables(X, Y, d, random_state=seed).support


@method("tellapart-linear", 'tellapart.select_variables(X, Y, d, kernel="linear")', own=True)
def linear(X: Table, Y: Table, d: int, seed: int) -> IntArray:
    """Select by the linear kernel."""
    return ta.select_variables(X, Y, d, kernel="linear", random_state=seed).support


@method("tellapart-gaussian", 'tellapart.select_variables(X, Y, d, kernel="gaussian")', own=True)
def gaussian(X: Table, Y: Table, d: int, seed: int) -> IntArray:
    """Select by the Gaussian kernel."""
    return ta.select_variables(X, Y, d, kernel="gaussian", random_state=seed).support
