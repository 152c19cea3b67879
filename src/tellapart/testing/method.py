"""How results tell of a test that is not tellapart's own."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Method:
    """A test that is not tellapart's own, as results tell of it.

    Attributes
    ----------
    name : str
        What to call it.
    statistic : str
        What its statistic is.
    validity : str
        Why its p-value holds, as the end of a sentence: "It holds … because …".
    call : str
        The code that makes the test, below `ta.baselines`.
    """

    name: str
    statistic: str
    validity: str
    call: str
