"""The tests of tellapart as its users call them."""

from __future__ import annotations

import tellapart as ta
from arena.methods.base import ALPHA, Method, Verdict
from arena.table import Table


def scan(X: Table, Y: Table, seed: int) -> Verdict:
    """Test by the default call."""
    result = ta.two_sample_test(X, Y, random_state=seed)
    return Verdict(bool(result.pvalue <= ALPHA), float(result.pvalue))


def split(X: Table, Y: Table, seed: int) -> Verdict:
    """Test by the variables chosen on one half, on the other half."""
    result = ta.two_sample_test(X, Y, method="split", random_state=seed)
    return Verdict(bool(result.pvalue <= ALPHA), float(result.pvalue))


METHODS = (
    Method("scan", "tellapart.two_sample_test(X, Y)", scan, own=True),
    Method("split", 'tellapart.two_sample_test(X, Y, method="split")', split, own=True),
)
