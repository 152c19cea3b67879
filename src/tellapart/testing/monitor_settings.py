"""The settings of a monitor, checked before any work is done."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from tellapart.arguments import check_choice, check_integer, check_number, check_random_state
from tellapart.data.missing import POLICIES
from tellapart.errors import InputError
from tellapart.testing.promises import Ever, Planned, Rate
from tellapart.testing.settings import TestSettings
from tellapart.testing.smallest_effect import SmallestEffect, check_smallest_effect

USUAL_RATIO = 10.0
LATER_ROWS = 20_000
"""Rows of batches that are kept beside a whole reference, before rows are let go at random."""

OWN: dict[str, object] = {
    "n_checks": None,
    "run_length": None,
    "smallest_effect": None,
    "reference_ratio": USUAL_RATIO,
    "pool_rows": None,
    "missing": "error",
    "keep": [],
}
USUAL: Mapping[str, object] = TestSettings().to_dict() | OWN
"""Every argument of `compare_to_reference` that decides answers, with its default."""


@dataclass(frozen=True, kw_only=True)
class MonitorSettings:
    """The settings of a monitor, checked when made; see `tellapart.compare_to_reference`."""

    test: TestSettings
    n_checks: int | None = None
    run_length: float | None = None
    smallest_effect: SmallestEffect | None = None
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
        # A seed of our own in place of a generator or of none: check k then depends on the
        # seed, on k and on the batches, not on what else was drawn.
        seed = self.test.random_state
        if not isinstance(seed, int):
            seed = int(check_random_state(seed).integers(2**32))
            self._keep("test", replace(self.test, random_state=seed))

    @property
    def seed(self) -> int:
        """What seeds every check."""
        seed = self.test.random_state
        assert isinstance(seed, int)
        return seed

    @property
    def promise(self) -> Ever | Rate | Planned:
        """What is promised of false alarms."""
        if self.n_checks is not None:
            return Planned(self.test.alpha, self.n_checks)
        if self.run_length is not None:
            return Rate(self.run_length)
        return Ever(self.test.alpha)

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
        smallest = self.smallest_effect
        return self.test.to_dict() | {
            "n_checks": self.n_checks,
            "run_length": self.run_length,
            "smallest_effect": dict(smallest) if isinstance(smallest, Mapping) else smallest,
            "reference_ratio": self.reference_ratio,
            "pool_rows": self.pool_rows,
            "missing": self.missing,
            "keep": list(self.keep),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], n_jobs: int | None = None) -> MonitorSettings:
        """Return the settings that `to_dict` was made of."""
        if plain.keys() != USUAL.keys() or type(plain["random_state"]) is not int:
            # A setting that is absent would be taken for its default.
            raise InputError(f"settings must be {', '.join(USUAL)}; got {', '.join(plain)}")
        own = {name: plain[name] for name in OWN}
        known = {field.name for field in fields(TestSettings)}
        of_test = {name: value for name, value in plain.items() if name in known}
        return cls(test=TestSettings(**of_test, n_jobs=n_jobs), **own)

    def _keep(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)
