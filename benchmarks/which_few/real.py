"""Real data: how well classifiers do on the chosen columns, on rows the selector never saw.

    TELLAPART_DATA=FOLDER python benchmarks/which_few/real.py [--splits 20] [--methods NAME ...]
                                                              [--data NAME ...]

Balanced accuracy, the mean of both classes' shares of right answers, of logistic regression and
of a random forest, one row for each split in benchmarks/results/which_few_real/METHOD.csv; the
seconds are those of the selector. `draw_real.py` makes tables of the rows on file. The selector
"all-columns" chooses everything: what the choice costs.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from store import Row, Store
from which_few.measure import RESULTS, Clock
from which_few.methods import METHODS
from which_few.real_data import DATA, FIRST_SPLIT, Labelled
from which_few.run import able
from which_few.table import IntArray

REAL = RESULTS / "which_few_real"
ALL = "all-columns"
CLASSIFIERS = ("logistic", "forest")


def accuracies(method: str) -> Store:
    """Return the file of a selector's accuracies, one row for each split and d."""
    return Store(
        REAL / f"{method}.csv",
        ("data", "d", "split"),
        ("method", *CLASSIFIERS, "seconds", "cpu", "error"),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the splits that are missing."""
    names = [*METHODS, ALL]
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--methods", nargs="+", choices=names, default=names)
    parser.add_argument("--data", nargs="+", choices=list(DATA), default=list(DATA))
    chosen = parser.parse_args(arguments)
    data = [name for name in chosen.data if DATA[name].at_hand()]
    for name in set(chosen.data) - set(data):
        print(f"{name}: left out, TELLAPART_DATA names no folder with {DATA[name].file}")
    for method in able(chosen.methods):
        run(method, data, chosen.splits)


def run(method: str, data: Sequence[str], splits: int) -> None:
    """Measure the missing splits by one selector, and store them as they come."""
    for name in METHODS[method].needs if method in METHODS else ():
        import_module(name)
    store = accuracies(method)
    done, started, failed = store.done(), time.perf_counter(), 0
    for name in data:
        for seed in range(FIRST_SPLIT, FIRST_SPLIT + splits):
            missing = [d for d in DATA[name].sizes if (name, str(d), str(seed)) not in done]
            if missing:
                rows = [measure(method, name, d, seed) for d in missing]
                store.add(rows)
                failed += sum(bool(row["error"]) for row in rows)
    seconds = time.perf_counter() - started
    print(f"{method}: done in {seconds:.0f} s, {failed} choices failed", flush=True)


def measure(method: str, name: str, d: int, seed: int) -> Row:
    """Choose on one split and judge the choice; a failure counts as guessing."""
    learn, judge = DATA[name].split(seed)
    row = {"data": name, "d": str(d), "split": str(seed), "method": method, "error": ""}
    row |= dict.fromkeys(CLASSIFIERS, "0.5")
    clock = Clock()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # What a competitor may raise is not ours to know.
        try:
            chosen = _choose(method, learn, d, seed)
            row |= clock.read()
            row |= judged(learn, judge, chosen, seed)
        except Exception as error:
            row = {**clock.read(), **row}
            row["error"] = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return row


def _choose(method: str, learn: Labelled, d: int, seed: int) -> IntArray:
    if method == ALL:
        return np.arange(learn.values.shape[1])
    chosen = np.unique(METHODS[method].select(learn.sample(0), learn.sample(1), d, seed))
    if not 0 < len(chosen) <= d:
        raise ValueError(f"1 to {d} columns may be chosen; got {len(chosen)}")
    return chosen


def judged(learn: Labelled, judge: Labelled, chosen: IntArray, seed: int) -> dict[str, str]:
    """Return the balanced accuracy of each classifier on the chosen columns."""
    models = {
        "logistic": make_pipeline(
            StandardScaler(), LogisticRegression(max_iter=2000, class_weight="balanced")
        ),
        "forest": RandomForestClassifier(200, class_weight="balanced", random_state=seed),
    }
    found = {}
    for name, model in models.items():
        model.fit(learn.values[:, chosen], learn.labels)
        said = model.predict(judge.values[:, chosen])
        found[name] = f"{balanced_accuracy_score(judge.labels, said):.5f}"
    return found


if __name__ == "__main__":
    main()
