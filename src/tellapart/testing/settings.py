"""The settings of a two-sample test, checked before any work is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tellapart.arguments import check_flag, check_integer, check_number
from tellapart.data.samples import Samples
from tellapart.errors import InputError
from tellapart.permutation.labels import check_memory, check_reach
from tellapart.selection.settings import SelectionSettings


@dataclass(frozen=True, kw_only=True)
class TestSettings(SelectionSettings):
    """The settings of a two-sample test, checked when made; see `tellapart.two_sample_test`."""

    __test__ = False  # not a test case for pytest either

    test_size: float = 0.5
    n_permutations: int = 999
    alpha: float = 0.05
    split: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._keep("test_size", _checked_share("test_size", self.test_size))
        self._keep("n_permutations", check_integer("n_permutations", self.n_permutations, 1))
        self._keep("alpha", _checked_share("alpha", self.alpha))
        check_reach(self.n_permutations, self.alpha)
        self._keep("split", check_flag("split", self.split))
        if not self.split:
            self._check_unsplit()

    def check_against(self, samples: Samples) -> None:
        """Raise where the samples cannot be tested as asked for."""
        super().check_against(samples)
        check_memory(samples.n_x, samples.n_y, self.n_permutations)

    def _check_unsplit(self) -> None:
        """Raise unless the best choice is known in closed form for every permutation."""
        if not self.fittable.abilities.closed_form:
            raise InputError(
                "kernel must be 'linear' with split=False, where the variables are reselected "
                f"under every permutation; got {self.fittable.name!r}"
            )
        if self.fixed_regularization not in (None, 0.0):
            raise InputError(
                "regularization must be 'cv' or 0 with split=False, where there are no rows to "
                f"choose λ by and it is 0; got {self.regularization!r}"
            )
        if self.solver != TestSettings.solver:
            raise InputError(
                "solver must be 'auto' with split=False, where the best choice has a closed form; "
                f"got {self.solver!r}"
            )
        if self.test_size != TestSettings.test_size:
            raise InputError(
                "test_size must be left out with split=False, where no rows are held out; "
                f"got {self.test_size!r}"
            )

    def to_dict(self) -> dict[str, Any]:
        """Return what decides the answer as plain values: progress and threads do not."""
        seed = self.random_state
        return {
            "n_variables": self.n_variables,
            "kernel": self.kernel if isinstance(self.kernel, str) else repr(self.kernel),
            "regularization": self.regularization,
            "solver": self.solver if isinstance(self.solver, str) else repr(self.solver),
            "test_size": self.test_size,
            "n_permutations": self.n_permutations,
            "alpha": self.alpha,
            "random_state": None if isinstance(seed, np.random.Generator) else seed,
            "gap": self.gap,
            "time_limit": self.time_limit,
            "split": self.split,
        }


def _checked_share(name: str, value: object) -> float:
    return check_number(name, value, 0.0, 1.0, open_low=True, open_high=True)
