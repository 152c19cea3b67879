"""How the scan's families earn their weights, on data made for that and shown nowhere else.

    OPENBLAS_NUM_THREADS=1 python benchmarks/bench_scan_weights.py [pairs] [jobs]

Power of the scan at level 0.05 with 199 permutations, as mean over the kinds in
benchmarks/development; then without each family, and with each weight halved and doubled. The
statistics are computed once per pair, so that every variant sees the same permutations. Writes
benchmarks/results/scan_weights.md and .csv.
"""

from __future__ import annotations

import sys
from zlib import crc32

import numpy as np
from joblib import Parallel, delayed

import development.kinds_of_columns
import development.kinds_of_dependence
import development.kinds_of_tables  # noqa: F401 - entering the kinds is what the imports are for
from development.kind import KINDS
from store import store, table
from tellapart.arrays import FloatArray
from tellapart.data.reader import read_samples
from tellapart.permutation.design_units import draw_labels
from tellapart.scan.families import FAMILIES
from tellapart.scan.family import run_families
from tellapart.scan.scan import make_pool
from tellapart.scan.tails import combine, family_score
from tellapart.threads import one_blas_thread

ALPHA, PERMUTATIONS = 0.05, 199
Scores = dict[str, FloatArray]


def scores_of(kind: str, pair: int) -> Scores:
    """Return the scores of every family on one pair."""
    rng = np.random.default_rng([crc32(kind.encode()), pair])
    rows = read_samples(*KINDS[kind](rng))
    with one_blas_thread():
        labels = draw_labels(rows, PERMUTATIONS, rng)
        pool, planned = make_pool(rows, labels, rng)
        results = run_families(planned, pool)
    return {name: family_score(result.statistics) for name, result in results.items()}


def power(pairs: list[Scores], weights: dict[str, float]) -> float:
    """Return the share of the pairs that are rejected with these weights."""
    hits = 0
    for scores in pairs:
        own = {name: score for name, score in scores.items() if weights[name] > 0}
        # A family that cannot run on these columns sees nothing.
        if own:
            values = combine(own, weights).values
            hits += bool(np.mean(values >= values[0]) <= ALPHA)
    return hits / len(pairs)


def main() -> None:
    """Measure all kinds, then the variants."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    asked = [(kind, pair) for kind in KINDS for pair in range(pairs)]
    found = Parallel(jobs, verbose=1)(delayed(scores_of)(*each) for each in asked)
    by_kind: dict[str, list[Scores]] = {kind: [] for kind in KINDS}
    for (kind, _), scores in zip(asked, found, strict=True):
        by_kind[kind].append(scores)

    def mean(weights: dict[str, float]) -> float:
        return float(np.mean([power(own, weights) for own in by_kind.values()]))

    ran = {name for own in by_kind.values() for scores in own for name in scores}
    usual = {family.name: family.weight for family in FAMILIES if family.name in ran}
    whole = mean(usual)
    variants = []
    for name, weight in usual.items():
        row: dict[str, object] = {"family": name, "weight": f"{weight:g}"}
        for what, factor in (("without", 0.0), ("half", 0.5), ("twice", 2.0)):
            row[what] = f"{mean({**usual, name: factor * weight}) - whole:+.3f}"
        row["alone"] = f"{mean({**dict.fromkeys(usual, 0.0), name: 1.0}):.3f}"
        variants.append(row)
    rows = [{"kind": kind, "power": f"{power(own, usual):.2f}"} for kind, own in by_kind.items()]
    text = (
        "# What the families of the scan are worth\n\n"
        f"{len(KINDS)} kinds of difference made for this (`benchmarks/development`), {pairs} "
        f"pairs each, level {ALPHA}, {PERMUTATIONS} permutations; "
        "`python benchmarks/bench_scan_weights.py`.\n\n"
        f"Mean power {whole:.3f}. How it changes without a family, and with half and twice its "
        "weight, and what the family reaches alone:\n\n"
        + table(variants)
        + "\n\nKind by kind:\n\n"
        + table(rows)
    )
    store("scan_weights", text, rows)


if __name__ == "__main__":
    main()
