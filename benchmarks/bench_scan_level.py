"""The level of the scan and of every family of it, and the family-wise error of its findings.

    OPENBLAS_NUM_THREADS=1 python benchmarks/bench_scan_level.py --jobs 2
    python benchmarks/bench_scan_level.py --only degenerate   # a part, or what a name contains
    python benchmarks/bench_scan_level.py --resume            # go on after an interruption
    python benchmarks/bench_scan_level.py --quick             # three pairs each, nothing stored

Tables of benchmarks/null_tables.py without a difference, ordinary and degenerate ones; the same
through chunks, bins, blocks of columns, groups and monitors; and partial nulls, in which some
columns differ and the others do not, at 59, 199 and 999 permutations. A false finding names a
column, pair or triple of which no column differs. 1,000 pairs of each, fewer where one takes longer
than 0.3 s. Writes benchmarks/results/scan_level.md and .csv after each setting, with one row per
setting and what is measured. The band holds 99.9 % of the counts of a test whose level is exactly
0.05.
"""

from __future__ import annotations

from unittest.mock import patch

import dask.array as da
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds

import tellapart as ta
from levels import ALPHA, Setting, run
from null_tables import (
    DEGENERATE,
    ORDINARY,
    PARTIAL,
    PARTIAL_TOGETHER,
    Draw,
    DrawPartial,
    flag,
    halves,
    mostly_missing,
    scan_pair,
)
from tellapart.budget import Budget, using_budget
from tellapart.data.reader import read_chunked, read_samples
from tellapart.scan import sums
from tellapart.scan.scan import Scan, scan

ORDINARY_PERMUTATIONS, FEWER_PERMUTATIONS = 199, 99
NAMING_PERMUTATIONS = (59, 199, 999)
SLOW_PAIRS = 300
HEADING = (
    f"# Level of the scan at α = {ALPHA}\n\n"
    "`OPENBLAS_NUM_THREADS=1 python benchmarks/bench_scan_level.py --jobs 2 --resume [--pairs N]`."
)


def rejected(found: Scan) -> dict[str, bool]:
    """Return what a scan rejects: itself, each family, and whether anything is named."""
    answers = {"scan": found.null.pvalue <= ALPHA}
    answers |= {name: p <= ALPHA for name, p in found.families.items()}
    least = min(found.variable_pvalues.values(), default=1.0)
    answers["any finding"] = bool(found.findings) or least <= ALPHA
    return answers


def null_setting(part: str, name: str, draw: Draw, permutations: int, pairs: int) -> Setting:
    """Return the setting of pairs without a difference."""

    def decide(rng: np.random.Generator) -> dict[str, bool]:
        return rejected(scan_pair(*draw(rng), permutations, rng))

    return Setting(part, name, permutations, decide, pairs)


def partial_setting(name: str, draw: DrawPartial, permutations: int) -> Setting:
    """Return the setting of pairs in which some columns differ."""

    def decide(rng: np.random.Generator) -> dict[str, bool]:
        x, y, asked, changed = draw(rng)
        found = scan_pair(x, y, asked, permutations, rng)
        named = [set(finding.variables) for finding in found.findings]
        named += [{name} for name, p in found.variable_pvalues.items() if p <= ALPHA]
        return {
            "any false finding": any(not changed & own for own in named),
            "rejected": found.null.pvalue <= ALPHA,
            "a true finding": any(changed & own for own in named),
        }

    return Setting("names", name, permutations, decide)


def missing_setting(share: float, permutations: int) -> Setting:
    """Return the setting of one column whose values are missing in X at random, and no more."""
    draw = mostly_missing(share)

    def decide(rng: np.random.Generator) -> dict[str, bool]:
        found = scan_pair(*draw(rng), permutations, rng)
        return {"values named": any(finding.kind != "missing" for finding in found.findings)}

    name = f"{share:.0%} of one column of X missing at random, pairwise, 40 + 40 × 3"
    return Setting("names", name.replace("%", " %"), permutations, decide)


# The same tables on other ways through the scan.


def in_dask(rng: np.random.Generator) -> dict[str, bool]:
    """Scan Dask arrays in several blocks of rows."""
    sides = [
        da.from_array(np.column_stack([flag(rng, n), rng.normal(size=(n, 2))]), chunks=(chunk, 3))
        for n, chunk in ((400, 70), (250, 100))
    ]
    return _scan_in_chunks(*sides, rng)


def one_flag_in_dataset(rng: np.random.Generator) -> dict[str, bool]:
    """Scan datasets of pyarrow with one 0/1 column."""
    return _scan_in_chunks(
        *(
            ds.dataset(pa.Table.from_pandas(pd.DataFrame(flag(rng, 300), columns=["converted"])))
            for _ in range(2)
        ),
        rng,
    )


def _scan_in_chunks(x: object, y: object, rng: np.random.Generator) -> dict[str, bool]:
    # So few rows would be one block.
    with patch.object(sums, "block_rows", lambda _: 128):
        samples = read_chunked(x, y)
        return rejected(scan(samples, n_permutations=FEWER_PERMUTATIONS, alpha=ALPHA, rng=rng))


def in_column_blocks(rng: np.random.Generator) -> dict[str, bool]:
    """Scan a table in parts of some 30 columns and blocks of 7, as very wide ones are."""
    pooled = np.column_stack([rng.normal(size=(60, 40)), rng.random((60, 5)) < 0.3])
    blocks = {"unblocked_columns": 2, "unblocked_bytes": 0, "part_bytes": 300_000}
    with using_budget(Budget(**blocks, block_columns=7, blocks_at_a_time=2)):
        samples = read_samples(pooled[:30], pooled[30:])
        return rejected(scan(samples, n_permutations=FEWER_PERMUTATIONS, alpha=ALPHA, rng=rng))


def groups_setting(name: str, draw: Draw, n_groups: int, pairs: int) -> Setting:
    """Return the setting of groups of one population, each compared with the rest."""

    def decide(rng: np.random.Generator) -> dict[str, bool]:
        x, y, _ = draw(rng)
        table = np.concatenate([x, y])
        found = ta.compare_groups(
            table,
            by=np.arange(len(table)) % n_groups,
            n_permutations=ORDINARY_PERMUTATIONS,
            random_state=int(rng.integers(2**31)),
        )
        return {
            "any group": any(one.reject for one in found.comparisons),
            "first group, unadjusted": found.comparisons[0].pvalue <= ALPHA,
        }

    return Setting("groups", name, ORDINARY_PERMUTATIONS, decide, pairs)


def monitor_setting(name: str, draw: Draw, n_checks: int, pairs: int) -> Setting:
    """Return the setting of sequences of batches of the reference's population."""

    def decide(rng: np.random.Generator) -> dict[str, bool]:
        reference, _, _ = draw(rng)
        monitor = ta.compare_to_reference(
            reference,
            n_permutations=ORDINARY_PERMUTATIONS,
            n_checks=n_checks,
            random_state=int(rng.integers(2**31)),
        )
        checks = [monitor.check(draw(rng)[1]) for _ in range(n_checks)]
        return {
            "any alarm": any(check.alarm for check in checks),
            "first check": checks[0].pvalue <= ALPHA,
        }

    return Setting("monitors", f"{name}, {n_checks} checks", ORDINARY_PERMUTATIONS, decide, pairs)


def _normal(columns: int, m: int, n: int) -> Draw:
    return halves(lambda rng, rows: rng.normal(size=(rows, columns)), m, n)


def settings() -> list[Setting]:
    """Return every setting, in the order of the table."""
    found = [
        null_setting(
            "ordinary", name, draw, ORDINARY_PERMUTATIONS, SLOW_PAIRS if "wide" in name else 1_000
        )
        for name, draw in ORDINARY.items()
    ]
    found += [
        null_setting(
            *("degenerate", name, draw, FEWER_PERMUTATIONS),
            SLOW_PAIRS if "1,500" in name else 1_000,
        )
        for name, draw in DEGENERATE.items()
    ]
    found += [
        null_setting(
            *("bins", name, draw, FEWER_PERMUTATIONS), SLOW_PAIRS if "6,000" in name else 1_000
        )
        for name, draw in {
            "normal, 2,000 + 1,500 × 2": _normal(2, 2_000, 1_500),
            "normal, 600 + 6,000 × 2": _normal(2, 600, 6_000),
            "one flag at 10 %, 4,000 + 4,000": halves(flag, 4_000, 4_000),
        }.items()
    ]
    found += [
        Setting("chunks", "Dask, 400 + 250 × 3", FEWER_PERMUTATIONS, in_dask),
        Setting("chunks", "dataset, one flag, 300 + 300", FEWER_PERMUTATIONS, one_flag_in_dataset),
        Setting("blocks", "normal and flags, 30 + 30 × 45", FEWER_PERMUTATIONS, in_column_blocks),
        groups_setting("normal, 3 groups, 90 × 2", _normal(2, 45, 45), 3, 1_000),
        groups_setting("one flag at 10 %, 3 groups of 100", halves(flag, 150, 150), 3, 1_000),
        groups_setting("normal, 3 groups, 45 × 105", _normal(105, 20, 25), 3, SLOW_PAIRS),
        monitor_setting("normal, 60 + 30 × 2", _normal(2, 60, 30), 3, 1_000),
        monitor_setting("one flag at 10 %, 200 + 60", halves(flag, 200, 60), 3, 1_000),
        monitor_setting("one flag at 10 %, 200 + 60", halves(flag, 200, 60), 8, SLOW_PAIRS),
    ]
    for permutations in NAMING_PERMUTATIONS:
        found += [partial_setting(name, draw, permutations) for name, draw in PARTIAL.items()]
        found += [missing_setting(share, permutations) for share in (0.5, 0.9)]
    return found + [
        partial_setting(name, draw, ORDINARY_PERMUTATIONS)
        for name, draw in PARTIAL_TOGETHER.items()
    ]


if __name__ == "__main__":
    run("scan_level", HEADING, settings())
