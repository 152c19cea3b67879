"""What a scan costs, told before it runs: seconds, bytes read, bytes held, bytes sent.

With N rows, P score columns, G bins and B permutations, P₂ columns in pairs, P₄ in pairs of other
dependence and P₃ in triples, the seconds of one thread are

    c₀ + c₁·N·P + c₂·N·(P₂² + 4 P₄²) + c₃·N·P₃³ + c₄·B·G·(45 P + products) + c₅·K·P,

K the rows that the tables are made from. The coefficients were fitted to measured runs, which told
triples from pairs no better than this: `python benchmarks/bench_cost.py` compares prediction and
measurement.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tellapart.budget import current_budget
from tellapart.data.row_stores import Cut, block_rows
from tellapart.permutation.labels import count_bins
from tellapart.scan.families.pair import N_PRODUCTS
from tellapart.scan.families.triple import SHARE
from tellapart.scan.features import N_DERIVED, SINGLES
from tellapart.scan.state import (
    BYTES_PER_COLUMN,
    affordable_groups,
    columns_for_pairs,
    columns_for_triples,
    columns_held,
    in_blocks,
)

COEFFICIENTS = (0.17, 7.3e-8, 8.6e-11, 0.0, 5.5e-11, 2.8e-7)
"""c₀ … c₅, in seconds of one thread."""
BYTES_PER_VALUE = 8
BYTES_PER_SECOND = 1e9
"""What a network carries, where nobody knows better."""
# What a block of rows takes, in values of single precision for each value of the block.
SCORES_PER_VALUE = 12
KEPT_BYTES = 200_000_000
"""What is kept of columns in blocks: the strongest of them, and what a few blocks take."""
DRAWN_ROWS = 65_536
CELLS = 4_097


@dataclass(frozen=True)
class ScanCost:
    """The size of a scan, and what it is expected to take.

    Attributes
    ----------
    n_x, n_y, n_columns, n_permutations : int
        The size.
    """

    n_x: int
    n_y: int
    n_columns: int
    n_permutations: int = 999

    @property
    def n_rows(self) -> int:
        """Rows of both samples."""
        return self.n_x + self.n_y

    @property
    def n_bins(self) -> int:
        """Bins of both samples."""
        x, y, _ = count_bins(self.n_x, self.n_y, self.n_columns)
        return x + y

    def terms(self) -> tuple[float, ...]:
        """Return what the coefficients multiply."""
        rows, columns = self.n_rows, self.n_columns
        pairs, shaped, triples = self._columns()
        count = self.n_permutations + 1
        return (
            1.0,
            float(rows * columns),
            float(rows * (pairs**2 + 4 * shaped**2)),
            float(rows * triples**3),
            float(count * self.n_bins * (45 * columns + self.n_products)),
            float(min(rows, DRAWN_ROWS) * columns),
        )

    def seconds(self, threads: int = 1) -> float:
        """Return the expected time, all but the start shared by the threads."""
        parts = [c * t for c, t in zip(COEFFICIENTS, self.terms(), strict=True)]
        return parts[0] + sum(parts[1:]) / max(threads, 1)

    def cluster_seconds(self, workers: int, bytes_per_second: float = BYTES_PER_SECOND) -> float:
        """Return the expected time on workers of one thread each, whose sums are sent and merged.

        What rows cost is shared by the workers, as far as there are lanes; permutations and tables
        are the client's. Every lane's sums are sent once.
        """
        parts = [c * t for c, t in zip(COEFFICIENTS, self.terms(), strict=True)]
        lanes = self.n_lanes
        rows = sum(parts[1:4]) / max(min(workers, lanes), 1)
        return parts[0] + parts[4] + parts[5] + rows + self.bytes_sent / bytes_per_second

    @property
    def n_lanes(self) -> int:
        """Lanes of both samples that can be summed side by side, X before Y."""
        step = block_rows(self.n_columns)
        return max(len(Cut(rows, step).lanes) for rows in (self.n_x, self.n_y))

    @property
    def bytes_sent(self) -> int:
        """Bytes that all lanes of both samples send."""
        step = block_rows(self.n_columns)
        lanes = sum(len(Cut(rows, step).lanes) for rows in (self.n_x, self.n_y))
        return lanes * self.bytes_of_sums // 2

    @property
    def n_products(self) -> int:
        """Products of two and three columns that are summed over every bin."""
        pairs, shaped, triples = self._columns()
        return math.comb(pairs, 2) + N_PRODUCTS * math.comb(shaped, 2) + math.comb(triples, 3)

    @property
    def bytes_of_sums(self) -> int:
        """Bytes of the sums over the bins of both samples."""
        features = (len(SINGLES) + N_DERIVED) * self.n_columns + self.n_products
        return 4 * self.n_bins * features

    @property
    def bytes_read(self) -> int:
        """Bytes of the values, looked at twice where they are not in memory."""
        return 2 * BYTES_PER_VALUE * self.n_rows * self.n_columns

    @property
    def bytes_held(self) -> int:
        """The most that is held beyond the input: sums, a block, drawn rows, statistics."""
        block = min(block_rows(self.n_columns), max(self.n_x, self.n_y)) * self.n_columns
        drawn = min(self.n_rows, DRAWN_ROWS) * self.n_columns
        count, budget = self.n_permutations + 1, current_budget()
        statistics = BYTES_PER_COLUMN * count * columns_held(self.n_columns, count, budget)
        sums = 2 * self.bytes_of_sums + 48 * min(CELLS, self.n_rows) * self.n_columns
        if in_blocks(self.n_columns, count, budget):
            # Of all columns those of a part, and of each part and all pairs one after the other.
            share = min(budget.correlated_columns / self.n_columns, 1.0)
            sums = min(sums, 2 * budget.part_bytes) + int(share * sums) + KEPT_BYTES
        return (
            sums
            + (BYTES_PER_VALUE + 4 * SCORES_PER_VALUE) * block
            + 2 * BYTES_PER_VALUE * drawn
            + statistics
        )

    def _columns(self) -> tuple[int, int, int]:
        """Return how many columns make pairs, pairs of other dependence, and triples."""
        most = affordable_groups(self.n_permutations + 1, self.n_bins, current_budget())
        columns = self.n_columns
        return (
            min(columns, columns_for_pairs(most)),
            min(columns, columns_for_pairs(most // N_PRODUCTS)),
            min(columns, columns_for_triples(most // SHARE)),
        )
