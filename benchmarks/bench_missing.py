"""Missing values: the level of a scan, what it names, and its power, by policy.

    python benchmarks/bench_missing.py [--trials 1000] [--quick]

Nulls: gaps completely at random, and gaps that depend on the values, alike in both samples. Cases:
one column with 40 % missing in X against none in Y; gaps at random whose rates differ while the
values do not, where every finding but one of kind "missing" is false; a shift and a pair among ten
columns that each miss 10 %. Rates come with 95 % intervals (Wilson). The weight of the family was
chosen by `--weights`, on seeds of its own.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from scipy.stats import binomtest

from store import store, table
from tellapart.arrays import FloatArray
from tellapart.data.reader import read_samples
from tellapart.scan.families import register_family
from tellapart.scan.families.missing import Missing
from tellapart.scan.scan import Scan, scan

Pair = tuple[FloatArray, FloatArray]
Draw = Callable[[np.random.Generator], Pair]
PERMUTATIONS = 199
ALPHA = 0.05
FIRST_SEED, WEIGHT_SEED = 10_000, 50_000
POLICIES = ("pairwise", "drop-rows")
WEIGHTS = (0.25, 0.5, 1.0, 2.0, 4.0)


def normal(rng: np.random.Generator, rows: int = 100, columns: int = 8) -> FloatArray:
    """Return normal columns that are correlated by 0.3."""
    return 0.3**0.5 * rng.normal(size=(rows, 1)) + 0.7**0.5 * rng.normal(size=(rows, columns))


def at_random(rng: np.random.Generator, values: FloatArray, rates: object) -> FloatArray:
    """Return the values with gaps completely at random, at one rate or one per column."""
    return np.where(rng.random(values.shape) < rates, np.nan, values)


def by_value(rng: np.random.Generator, values: FloatArray) -> FloatArray:
    """Return the values with gaps that are likelier the larger the value and the next column's."""
    odds = 0.15 * (1 + np.tanh(values + np.roll(values, 1, axis=1)))
    return np.where(rng.random(values.shape) < odds, np.nan, values)


def equal_rates(rng: np.random.Generator) -> Pair:
    """Return a null: gaps at random, 5 to 30 % by column, alike in both samples."""
    rates = np.linspace(0.05, 0.3, 8)
    return at_random(rng, normal(rng), rates), at_random(rng, normal(rng, 70), rates)


def alike_by_value(rng: np.random.Generator) -> Pair:
    """Return a null: gaps that depend on the values in the same way in both samples."""
    return by_value(rng, normal(rng)), by_value(rng, normal(rng, 70))


def large_and_binned(rng: np.random.Generator) -> Pair:
    """Return a null of so many rows that bins are permuted."""
    x, y = normal(rng, 1_500, 5), normal(rng, 1_200, 5)
    return at_random(rng, x, 0.2), at_random(rng, y, 0.2)


def two_in_five(rng: np.random.Generator) -> Pair:
    """Return one column with 40 % missing in X against none in Y."""
    x, y = normal(rng), normal(rng)
    x[rng.random(100) < 0.4, 2] = np.nan
    return x, y


def other_rates(rng: np.random.Generator) -> Pair:
    """Return samples whose gaps at random differ in rate, 10 to 70 points, and nothing else."""
    x, y = normal(rng, 200), normal(rng, 200)
    x[:, :4] = at_random(rng, x[:, :4], [0.1, 0.2, 0.4, 0.7])
    return x, y


def shifted(rng: np.random.Generator) -> Pair:
    """Return a shift of 0.5 in one of ten columns that each miss 10 %."""
    x, y = rng.normal(size=(100, 10)), rng.normal(size=(100, 10))
    y[:, 3] += 0.5
    return at_random(rng, x, 0.1), at_random(rng, y, 0.1)


def correlated(rng: np.random.Generator) -> Pair:
    """Return a correlation of 0.6 in one pair of ten columns that each miss 10 %."""
    x, y = rng.normal(size=(100, 10)), rng.normal(size=(100, 10))
    y[:, 1] = 0.6 * y[:, 0] + 0.8 * y[:, 1]
    return at_random(rng, x, 0.1), at_random(rng, y, 0.1)


NULLS: tuple[Draw, ...] = (equal_rates, alike_by_value, large_and_binned)
DIFFERENT: tuple[Draw, ...] = (two_in_five, other_rates, shifted, correlated)


def run(draw: Draw, policy: str, seed: int) -> Scan:
    """Return the scan of one pair of samples."""
    rng = np.random.default_rng(seed)
    samples = read_samples(*draw(rng), missing=policy)
    return scan(samples, n_permutations=PERMUTATIONS, alpha=ALPHA, rng=rng)


def measured(draw: Draw, policy: str, trials: int, *, null: bool) -> dict[str, object]:
    """Return how often the scan rejects, and how often it names gaps, and anything else."""
    rejected = gaps = values = 0
    for trial in range(trials):
        found = run(draw, policy, FIRST_SEED + trial)
        kinds = {finding.kind for finding in found.findings}
        rejected += found.null.pvalue <= ALPHA
        gaps += "missing" in kinds
        values += bool(kinds - {"missing"})
    return {
        "case": draw.__name__.replace("_", " "),
        "null": null,
        "policy": policy,
        "trials": trials,
        "rejected": rate(rejected, trials),
        "names missing": rate(gaps, trials),
        "names values": rate(values, trials),
    }


def rate(count: int, trials: int) -> str:
    """Return a share with its interval."""
    interval = binomtest(count, trials).proportion_ci(method="wilson")
    return f"{count / trials:.3f} ({interval.low:.3f} to {interval.high:.3f})"


def weigh(trials: int) -> None:
    """Show the power by the weight of the family: what the choice of it was made by."""
    rows = []
    for weight in WEIGHTS:
        family = Missing()
        family.weight = weight
        register_family(family)
        row: dict[str, object] = {"weight": weight}
        for draw in (weakly_missing, weakly_shifted, correlated):
            found = [run(draw, "pairwise", WEIGHT_SEED + k).null.pvalue for k in range(trials)]
            row[draw.__name__.replace("_", " ")] = f"{np.mean(np.array(found) <= ALPHA):.2f}"
        rows.append(row)
    register_family(Missing())
    text = (
        f"# The weight of the family of missing values\n\nPower at level {ALPHA}, {trials} pairs "
    )
    text += "each, seeds that nothing else uses.\n\n" + table(rows)
    store("missing_weights", text, rows)


def weakly_missing(rng: np.random.Generator) -> Pair:
    """Return gaps of one column in 25 % of X and 10 % of Y, of the others in 10 % of both."""
    rates = np.full(8, 0.1)
    more = rates.copy()
    more[2] = 0.25
    return at_random(rng, normal(rng), more), at_random(rng, normal(rng), rates)


def weakly_shifted(rng: np.random.Generator) -> Pair:
    """Return a shift of 0.4 in one of eight columns that each miss 10 %."""
    x, y = normal(rng), normal(rng)
    y[:, 3] += 0.4
    return at_random(rng, x, 0.1), at_random(rng, y, 0.1)


def main() -> None:
    """Run the cases and store what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1_000)
    parser.add_argument("--quick", action="store_true", help="a tenth of the trials")
    parser.add_argument("--weights", action="store_true", help="compare weights of the family")
    given = parser.parse_args()
    trials = max(given.trials // 10, 10) if given.quick else given.trials
    if given.weights:
        weigh(max(trials // 5, 10))
        return
    rows = []
    for draw in NULLS:
        fewer = max(trials // 5, 10) if draw is large_and_binned else trials
        rows += [measured(draw, policy, fewer, null=True) for policy in POLICIES]
    for draw in DIFFERENT:
        few = max(trials // 5, 10)
        rows += [measured(draw, policy, few, null=False) for policy in POLICIES]
    text = (
        f"# Missing values\n\nScans with {PERMUTATIONS} permutations at level {ALPHA}; shares of "
        'the trials with 95 % intervals (Wilson). In the nulls, and of values in "two in five" '
        f'and "other rates", everything named is false.\n\n{table(rows)}'
    )
    store("missing", text, rows)


if __name__ == "__main__":
    main()
