"""The paper's power figures: against the number of rows, and against the number of columns.

In a trial, 2n rows of each sample are drawn. Methods that learn take n of them to train and n to
test, n_Tr = n_Te = n as in the paper, the same ones for all methods. Standard MMD learns nothing:
it is shown on the n rows of the test and, at its best, on all 2n, as are the tests per variable.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from reproduction.curves import draw_powers, power_table
from reproduction.methods import METHODS, Settings, contestant
from reproduction.runner import write_text
from reproduction.store import Experiment, Row, Scale, markdown_table, seed_of
from tellapart.datasets import CASES, make_case

KEYS = ("case", "n", "D", "method", "trial")
VALUES = ("pvalue", "seconds")
BY_ROWS = tuple((n, 100) for n in (50, 100, 200, 300))
BY_COLUMNS = tuple((50, D) for D in (40, 100, 200))
QUICK = (8, 6)
INFORMATIVE = 20
# Trials of fast and of slow methods, by n: at large n nearly every method is at power 1, and
# fewer trials say as much. The paper has 20.
TRIALS = {50: (40, 40), 100: (40, 20), 200: (20, 20), 300: (20, 20)}
FEW_TRIALS = 20
"""Trials of all methods at other numbers of columns."""
LITERAL_TRIALS = 8
"""Trials of the paper's literal variants, which are shown against n only."""
USUAL_COLUMNS = 100


def measure(keys: Row, data: Path | None) -> list[Row]:  # noqa: ARG001
    """Return the p-value of one method in one trial."""
    case, n, D = keys["case"], int(keys["n"]), int(keys["D"])
    seed = seed_of("power", case, n, D, keys["trial"])
    informative = min(INFORMATIVE, D // 2)
    x, y, _ = make_case(case, 2 * n, n_features=D, n_informative=informative, random_state=seed)
    started = time.perf_counter()
    result = contestant(keys["method"], Settings(informative, seed)).test(x, y)
    seconds = time.perf_counter() - started
    return [{"pvalue": f"{result.pvalue:.4g}", "seconds": f"{seconds:.3g}"}]


def plan(scale: Scale, settings: Sequence[tuple[int, int]]) -> Iterator[Row]:
    """Yield the trials of all (n, D), one of each first: half a run shows half the precision."""
    for trial in range(scale.count(max(fast for fast, _ in TRIALS.values()), 1)):
        for n, D in settings:
            for case in CASES[:1] if scale.quick else CASES:
                for method in scale.chosen(METHODS):
                    if trial < trials_of(method, n, D):
                        keys = (case, str(n), str(D), method, str(trial))
                        yield dict(zip(KEYS, keys, strict=True))


def trials_of(method: str, n: int, D: int) -> int:
    """Return how many trials a method gets: fewer if it is slow, or shown for its errors."""
    fast, slow = TRIALS.get(n, (1, 1))
    if METHODS[method].family == "literal" and n in TRIALS:
        return LITERAL_TRIALS if D == USUAL_COLUMNS else 0
    if D != USUAL_COLUMNS:
        return FEW_TRIALS
    return slow if METHODS[method].slow else fast


def of_samples(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of power against n: both figures share a file."""
    return [row for row in rows if row["D"] in {str(D) for _, D in (*BY_ROWS, QUICK)}]


def of_dimension(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of power against D."""
    return [row for row in rows if row["n"] in {str(n) for n, _ in (*BY_COLUMNS, QUICK)}]


@dataclass(frozen=True)
class Against:
    """Power against n or against D: one of the two figures."""

    axis: str
    label: str
    title: str
    settings: Sequence[tuple[int, int]]
    mine: Callable[[Sequence[Row]], list[Row]]

    def plan(self, scale: Scale) -> Iterator[Row]:
        """Yield the trials of this figure."""
        return plan(scale, [QUICK] if scale.quick else self.settings)

    def draw(self, rows: Sequence[Row], folder: Path) -> list[Path]:
        """Draw and tabulate power."""
        rows, experiment = self.mine(rows), self.experiment
        text = (
            f"# {self.title}\n\nShare of trials with p ≤ 0.05 and its 95 % interval (Wilson), "
            f"from {experiment.file}.csv; `tellapart reproduce {experiment.name}`.\n\n"
        ) + markdown_table(power_table(rows, self.axis))
        return [
            draw_powers(rows, self.axis, self.label, folder / f"{experiment.name}.png"),
            write_text(folder / f"{experiment.name}.md", text),
        ]

    @property
    def experiment(self) -> Experiment:
        """The figure as an experiment."""
        return Experiment(
            name=f"power-{self.axis.lower()}",
            file="power",
            title=self.title,
            keys=KEYS,
            values=VALUES,
            plan=self.plan,
            measure=measure,
            draw=self.draw,
        )


SAMPLE_SIZE = Against(
    axis="n",
    label="rows of each sample to train and to test, n",
    title="Power against the number of rows (D = 100, d = 20)",
    settings=BY_ROWS,
    mine=of_samples,
).experiment
DIMENSION = Against(
    axis="D",
    label="number of columns, D",
    title="Power against the number of columns (n = 50, d = 20)",
    settings=BY_COLUMNS,
    mine=of_dimension,
).experiment
