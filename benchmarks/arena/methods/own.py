"""The tests of tellapart as its users call them."""

from __future__ import annotations

from inspect import signature

import tellapart as ta
from arena.methods.base import ALPHA, Method, Verdict
from arena.table import Table

_HAS_METHODS = "method" in signature(ta.two_sample_test).parameters


def scan(X: Table, Y: Table, seed: int) -> Verdict:
    """Test by the default call."""
    result = ta.two_sample_test(X, Y, random_state=seed)
    return Verdict(bool(result.pvalue <= ALPHA), float(result.pvalue))


def split(X: Table, Y: Table, seed: int) -> Verdict:
    """Test by the variables chosen on one half, on the other half."""
    chosen = {"method": "split"} if _HAS_METHODS else {}
    result = ta.two_sample_test(X, Y, random_state=seed, **chosen)  # type: ignore[arg-type]
    return Verdict(bool(result.pvalue <= ALPHA), float(result.pvalue))


_SPLIT = Method("split", 'tellapart.two_sample_test(X, Y, method="split")', split, own=True)
_SCAN = Method("scan", "tellapart.two_sample_test(X, Y)", scan, own=True)
# Before the scan exists the default call is the split test; its rows must not pass for the scan's.
METHODS = (_SCAN, _SPLIT) if _HAS_METHODS else (_SPLIT,)
