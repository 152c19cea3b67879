"""Simultaneous limits of all effects: coverage, width, and errors of equivalence verdicts.

    OPENBLAS_NUM_THREADS=1 python benchmarks/bench_limits.py [--runs 500]

In every setting the first column differs by half a standard deviation (a flag by 25 percentage
points), the others are alike. Of each: how often all simultaneous 95 % limits contain the true
effects (joint coverage, and of each kind), how wide those of means (of proportions, for flags) are
beside Bonferroni's with the same share of the error for every kind, and the errors of
`equivalence_test` at α = 0.05 where the first column lies exactly on the margin: "alike" although
an effect is not within the margin, "different" although none is beyond it. Power is the share of
"alike" where all columns are alike. Margins are those of the kind of the first column only.
Writes benchmarks/results/limits.md and .csv.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from store import store, table
from tellapart.data.design_labels import DesignArguments
from tellapart.data.reader import read_samples
from tellapart.effects.simultaneous import SimultaneousEffects, simultaneous_effects
from tellapart.scan.smallest_effect import SmallestEffect
from tellapart.two_sample.equivalence import judge

SEED = 20_777
SHIFT = 0.5
ALPHA, CONFIDENCE = 0.05, 0.95
Rows = NDArray[np.float64]
Tables = tuple[Any, Any, dict[str, Any]]


def normal(rng: np.random.Generator, shift: float) -> Tables:
    """Draw ten normal columns."""
    x, y = rng.normal(size=(100, 10)), rng.normal(size=(100, 10))
    x[:, 0] += shift
    return x, y, {}


def skewed(rng: np.random.Generator, shift: float) -> Tables:
    """Draw five exponential and five lognormal columns."""
    sides = [
        np.column_stack([rng.exponential(size=(n, 5)), rng.lognormal(0, 0.75, size=(n, 5))])
        for n in (100, 150)
    ]
    sides[0][:, 0] += shift
    return sides[0], sides[1], {}


def heavy(rng: np.random.Generator, shift: float) -> Tables:
    """Draw ten columns of Student's t with three degrees of freedom."""
    x, y = rng.standard_t(3, size=(100, 10)), rng.standard_t(3, size=(150, 10))
    x[:, 0] += shift * np.sqrt(3)
    return x, y, {}


def flags(rng: np.random.Generator, shift: float) -> Tables:
    """Draw ten flags, from half of the rows to one in a hundred."""
    chances = np.array([0.5, 0.5, 0.3, 0.2, 0.1, 0.1, 0.05, 0.02, 0.01, 0.01])
    sides = []
    for sign in (1, -1):
        own = chances.copy()
        own[0] += sign * shift / 4
        sides.append((rng.random((150, 10)) < own).astype(float))
    return sides[0], sides[1], {}


def correlated(rng: np.random.Generator, shift: float) -> Tables:
    """Draw twenty normal columns with all correlations 0.9."""
    sides = [
        np.sqrt(0.1) * rng.normal(size=(100, 20)) + np.sqrt(0.9) * rng.normal(size=(100, 1))
        for _ in range(2)
    ]
    sides[0][:, 0] += shift
    return sides[0], sides[1], {}


def small(rng: np.random.Generator, shift: float) -> Tables:
    """Draw five normal columns of 15 and 15 rows."""
    x, y = rng.normal(size=(15, 5)), rng.normal(size=(15, 5))
    x[:, 0] += shift
    return x, y, {}


def paired(rng: np.random.Generator, shift: float) -> Tables:
    """Draw 60 pairs of rows with six columns, correlated by 0.7 within pairs."""
    shared = np.sqrt(0.7) * rng.normal(size=(60, 6))
    x, y = (shared + np.sqrt(0.3) * rng.normal(size=(60, 6)) for _ in range(2))
    x[:, 0] += shift
    return x, y, {"paired": True}


def clustered(rng: np.random.Generator, shift: float) -> Tables:
    """Draw 25 and 25 clusters of four rows with six columns, intraclass correlation 0.3."""
    sides, labels = [], []
    for k in range(2):
        of_rows = np.repeat(np.arange(25), 4)
        centres = np.sqrt(0.3) * rng.normal(size=(25, 6))
        sides.append(centres[of_rows] + np.sqrt(0.7) * rng.normal(size=(100, 6)))
        labels.append(of_rows + 1000 * k)
    sides[0][:, 0] += shift
    return sides[0], sides[1], {"clusters": (labels[0], labels[1])}


def mixed(rng: np.random.Generator, shift: float) -> Tables:
    """Draw normal and lognormal columns, flags and a category; a tenth is missing."""
    tables = []
    for k, n in enumerate((150, 200)):
        columns: dict[str, Any] = {f"n{j}": rng.normal(size=n) for j in range(3)}
        columns["n0"] = columns["n0"] + shift * (k == 0)
        columns |= {f"l{j}": rng.lognormal(0, 0.5, size=n) for j in range(2)}
        columns |= {f"f{j}": (rng.random(n) < p).astype(float) for j, p in enumerate((0.5, 0.1))}
        frame = pd.DataFrame(columns).mask(rng.random((n, 7)) < 0.1)
        frame["arm"] = rng.choice(list("abcd"), size=n, p=[0.5, 0.3, 0.15, 0.05])
        tables.append(frame)
    return tables[0], tables[1], {"missing": "pairwise"}


@dataclass(frozen=True)
class Setting:
    """What is drawn, and the kind of the first column's effect."""

    name: str
    draw: Callable[[np.random.Generator, float], Tables]
    kind: str = "location"


SETTINGS = (
    Setting("normal, 100 + 100, 10 columns", normal),
    Setting("skewed, 100 + 150, 10 columns", skewed),
    Setting("heavy tails (t₃), 100 + 150, 10 columns", heavy),
    Setting("flags of 50 % to 1 %, 150 + 150, 10 columns", flags, "share"),
    Setting("correlated by 0.9, 100 + 100, 20 columns", correlated),
    Setting("small, 15 + 15, 5 columns", small),
    Setting("paired, 60 pairs, 6 columns", paired),
    Setting("clusters, 25 + 25 of 4 rows, 6 columns", clustered),
    Setting("mixed with missing values, 150 + 200, 8 columns", mixed),
)


def effects_of(tables: Tables, seed: int) -> SimultaneousEffects:
    """Read two tables and return all their effects."""
    x, y, options = tables
    missing = options.pop("missing", "error")
    design = DesignArguments(None, options.get("paired", False), options.get("clusters"), None)
    return simultaneous_effects(read_samples(x, y, missing=missing, design=design), seed)


def covered(effects: SimultaneousEffects, setting: Setting, first: str) -> dict[str, bool]:
    """Return by kind whether all simultaneous limits contain the true effects."""
    answers = {}
    for kind, tail in effects.tails(CONFIDENCE).items():
        own = effects.kinds[kind]
        low, high = own.limits(tail)
        truth = np.full(own.effects.size, 1.0 if kind == "spread" else 0.0)
        if kind == setting.kind:
            size = SHIFT / 2 if kind == "share" else SHIFT
            truth[[variables == (first,) for variables in own.variables]] = size
        answers[kind] = bool(((low <= truth) & (truth <= high)).all())
    return answers


def narrower(effects: SimultaneousEffects, kind: str) -> float:
    """Return the width of the limits of a kind beside Bonferroni's, the median over effects."""
    own = effects.kinds[kind]
    bonferroni = (1 - CONFIDENCE) / (2 * len(effects.kinds) * own.effects.size)
    widths = [
        high - low for low, high in map(own.limits, (effects.tails(CONFIDENCE)[kind], bonferroni))
    ]
    return float(np.median(widths[0] / widths[1]))


def run(setting: Setting, n_runs: int) -> dict[str, object]:
    """Return coverage and errors of one setting."""
    all_covered, by_kind, widths = [], [], []
    verdicts: dict[float, list[str]] = {SHIFT: [], 0.0: []}
    margin = SmallestEffect.of({setting.kind: SHIFT / 2 if setting.kind == "share" else SHIFT})
    for number in range(n_runs):
        rng = np.random.default_rng([SEED, number])
        for shift in verdicts:
            tables = setting.draw(rng, shift)
            effects = effects_of(tables, number)
            verdicts[shift].append(judge(effects, margin, ALPHA).verdict)
            if shift:
                first = "n0" if setting.draw is mixed else "x0"
                answers = covered(effects, setting, first)
                all_covered.append(all(answers.values()))
                by_kind.append(answers)
                widths.append(narrower(effects, setting.kind))
    kinds = sorted({kind for answers in by_kind for kind in answers})
    of_kinds = {kind: np.mean([answers.get(kind, True) for answers in by_kind]) for kind in kinds}
    at_margin, alike = np.array(verdicts[SHIFT]), np.array(verdicts[0.0])
    return {
        "setting": setting.name,
        "runs": n_runs,
        "joint coverage": f"{np.mean(all_covered):.3f}",
        "lowest of a kind": "{1:.3f} ({0})".format(*min(of_kinds.items(), key=lambda one: one[1])),
        "width beside Bonferroni's": f"{np.mean(widths):.2f}",
        "false alike": f"{np.mean(at_margin == 'alike within the margin'):.3f}",
        "false different": f"{np.mean(at_margin == 'different'):.3f}",
        "alike (power)": f"{np.mean(alike == 'alike within the margin'):.3f}",
        "different where alike": f"{np.mean(alike == 'different'):.3f}",
    }


def main() -> None:
    """Run all settings and store the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=500)
    given = parser.parse_args()
    rows = []
    for setting in SETTINGS:
        rows.append(run(setting, given.runs))
        print(rows[-1], flush=True)
    head = (
        "# Simultaneous limits and equivalence verdicts\n\n"
        f"`python benchmarks/bench_limits.py --runs {given.runs}`; the script has the settings.\n\n"
    )
    store("limits", head + table(rows), rows)


if __name__ == "__main__":
    main()
