"""Draws of labels: how many there are, how small a p-value can get, and which rows share a label.

Labels of rows are permuted one by one, or in bins of rows: exactly valid, and at a cost that does
not grow with the rows. The rows of each sample are put at random into bins of b rows, and labels
are permuted among the bins; the few rows left over keep theirs. Such permutations are a subgroup of
all permutations, so a rank among them is a valid p-value.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import IntArray
from tellapart.budget import current_budget
from tellapart.errors import InputError
from tellapart.interrupts import check_interrupts

MEMORY_BUDGET = 1_000_000_000
STATISTIC_BYTES = 64
"""What the statistics of one permutation take, copies and all."""
# Bins of the smaller sample: from about 250 on nothing is lost against permutations of rows.
MOST_BINS = 250
FEWEST_BINS = 150
# Bins of both samples together where their sizes allow it.
USUAL_BINS = 1_250
# Rows of the larger sample that take part, in multiples of the smaller: the rest adds nothing.
LARGER_SHARE = 20


@dataclass(frozen=True)
class Permutations:
    """Which of the pooled rows carry the label x, one permutation per row of packed bits.

    Row 0 holds the true labels, so that the observed statistic goes through the very same
    arithmetic as the permuted ones and a tie is a tie.
    """

    bits: NDArray[np.uint8]
    exact: bool

    def labels(self, count: int, which: slice = slice(None)) -> NDArray[np.uint8]:
        """Return the 0/1 labels of `count` rows under some of the permutations."""
        return np.unpackbits(self.bits[which], axis=1, count=count)


def count_permutations(n_x: int, n_y: int, at_most: int) -> int | None:
    """Return C(n_x + n_y, n_x), or None where it exceeds `at_most`."""
    log_count = math.lgamma(n_x + n_y + 1) - math.lgamma(n_x + 1) - math.lgamma(n_y + 1)
    # The exact integer has millions of digits for large samples: form it only near the limit.
    if log_count > math.log(at_most) + 1.0:
        return None
    count = math.comb(n_x + n_y, n_x)
    return count if count <= at_most else None


def check_attainable(n_permutations: int, alpha: float) -> None:
    """Raise if so few permutations were asked for that no p-value can fall to `alpha`."""
    if 1 / (n_permutations + 1) > alpha:
        least = math.ceil(1 / alpha) - 1
        raise InputError(
            f"n_permutations must be at least {least} for alpha = {alpha:g} "
            f"(the least p-value is 1/(n_permutations + 1)); got {n_permutations}"
        )


def check_memory(n_x: int, n_y: int, n_permutations: int) -> None:
    """Raise if the labels of so many permutations would not fit into memory."""
    n_rows = n_x + n_y
    count, each = n_permutations + 1, -(-n_rows // 8) + STATISTIC_BYTES
    every = count_permutations(n_x, n_y, n_permutations)
    if every is not None:
        # To list them all, the chosen rows are written out as numbers first.
        count, each = every, 9 * n_rows + STATISTIC_BYTES
    most = current_budget().label_bytes
    if count * each > most:
        raise InputError(
            f"n_permutations must be at most {most // each:,} for {n_rows:,} rows or bins of "
            f"them (their labels may take {most / 1e9:g} GB); got {n_permutations:,}"
        )


def least_pvalue(n_x: int, n_y: int, n_permutations: int) -> float:
    """Return the smallest p-value that a test of these sizes can give.

    >>> least_pvalue(50, 50, 999)
    0.001
    >>> round(1 / least_pvalue(5, 5, 999))
    126
    """
    count = count_permutations(n_x, n_y, n_permutations)
    if count is None:
        return 1.0 / (n_permutations + 1)
    # Swapping the labels of equally large samples leaves MMD² as it is: ties come in pairs.
    return (2 if n_x == n_y else 1) / count


def draw_permutations(
    n_x: int,
    n_y: int,
    n_permutations: int,
    rng: np.random.Generator,
    memory_budget: int = MEMORY_BUDGET,
) -> Permutations:
    """Enumerate all permutations if there are at most `n_permutations`, else draw that many."""
    check_memory(n_x, n_y, n_permutations)
    n_rows = n_x + n_y
    count = count_permutations(n_x, n_y, n_permutations)
    if count is not None:
        chosen = itertools.chain.from_iterable(itertools.combinations(range(n_rows), n_x))
        columns = np.fromiter(chosen, dtype=np.intp, count=count * n_x).reshape(count, n_x)
        labels = np.zeros((count, n_rows), dtype=np.uint8)
        np.put_along_axis(labels, columns, 1, axis=1)
        return Permutations(np.packbits(labels, axis=1), exact=True)
    true = (np.arange(n_rows) < n_x).astype(np.uint8)
    bits = np.empty((n_permutations + 1, -(-n_rows // 8)), dtype=np.uint8)
    bits[0] = np.packbits(true)
    # Rows are shuffled one after the other from one stream, so the block size changes nothing.
    step = max(memory_budget // (4 * n_rows), 1)
    for start in range(1, n_permutations + 1, step):
        check_interrupts()
        size = min(step, n_permutations + 1 - start)
        # Rows contiguous in memory: shuffling across strides takes three times as long.
        shuffled = rng.permuted(np.tile(true, (size, 1)), axis=1)
        bits[start : start + size] = np.packbits(shuffled, axis=1)
    return Permutations(bits, exact=False)


def rows_per_bin(n_x: int, n_y: int) -> int:
    """Return b: 1 where rows are few, else such that the smaller sample has 150 to 500 bins.

    >>> rows_per_bin(200, 300), rows_per_bin(2_000, 2_000), rows_per_bin(200, 10**6)
    (1, 8, 1)
    """
    smaller, larger = sorted((n_x, n_y))
    bins = USUAL_BINS * smaller // (smaller + larger)
    return max(smaller // min(max(bins, FEWEST_BINS), MOST_BINS), 1)


def binned_sizes(n_x: int, n_y: int) -> tuple[int, int, int]:
    """Return the bins of x and of y that are permuted, and the rows in each.

    >>> binned_sizes(200, 300), binned_sizes(2_000, 2_000), binned_sizes(200, 10**6)
    ((200, 300, 1), (250, 250, 8), (200, 4000, 1))
    """
    size = rows_per_bin(n_x, n_y)
    bins_x, bins_y = n_x // size, n_y // size
    return min(bins_x, LARGER_SHARE * bins_y), min(bins_y, LARGER_SHARE * bins_x), size


def least_binned_pvalue(n_x: int, n_y: int, n_permutations: int) -> float:
    """Return the smallest p-value that permutations of the bins of such samples can give.

    >>> least_binned_pvalue(2_000, 2_000, 999), round(1 / least_binned_pvalue(2, 1_000, 999))
    (0.001, 861)
    """
    bins_x, bins_y, _ = binned_sizes(n_x, n_y)
    return least_pvalue(bins_x, bins_y, n_permutations)


def bin_rows(n_x: int, n_y: int, rng: np.random.Generator) -> IntArray:
    """Return the pooled rows bin after bin, those of x first, and then what is left of x and y."""
    bins_x, bins_y, size = binned_sizes(n_x, n_y)
    rows_x = np.arange(n_x) if n_x == bins_x else rng.permutation(n_x)
    rows_y = n_x + (np.arange(n_y) if n_y == bins_y else rng.permutation(n_y))
    used_x, used_y = bins_x * size, bins_y * size
    return np.concatenate([rows_x[:used_x], rows_y[:used_y], rows_x[used_x:], rows_y[used_y:]])
