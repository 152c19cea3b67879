"""The smallest effect of interest: large batches show changes that are too small to matter."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from tellapart.arguments import check_number
from tellapart.errors import InputError
from tellapart.scan.finding import KINDS, Finding

SmallestEffect = float | Mapping[str, float]


def check_smallest_effect(value: object, method: str) -> SmallestEffect | None:
    """Return a number, or a number for each of some kinds of findings; None asks for nothing."""
    if value is None:
        return None
    if method != "scan":
        raise InputError(
            f"smallest_effect needs the findings of method='scan'; got method={method!r}"
        )
    if not isinstance(value, Mapping):
        return check_number("smallest_effect", value, 0.0, open_low=True)
    unknown = [kind for kind in value if kind not in KINDS]
    if unknown or not value:
        known = ", ".join(map(repr, KINDS))
        got = repr(unknown[0]) if unknown else "none"
        raise InputError(f"smallest_effect must have kinds of findings as keys, {known}; got {got}")
    return {
        kind: check_number(f"smallest_effect[{kind!r}]", least, 0.0)
        for kind, least in value.items()
    }


def is_worth_an_alarm(findings: Iterable[Finding], smallest: SmallestEffect | None) -> bool:
    """Return whether the interval of a finding excludes all effects smaller than that.

    Kinds that a mapping does not have may be of any size.
    """
    if smallest is None:
        return True
    return any(smallest_in_interval(finding) >= _least(finding, smallest) for finding in findings)


def smallest_in_interval(finding: Finding) -> float:
    """Return the smallest size of effect in a finding's interval; 0 if it contains none.

    In the units of its kind: standard deviations, proportions, differences; of a ratio r of
    standard deviations it is max(r, 1/r) − 1, so that 0.1 is one larger or smaller by a tenth.

    Examples
    --------
    >>> wider = Finding("spread", ("age",), 0.01, 0.5, (0.4, 0.8), (1.0, 2.0), "SD")
    >>> round(smallest_in_interval(wider), 6)
    0.25
    """
    low, high = finding.interval
    if finding.scale.ratio:
        low, high = (math.log(ratio) if ratio > 0 else -math.inf for ratio in (low, high))
    if not (low > 0 or high < 0):
        return 0.0
    size = min(abs(low), abs(high))
    return math.expm1(size) if finding.scale.ratio else size


def _least(finding: Finding, smallest: SmallestEffect) -> float:
    return smallest.get(finding.kind, 0.0) if isinstance(smallest, Mapping) else smallest
