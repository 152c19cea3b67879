"""Limits of work: how much one call may look at, draw or hold, in one object.

A limit decides how much work is done and how much memory it takes, never whether an answer is
valid: p-values and bounds hold under every budget. Code reads the limits of the present call from
`current_budget`; `using_budget` sets others for the calls inside it, in their threads too.

>>> from tellapart.budget import Budget, current_budget, using_budget
>>> with using_budget(Budget(block_entries=10)):
...     current_budget().block_entries
10
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Budget:
    """Limits of work, one field each, in the order of the rooms that read them.

    Attributes
    ----------
    most_levels : int
        Distinct labels of a column that are held while data in chunks are read.
    pooled_rows, drawn_rows : int
        Rows drawn from both samples together, and from each, to stand for the others.
    drawn_bytes, fewest_drawn_rows : int
        Bytes of the rows drawn of a wide sample, and how many are drawn whatever they take.
    walked_files : int
        Files and folders met before a walk through folders is given up.
    wide_text_columns : int
        Columns of delimited text from which on types are guessed from its first row.
    exact_median_rows : int
        Pooled rows up to which the median distance of a column is exact; beyond, this many evenly
        spaced order statistics stand in for the column. Like a quadrature rule they err by about
        1 / `exact_median_rows`, a hundredth of the sampling error of the median, and need no seed.
    exact_scale_rows : int
        Pooled rows up to which the joint scale of a kernel is the median over all pairs of rows;
        beyond, over the pairs of as many rows.
    gram_block_entries : int
        Entries of one column's block of a Gram matrix.
    group_pairs_per_entry : int
        Pairs of rows in multiples of the squared number of groups, up to which kernel sums between
        groups are taken pair by pair.
    gram_pairs : int
        Pairs of rows up to which a column's Gram matrices are formed in place of fast sums.
    dense_variance_columns, factor_rows_per_column : int
        Columns up to which V of the linear kernel is always a matrix, and rows in multiples of the
        columns beyond which it always is; elsewhere a factor of V takes its place.
    coefficient_block_entries, product_rows : int
        Numbers in one block of rows of p and q in memory, and rows of one in chunks.
    pair_block_entries, feature_block_entries : int
        Numbers in one block of what is summed over pairs of rows, and of features of rows.
    witness_block_bytes : int
        Bytes of one block of a witness function.
    proof_seconds, least_proof_seconds, presumed_seconds : float
        Seconds of a proof of optimality where no time limit is given; after a scan as many as it
        took, and at least the second; and the time by which "auto" picks a solver then.
    resumed_columns : int
        Columns of a problem of a kernel up to which a proof that was stopped is kept to go on.
    certified_columns, certified_variables, certified_pairs : int
        Columns and variables up to which the choice of a Gaussian or quadratic kernel at λ > 0 is
        proved, and pairs of rows times columns that are held for the Gaussian one.
    interaction_columns, interaction_features : int
        Columns among which pairs and triples are looked for at most, and features of them all.
    feature_rows, feature_entries : int
        Rows of each sample that features stand for in a search at most, and numbers in these rows.
    exact_distance_pairs : int
        Pairs of rows up to which the law of the Kolmogorov–Smirnov distance is exact.
    direction_rows, dense_covariance_columns : int
        Rows of each sample that a direction is searched on, and columns of a covariance that is
        formed as a matrix.
    block_entries : int
        Entries of a matrix that is made block by block.
    label_bytes : int
        Bytes of the labels and statistics of all permutations.
    permuted_units : int
        Units of a design that are permuted; more are put together.
    adjusted_rows : int
        Rows of both samples whose labels are permuted given covariates; of more, some are drawn.
    gram_rows : int
        Pooled rows up to which a whole Gram matrix is summed rather than features of columns.
    paired_rows : int
        Pooled rows up to which all pairs are summed, for kernels without short features.
    random_frequencies : int
        Random frequencies of a kernel beyond that: a cosine and a sine each.
    shared_sums_bytes : int
        Bytes of the sums of one table of features that comparisons share; beyond, each makes its
        own.
    dense_columns : int
        Variables up to which a solver forms their matrix from a factor, and decomposes it.
    semidefinite_columns : int
        Variables up to which branch and bound goes on with semidefinite bounds.
    visited_supports_work : int
        Operations, 10 ms of them, that a node may spend on visiting all its supports.
    shifted_columns : int
        Variables that get a shift of their own in the hull bound; the rest share one.
    enumerated_columns, enumeration_work : int
        Variables up to which all supports of a loose node are enumerated, and the operations that
        this may promise to take; it takes a tenth of them, a minute.
    enumeration_pause, enumeration_supports : int
        Operations between two looks at the clock, and supports kept between them.
    family_products, family_entries : int
        Multiplications of one family of the scan, and entries (permutation × pair) that it looks
        at: half a second each.
    correlated_columns : int
        Columns whose pooled correlations are computed.
    screening_rows : int
        Pooled rows that name candidates where there are too many to look at all.
    triple_screening_products, triple_screening_columns : int
        Multiplications of the pooled rows that look for triples which stand out, and columns.
    four_products : int
        Multiplications of the pooled rows that look for fours of columns which stand out.
    scale_rows : int
        Pooled rows that scales of local differences are taken from.
    local_products : int
        Products of rows and waves that look for local differences.
    most_permutations, further_products : int
        Permutations of a scan while its verdict is open, if more than are asked for, and
        multiplications of bins and features that those beyond the number asked for may take: half a
        minute of one thread.
    scan_bytes : int
        What the statistics of a scan may take under all permutations.
    unblocked_bytes, unblocked_columns : int
        Where columns would take more bytes than this they are looked at in blocks, if they are
        more than these; few columns that take so much do so for their permutations.
    columns_beside_blocks : int
        What pairs, triples and named columns amount to, in columns, beside those in blocks.
    block_columns, block_statistics : int
        Score columns of a block, and these times permutations: what one core keeps at hand.
    blocks_at_a_time : int
        Blocks between which what they found is merged: the same for any number of threads.
    part_bytes : int
        What the sums and tables of the columns of one part of a wide table may take.
    max_t_entries, max_t_columns : int
        Of columns in blocks, columns times permutations whose scores are kept, and columns that
        are kept however many permutations there are.
    complete_rows : int
        Rows of both samples up to which ranks are those of all rows, if all of them were drawn.
    planning_entries, planning_rows : int
        Entries of the pooled rows that families plan by, and rows at least.
    evidence_rows, evidence_entries : int
        Rows of each sample that evidence is drawn from at most, and rows times columns, unless that
        leaves fewer than 500 rows a sample.
    evidence_candidates : int
        Columns that take part in a choice by evidence: those with the most of it.
    linked_columns : int
        Columns whose correlations are looked at for pairs and triples of a choice by evidence.
    distance_rows : int
        Rows whose distances from each other a scan sums; of more, some of every bin.
    group_columns, group_entries, fewest_group_columns : int
        Columns that all comparisons of groups together look at in full, and rows times these
        columns; of one comparison no fewer than the last.
    shared_entries : int
        Rows times columns whose features comparisons of groups share, of 200 bytes each.
    group_bytes : int
        Bytes that comparisons which run side by side may hold together.
    gathered_bytes : int
        Bytes of the columns of rows in files or on a cluster that are held at once to describe
        findings; of more, rows drawn at random stand for all.
    described_entries : int
        Values of columns that are described at a time.
    named_groups : int
        Pairs or triples of each kind that may be named, those that changed most.
    described_variables : int
        Selected variables that are described, those with the largest weights.
    simultaneous_draws, simultaneous_units : int
        Draws of random multipliers for simultaneous limits, and units that get one each; of more
        units some share one.
    simultaneous_pair_entries : int
        Pairs times rows up to which correlations have simultaneous limits.
    embedded_levels : int
        Categories of one column that an embedding distinguishes; rarer ones share a place.
    fewest_scanned_rows : int
        Rows of each sample below which a scan is not cut short to keep a time limit.
    split_bytes : int
        Bytes of the rows drawn from chunks for a split, where no memory budget is given.
    refined_permutations, refined_label_bytes, refined_scan_bytes : int
        Permutations of a check whose p-value is refined, and the bytes of their labels (a split) or
        statistics (a scan).
    file_bytes_in_memory : int
        Bytes of the numbers in files beyond which the command line reads them block by block.
    """

    # data
    most_levels: int = 100_000
    pooled_rows: int = 1 << 16
    drawn_rows: int = 20_000
    drawn_bytes: int = 1 << 28
    fewest_drawn_rows: int = 1024
    walked_files: int = 100_000
    wide_text_columns: int = 5_000
    # kernels
    exact_median_rows: int = 32_768
    exact_scale_rows: int = 1_000
    gram_block_entries: int = 32_768
    group_pairs_per_entry: int = 2
    # statistics
    gram_pairs: int = 40_000
    dense_variance_columns: int = 2_000
    factor_rows_per_column: int = 2
    coefficient_block_entries: int = 1_048_576
    product_rows: int = 8_192
    pair_block_entries: int = 2_097_152
    feature_block_entries: int = 4_194_304
    witness_block_bytes: int = 100_000_000
    # search
    proof_seconds: float = 10.0
    least_proof_seconds: float = 1.0
    presumed_seconds: float = 10.0
    resumed_columns: int = 2_000
    certified_columns: int = 30
    certified_variables: int = 3
    certified_pairs: int = 25_000_000
    interaction_columns: int = 5_000
    interaction_features: int = 2_400
    feature_rows: int = 100_000
    feature_entries: int = 20_000_000
    # baselines
    exact_distance_pairs: int = 1_000_000
    direction_rows: int = 1_000
    dense_covariance_columns: int = 500
    # scan and permutation
    block_entries: int = 4_000_000
    # permutation
    label_bytes: int = 4_000_000_000
    permuted_units: int = 4_000
    adjusted_rows: int = 8_000
    gram_rows: int = 2_500
    paired_rows: int = 40_000
    random_frequencies: int = 1_024
    shared_sums_bytes: int = 400_000_000
    # strs
    dense_columns: int = 2_000
    semidefinite_columns: int = 1_000
    visited_supports_work: int = 600_000
    shifted_columns: int = 200
    enumerated_columns: int = 1_000
    enumeration_work: int = 3 * 10**11
    enumeration_pause: int = 30_000_000
    enumeration_supports: int = 20_000
    # scan
    family_products: int = 30_000_000_000
    family_entries: int = 60_000_000
    correlated_columns: int = 4_000
    screening_rows: int = 2_000
    triple_screening_products: int = 4_000_000_000
    triple_screening_columns: int = 100
    four_products: int = 8_000_000_000
    scale_rows: int = 500
    local_products: int = 4_000_000_000
    most_permutations: int = 19_999
    further_products: int = 500_000_000_000
    scan_bytes: int = 8_000_000_000
    unblocked_bytes: int = 2_000_000_000
    unblocked_columns: int = 4_000
    columns_beside_blocks: int = 1_000
    block_columns: int = 256
    block_statistics: int = 256_000
    blocks_at_a_time: int = 16
    part_bytes: int = 400_000_000
    max_t_entries: int = 4_000_000
    max_t_columns: int = 100
    complete_rows: int = 16_384
    planning_entries: int = 40_000_000
    planning_rows: int = 2_000
    distance_rows: int = 4_000
    # evidence
    evidence_rows: int = 20_000
    evidence_entries: int = 20_000_000
    evidence_candidates: int = 1_000
    linked_columns: int = 20_000
    # scan of groups
    group_columns: int = 8_000
    group_entries: int = 9_000_000
    fewest_group_columns: int = 200
    shared_entries: int = 3_000_000
    group_bytes: int = 8_000_000_000
    # effects and findings
    gathered_bytes: int = 500_000_000
    described_entries: int = 4_000_000
    named_groups: int = 2_000
    described_variables: int = 200
    simultaneous_draws: int = 2_000
    simultaneous_units: int = 512
    simultaneous_pair_entries: int = 50_000_000
    embedded_levels: int = 30
    # two_sample
    fewest_scanned_rows: int = 1_000
    split_bytes: int = 2_000_000_000
    # monitor
    refined_permutations: int = 99_999
    refined_label_bytes: int = 500_000_000
    refined_scan_bytes: int = 2_000_000_000
    # command line
    file_bytes_in_memory: int = 1 << 30


_CURRENT = ContextVar("budget", default=Budget())  # noqa: B039 -- it is frozen


def current_budget() -> Budget:
    """Return the limits of the present call."""
    return _CURRENT.get()


@contextmanager
def using_budget(budget: Budget) -> Iterator[Budget]:
    """Use other limits for what is called inside."""
    token = _CURRENT.set(budget)
    try:
        yield budget
    finally:
        _CURRENT.reset(token)
