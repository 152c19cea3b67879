"""What a page or figure shows of a result beyond its answer: computed here, drawn in `report`.

Everything goes by count and never by the clock, so a page does not depend on the machine's load.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from tellapart.arguments import check_choice, check_integer
from tellapart.errors import InputError
from tellapart.progress import Progress
from tellapart.selection.stability import (
    FEWEST_ROWS,
    MOST_ROWS,
    Stability,
    measure_stability,
    plan_resamples,
)
from tellapart.testing.embedding import Embedding, compute_embedding
from tellapart.testing.marginals import (
    ColumnSummary,
    Marginal,
    compute_marginal,
    summarise_column,
)

if TYPE_CHECKING:
    from tellapart.testing.result import TestResult

PANELS = ("weights", "null", "marginal", "stability", "embedding")
MOST_SUMMARIES = 200
MOST_MARGINALS = 50
MOST_POINTS = 800
MOST_EMBEDDED = 200
"""Variables beyond which two dimensions say nothing."""


@dataclass(frozen=True, eq=False)
class Exhibit:
    """All that a page shows of a result and that takes computing.

    Attributes
    ----------
    summaries : tuple of ColumnSummary
        The chosen variables in numbers, the heaviest first; 200 at most.
    marginals : tuple of Marginal
        Their distributions; 50 at most.
    embedding : Embedding or None
        Both samples in two dimensions; None without a kernel or with too many variables.
    stability : Stability or None
        How often the variables are chosen again; None where it was left out or cannot be had.
    """

    summaries: tuple[ColumnSummary, ...]
    marginals: tuple[Marginal, ...]
    embedding: Embedding | None
    stability: Stability | None


class Gallery:
    """What was computed of one result to be shown: each thing when first asked for, and once."""

    def __init__(self, result: TestResult) -> None:
        self._result = result
        self._stabilities: dict[str, Stability] = {}

    @cached_property
    def summaries(self) -> tuple[ColumnSummary, ...]:
        """The chosen variables in numbers, the heaviest first."""
        return summarise_heaviest(self._result, MOST_SUMMARIES)

    @cached_property
    def marginals(self) -> tuple[Marginal, ...]:
        """The distributions of the chosen variables, the heaviest first."""
        columns = _heaviest(self._result, MOST_MARGINALS)
        return tuple(compute_marginal(self._result.held_out, s) for s in columns)

    @cached_property
    def embedding(self) -> Embedding | None:
        """Both samples in two dimensions, as a page shows them."""
        result = self._result
        if result.kernel is None or not 0 < result.selection.support.size <= MOST_EMBEDDED:
            return None
        return compute_embedding(result, n_points=MOST_POINTS)

    def stability(
        self,
        n_resamples: int,
        *,
        most_rows: int = MOST_ROWS,
        time_limit: float | None = None,
        random_state: int | np.random.Generator | None = 0,
        n_jobs: int | None = None,
        progress: bool | Progress = False,
    ) -> Stability:
        """Return how often each variable is chosen again; see `TestResult.stability`."""
        result = self._result
        if result.train is None or result.kernel is None or result.tuning is None:
            raise InputError(
                "stability needs the training rows and the kernel, which this result does not hold"
            )
        key = repr((n_resamples, most_rows, time_limit, random_state))
        if isinstance(random_state, int) and key in self._stabilities:
            return self._stabilities[key]
        measured = measure_stability(
            result.train,
            result.kernel,
            result.selection.support,
            n_variables=result.tuning.n_variables,
            regularization=result.regularization,
            nonnegative=result.selection.nonnegative,
            n_resamples=n_resamples,
            most_rows=most_rows,
            time_limit=time_limit,
            random_state=random_state,
            n_jobs=n_jobs,
            progress=progress,
        )
        if isinstance(random_state, int):
            self._stabilities[key] = measured
        return measured

    def exhibit(self, stability: bool | int) -> Exhibit:
        """Return all that a page shows; see `TestResult.to_html` for `stability`."""
        n_resamples, most_rows = _plan(self._result, stability)
        measured = self.stability(n_resamples, most_rows=most_rows) if n_resamples else None
        return Exhibit(self.summaries, self.marginals, self.embedding, measured)

    def panel(
        self,
        what: str,
        *,
        variable: str | None = None,
        method: str = "pca",
        n_resamples: int = 50,
    ) -> Embedding | Stability | Marginal | None:
        """Return what one panel shows beside the result itself; see `TestResult.plot`."""
        check_choice("what", what, PANELS)
        result, names = self._result, self._result.selection.names
        if variable is not None and variable not in names:
            raise InputError(f"variable must be the name of a column; got {variable!r}")
        if what == "embedding":
            return compute_embedding(result, method)
        if what == "stability":
            return self.stability(n_resamples)
        if what == "marginal":
            name = next(iter(result.selection.weights)) if variable is None else variable
            return compute_marginal(result.held_out, names.index(name))
        return None


def summarise_heaviest(result: TestResult, most: int) -> tuple[ColumnSummary, ...]:
    """Return the chosen variables in numbers, the heaviest first."""
    return tuple(summarise_column(result.held_out, s) for s in _heaviest(result, most))


def _plan(result: TestResult, asked: bool | int) -> tuple[int, int]:
    """Return how many resamples a page shows, and the rows of each sample in one at most.

    True is what `plan_resamples` says; a number is that many. Where every variable is chosen,
    there is nothing to count.
    """
    if not isinstance(asked, bool):
        try:
            return check_integer("stability", asked, 0), MOST_ROWS
        except InputError:
            raise InputError(
                f"stability must be True, False or a number of resamples; got {asked!r}"
            ) from None
    train, selection = result.train, result.selection
    if not asked or train is None or result.kernel is None:
        return 0, MOST_ROWS
    all_chosen = selection.support.size + len(selection.constant) == len(selection.names)
    if min(train.n_x, train.n_y) < FEWEST_ROWS or all_chosen:
        return 0, MOST_ROWS
    return plan_resamples(train, result.kernel)


def _heaviest(result: TestResult, most: int) -> list[int]:
    place = {name: s for s, name in enumerate(result.selection.names)}
    return [place[name] for name in islice(result.selection.weights, most)]
