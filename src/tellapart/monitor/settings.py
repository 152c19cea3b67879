"""The settings of a monitor, checked before any work is done."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from tellapart.arguments import (
    check_choice,
    check_integer,
    check_number,
    check_random_state,
    settings_from,
    with_checked,
)
from tellapart.data.missing import POLICIES
from tellapart.errors import InputError
from tellapart.monitor.betting import Ever, Planned, Rate
from tellapart.monitor.records import ColumnScore
from tellapart.scan.finding import Finding
from tellapart.scan.smallest_effect import SmallestEffect
from tellapart.text import nearest
from tellapart.two_sample.settings import TestSettings


def check_smallest_effect(value: object, method: str) -> SmallestEffect | None:
    """Return the sizes from which on findings are worth an alarm; None for any size."""
    if value is None:
        return None
    if method != "scan":
        raise InputError(
            f"smallest_effect needs the findings of method='scan'; got method={method!r}"
        )
    return SmallestEffect.of(value)


def worth_an_alarm(
    findings: Iterable[Finding], smallest: SmallestEffect | None
) -> tuple[Finding, ...]:
    """Return the findings whose 95 % interval excludes all effects smaller than their size.

    Kinds, and columns, that have no size raise no alarm. Without sizes all findings are worth one.
    """
    if smallest is None:
        return tuple(findings)
    return tuple(finding for finding in findings if _exceeds(finding, smallest))


def _exceeds(finding: Finding, smallest: SmallestEffect) -> bool:
    size = smallest.size(finding.kind, finding.variables, finding.measure)
    if size is None:
        return False
    if finding.scale.ratio:
        size = math.log(size)
    least = smallest_in_interval(finding)
    return least > 0 and least >= size


def smallest_in_interval(finding: Finding) -> float:
    """Return the smallest size of effect in a finding's interval; 0 if it contains none.

    In the units of its kind: standard deviations, proportions, differences; of ratios it is the
    logarithm.

    Examples
    --------
    >>> wider = Finding("spread", ("age",), 0.01, 0.5, (0.4, 0.8), (1.0, 2.0), "SD")
    >>> round(math.exp(smallest_in_interval(wider)), 6)
    1.25
    """
    low, high = finding.interval
    if finding.scale.ratio:
        low, high = (math.log(ratio) if ratio > 0 else -math.inf for ratio in (low, high))
    if not (low > 0 or high < 0):
        return 0.0
    return min(abs(low), abs(high))


Thresholds = float | Mapping[str, float]


def check_thresholds(value: object) -> Thresholds | None:
    """Return the size of a score from which on it is marked: for all columns, or for some."""
    if value is None:
        return None
    if not isinstance(value, Mapping):
        return check_number("thresholds", value, 0.0, open_low=True)
    if not value:
        raise InputError("thresholds must have columns as keys; got none")
    return {
        str(name): check_number(f"thresholds[{name!r}]", size, 0.0, open_low=True)
        for name, size in value.items()
    }


def beyond_thresholds(
    scores: Iterable[ColumnScore], thresholds: Thresholds | None
) -> tuple[str, ...]:
    """Return the columns whose score reaches its threshold."""
    if thresholds is None:
        return ()

    def least(column: str) -> float:
        if isinstance(thresholds, Mapping):
            return thresholds.get(column, math.inf)
        return thresholds

    return tuple(one.column for one in scores if abs(one.effect) >= least(one.column))


USUAL_RATIO = 10.0
LATER_ROWS = 20_000
"""Rows of batches that are kept beside a whole reference, before rows are dropped at random."""


@dataclass(frozen=True, kw_only=True)
class MonitorSettings:
    """The settings of a monitor, checked when made; see `tellapart.compare_to_reference`."""

    test: TestSettings
    n_checks: int | None = None
    run_length: float | None = None
    smallest_effect: SmallestEffect | float | Mapping[str, Any] | None = None
    thresholds: Thresholds | None = None
    batches: str | None = None
    reference_ratio: float | None = USUAL_RATIO
    pool_rows: int | None = None
    missing: str = "error"
    keep: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.n_checks is not None:
            self._keep("n_checks", check_integer("n_checks", self.n_checks, 1))
        if self.run_length is not None:
            length = check_number("run_length", self.run_length, 1.0, open_low=True)
            self._keep("run_length", length)
        if self.n_checks is not None and self.run_length is not None:
            raise InputError(
                "n_checks and run_length must not be given together: plan an end, or say how many "
                f"checks a false alarm may cost; got {self.n_checks} and {self.run_length:g}"
            )
        smallest = check_smallest_effect(self.smallest_effect, self.test.method)
        self._keep("smallest_effect", smallest)
        self._keep("thresholds", check_thresholds(self.thresholds))
        if self.batches is not None:
            self._check_batches()
        if self.reference_ratio is not None:
            ratio = check_number("reference_ratio", self.reference_ratio, 1.0)
            self._keep("reference_ratio", ratio)
        if self.pool_rows is not None:
            self._keep("pool_rows", check_integer("pool_rows", self.pool_rows, 4))
            if self.n_checks is not None:
                raise InputError(
                    "pool_rows must be left out with n_checks, where every batch is compared with "
                    f"the reference alone; got {self.pool_rows}"
                )
        check_choice("missing", self.missing, POLICIES)
        # A drawn seed in place of a generator or of None: check k then depends on the seed, on k
        # and on the batches, not on what else was drawn.
        seed = self.test.random_state
        if not isinstance(seed, int):
            seed = int(check_random_state(seed).integers(2**32))
            self._keep("test", with_checked(self.test, random_state=seed))

    def _check_batches(self) -> None:
        """Raise where settings of a test of rows are given for one of batches."""
        if self.test.method != "scan" or self.test.families is not None:
            raise InputError("batches must be given without method and families: no scan is made")
        if self.missing == "drop-columns":
            raise InputError(
                "missing must be 'error', 'pairwise' or 'drop-rows' with batches; "
                "got 'drop-columns'"
            )
        if self.pool_rows is not None:
            raise InputError(
                "pool_rows must be left out with batches, of which no rows are kept; got "
                f"{self.pool_rows}"
            )

    def check_columns(self, names: Sequence[str]) -> None:
        """Raise where a size is that of a column that the reference does not have."""
        if self.sizes is not None:
            self.sizes.check_columns(names)
        for name in self.thresholds if isinstance(self.thresholds, Mapping) else ():
            if name not in names:
                hint = nearest(name, names)
                raise InputError(f"thresholds must have columns as keys; got {name!r}; {hint}")

    @property
    def sizes(self) -> SmallestEffect | None:
        """The sizes from which on findings are worth an alarm; None for any size."""
        sizes = self.smallest_effect
        assert sizes is None or isinstance(sizes, SmallestEffect)
        return sizes

    @property
    def seed(self) -> int:
        """The seed of every check."""
        seed = self.test.random_state
        assert isinstance(seed, int)
        return seed

    @property
    def promise(self) -> Ever | Rate | Planned:
        """What is promised of false alarms."""
        units = "rows" if self.batches is None else "batches"
        if self.n_checks is not None:
            return Planned(self.test.alpha, self.n_checks, units)
        if self.run_length is not None:
            return Rate(self.run_length, units)
        return Ever(self.test.alpha, units)

    def rows_compared(self, n_rows: int) -> int:
        """Return how many rows a part of a batch is compared with at most."""
        ratio = math.inf if self.reference_ratio is None else self.reference_ratio
        most = ratio * n_rows
        return math.ceil(most) if most < 2**62 else 2**62

    def rows_kept(self, n_reference: int) -> tuple[int, ...]:
        """Return how many rows of each part are kept at most for later checks."""
        most = n_reference + LATER_ROWS if self.pool_rows is None else self.pool_rows
        if self.test.method == "scan":
            return (most,)
        held_out = min(max(round(most * self.test.test_size), 2), most - 2)
        return most - held_out, held_out

    def to_dict(self) -> dict[str, Any]:
        """Return what decides the answers as plain values."""
        own = {name: getattr(self, name) for name in OWN} | {"keep": list(self.keep)}
        if self.sizes is not None:
            own["smallest_effect"] = self.sizes.to_plain()
        if isinstance(self.thresholds, Mapping):
            own["thresholds"] = dict(self.thresholds)
        return self.test.to_dict() | own

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], n_jobs: int | None = None) -> MonitorSettings:
        """Return the settings that `to_dict` was made of."""
        if plain.keys() != USUAL.keys() or type(plain["random_state"]) is not int:
            # A setting that is absent would be taken for its default.
            raise InputError(f"settings must be {', '.join(USUAL)}; got {', '.join(plain)}")
        # The smallest effect decides on alarms, not on findings.
        test = settings_from(TestSettings, plain, n_jobs=n_jobs, smallest_effect=None)
        return settings_from(cls, plain, test=test)

    def _keep(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)


OWN = {field.name: field.default for field in fields(MonitorSettings) if field.name != "test"}
"""The settings that a test does not have, with their defaults."""
USUAL: Mapping[str, object] = TestSettings().to_dict() | OWN | {"keep": []}
"""Every argument of `compare_to_reference` that decides answers, with its default."""
