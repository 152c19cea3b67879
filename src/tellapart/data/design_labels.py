"""Labels of strata, pairs and clusters, and weights: columns of the tables, or arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import narwhals as nw
import numpy as np
from scipy import sparse

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.adjustment import FEW_VALUES, Covariates, fit_adjustment, strata_of
from tellapart.data.columns import label_of
from tellapart.data.design import (
    UNKNOWN,
    Design,
    Names,
    PermutationScheme,
    RowLabels,
    find_scheme,
    make_design,
)
from tellapart.data.missing import FEWEST_ROWS
from tellapart.data.samples import CodedRows, Samples
from tellapart.data.sources import load
from tellapart.data.sources.metadata import metadata_of
from tellapart.data.sources.table import as_frame, frame_names
from tellapart.errors import InputError, warn_caller
from tellapart.optional import is_arrow, stats
from tellapart.text import described, nearest

ARGUMENTS = ("strata", "paired", "clusters")
WEIGHTS = "weights"
GIVEN, GIVEN_WEIGHTS = "given labels", "given weights"
"""What results say of labels and of weights that came as arrays."""


@dataclass(frozen=True)
class DesignArguments:
    """Arguments that describe the design of a study: see `tellapart.two_sample_test`."""

    strata: object = None
    paired: object = False
    clusters: object = None
    scheme: object = None
    weights: object = None
    adjust: object = None

    @property
    def asked(self) -> bool:
        """Whether there is a design: labels or covariates of rows, or a scheme that permutes."""
        return bool(self.given) or self.scheme is not None or self.adjust is not None

    @property
    def covariates(self) -> tuple[str, ...]:
        """The columns to adjust for; none where tables of covariates were given."""
        if isinstance(self.adjust, str):
            return (self.adjust,)
        named = isinstance(self.adjust, list | tuple) and len(self.adjust) > 0
        if named and all(isinstance(name, str) for name in cast(Any, self.adjust)):
            return tuple(cast(Any, self.adjust))
        return ()

    @property
    def given(self) -> dict[str, object]:
        """The arguments that ask for something."""
        arguments = {name: getattr(self, name) for name in (*ARGUMENTS, WEIGHTS)}
        return {
            name: value
            for name, value in arguments.items()
            if value is not None and not (isinstance(value, bool | np.bool_) and not value)
        }

    def to_dict(self) -> dict[str, object]:
        """Return the arguments as plain values: columns, True, or that labels were given."""
        plain: dict[str, object] = {
            name: value if isinstance(value, str) else True if value is True else GIVEN
            for name, value in self.given.items()
        }
        if plain.get(WEIGHTS) == GIVEN:
            plain[WEIGHTS] = GIVEN_WEIGHTS
        if self.adjust is not None:
            plain["adjust"] = list(self.covariates) or GIVEN
        scheme = None if self.scheme is None else find_scheme(self.scheme)
        return plain if scheme is None else plain | {"design": scheme.name}

    def check(self, n_tables: int) -> None:
        """Raise where an argument is of no kind that labels the rows of one table, or of two."""
        self._check_adjust(n_tables)
        of_table, arrays = "the table", "a label array with one label per row"
        if n_tables == 2:
            of_table, arrays = "both tables", "a pair of label arrays, one per sample"
        for name, value in self.given.items():
            if isinstance(value, str):
                continue
            by_row = isinstance(value, bool | np.bool_)
            several = not by_row and hasattr(value, "__len__") and not isinstance(value, bytes)
            fits = several and (n_tables == 1 or len(cast(Any, value)) == 2)
            if not (fits or (by_row and name == "paired" and n_tables == 2)):
                row = ""
                if name == WEIGHTS:
                    arrays = arrays.replace("label arrays", "arrays of numbers")
                    arrays = arrays.replace("a label array with one label", "one number")
                if name == "paired" and n_tables == 2:
                    row = "True (row i of X belongs to row i of Y), "
                raise InputError(
                    f"{name} must be {row}the name of a column of {of_table}, or {arrays}; "
                    f"got {value if by_row else described(value)}"
                )

    def _check_adjust(self, n_tables: int) -> None:
        """Raise where `adjust` names no covariates, or does not go with the other arguments."""
        if self.adjust is None:
            return
        names = self.covariates
        of_table, tables = "the table", "a table of covariates with the same rows"
        if n_tables == 2:
            of_table, tables = "both tables", "a pair of tables of covariates, one per sample"
        given = names or (
            not isinstance(self.adjust, bool | int | float | bytes)
            and hasattr(self.adjust, "__len__")
            and (n_tables == 1 or len(cast(Any, self.adjust)) == 2)
        )
        if not given or len(set(names)) < len(names):
            raise InputError(
                f"adjust must be the names of columns of {of_table}, each once, or {tables}; "
                f"got {list(names) or described(self.adjust)}"
            )
        reasons = {
            "paired": "pairs are compared within themselves; match them by the covariates",
            "weights": "weights of a survey are not part of the model of the labels",
            "design": "both say how labels are permuted",
        }
        for name, reason in reasons.items():
            if name in self.given or (name == "design" and self.scheme is not None):
                raise InputError(f"adjust and {name} do not go together: {reason}")
        for name, value in self.given.items():
            if isinstance(value, str) and value in names:
                raise InputError(f"adjust must name other columns than {name}={value!r}")


@dataclass(frozen=True, eq=False)
class TakenLabels:
    """Labels as they came, for one table or for two: lists of values, or True for row numbers.

    `covariates` are tables of those to adjust for; None where there are none.
    """

    sides: Mapping[str, Sequence[Sequence[object]] | bool]
    names: Names
    scheme: PermutationScheme | None = None
    weights: Sequence[FloatArray] | None = None
    covariates: Sequence[object] | None = None

    def coded(
        self,
        titles: Sequence[str],
        sizes: Sequence[int],
        covariates: Sequence[CodedRows] | None = None,
    ) -> list[RowLabels]:
        """Return the codes of every table's rows, of which there are `sizes`.

        `covariates` are those of the tables as they were read.
        """
        codes_of: dict[str, list[IntArray]] = {}
        for name, sides in self.sides.items():
            if isinstance(sides, bool):
                if len(set(sizes)) > 1:
                    raise InputError(
                        "paired=True needs as many rows of X as of Y, row i of X belonging to row "
                        f"i of Y; got {sizes[0]} and {sizes[1]}; name a column that matches them"
                    )
                codes_of[name] = [np.arange(size) for size in sizes]
                continue
            codes_of[name] = encode(sides)
            for codes, size, title in zip(codes_of[name], sizes, titles, strict=True):
                _check_length(name, "label", codes.size, size, title)
        for own, size, title in zip(covariates or (), sizes, titles, strict=bool(covariates)):
            if own.n_rows != size:
                raise InputError(
                    f"adjust must have covariates for each of the {size} rows of {title}; "
                    f"got {own.n_rows} rows"
                )
        every = []
        for side, size in enumerate(sizes):
            strata, pairs, clusters = (
                codes_of[name][side] if name in codes_of else None for name in ARGUMENTS
            )
            labels = RowLabels(size, self.names, strata, pairs, clusters, scheme=self.scheme)
            if self.weights is not None:
                _check_length(WEIGHTS, "weight", self.weights[side].size, size, titles[side])
                labels = replace(labels, weights=self.weights[side])
            if covariates:
                own = covariates[side]
                values = np.asarray(own.values, dtype=np.float64)
                labels = replace(labels, covariates=Covariates(own.names, own.kinds, values))
            every.append(labels)
        if self.weights is not None and all(bool((own == 1).all()) for own in self.weights):
            return [replace(labels, weights=None) for labels in every]
        return every


def _check_length(name: str, what: str, given: int, size: int, title: str) -> None:
    if given != size:
        raise InputError(
            f"{name} must have one {what} for each of the {size} rows of {title}; got {given}"
        )


def take_labels(
    tables: Sequence[object], asked: DesignArguments, titles: Sequence[str]
) -> tuple[list[object], TakenLabels]:
    """Return the tables without the columns that label their rows, and the labels."""
    asked.check(len(tables))
    columns = {name: value for name, value in asked.given.items() if isinstance(value, str)}
    taken = [
        take_columns(title, table, columns) for title, table in zip(titles, tables, strict=True)
    ]
    sides: dict[str, Sequence[Sequence[object]] | bool] = {}
    for name, value in asked.given.items():
        if isinstance(value, bool | np.bool_):
            sides[name] = True
        elif isinstance(value, str):
            sides[name] = [labels[name] for _, labels in taken]
        else:
            arrays = [value] if len(tables) == 1 else list(cast(Any, value))
            sides[name] = [read_labels(name, side) for side in arrays]
    called = [
        _name_of(asked.given[name]) if name in sides else None for name in (*ARGUMENTS, WEIGHTS)
    ]
    weights = cast(Sequence[Sequence[object]] | None, sides.pop(WEIGHTS, None))
    rest = [rest for rest, _ in taken]
    covariates: Sequence[object] | None = None
    if asked.covariates:
        parts = [
            _take_covariates(title, table, asked.covariates)
            for title, table in zip(titles, rest, strict=True)
        ]
        rest, covariates = [part[0] for part in parts], [part[1] for part in parts]
    elif asked.adjust is not None:
        covariates = [asked.adjust] if len(tables) == 1 else list(cast(Any, asked.adjust))
    labels = TakenLabels(
        sides,
        Names(*called),
        find_scheme(asked.scheme),
        None if weights is None else check_weights(weights, titles),
        covariates,
    )
    return rest, labels


def _name_of(value: object) -> str:
    return value if isinstance(value, str) else ""


def take_columns(
    title: str, table: Any, columns: Mapping[str, str]
) -> tuple[object, dict[str, list[object]]]:
    """Return a table without some columns, and the labels in them by the name of the argument."""
    if not columns:
        return table, {}
    obs = metadata_of(table)
    if obs is not None:
        return table, _labels_of("obs of " + title, obs, columns)
    table = load(title, table)
    frame = as_frame(title, table)
    if frame is None:
        name, value = next(iter(columns.items()))
        raise InputError(
            f"{name} must be label arrays, with one label per row, where {title} has no named "
            f"columns; got {value!r} and {described(table)}"
        )
    labels = _labels_of(title, frame, columns)
    names = frame_names(title, frame)
    gone = {names.index(value) for value in columns.values()}
    rest = frame.select([frame.columns[s] for s in range(len(names)) if s not in gone])
    return rest.to_native(), labels


def _take_covariates(title: str, table: Any, covariates: Sequence[str]) -> tuple[object, object]:
    """Return a table without its covariates, and these as a table of their own."""
    obs = metadata_of(table)
    table = table if obs is not None else load(title, table)
    frame = obs if obs is not None else as_frame(title, table)
    if frame is None:
        raise InputError(
            f"adjust must be a pair of tables of covariates where {title} has no named columns; "
            f"got {list(covariates)} and {described(table)}"
        )
    names = frame_names(title, frame)
    for name in covariates:
        if name not in names:
            raise InputError(
                f"adjust must name columns of {title}; got {name!r}; {nearest(name, names)}"
            )
    own = frame.select([frame.columns[names.index(name)] for name in covariates])
    if obs is not None:
        return table, own.to_native()
    left = [
        column for column, name in zip(frame.columns, names, strict=True) if name not in covariates
    ]
    if not left:
        raise InputError(f"adjust must leave columns of {title} to compare; got all of them")
    return frame.select(left).to_native(), own.to_native()


def _labels_of(
    title: str, frame: nw.DataFrame[Any], columns: Mapping[str, str]
) -> dict[str, list[object]]:
    names = frame_names(title, frame)
    labels = {}
    for argument, value in columns.items():
        if value not in names:
            raise InputError(
                f"{argument} must be a column of {title}; got {value!r}; {nearest(value, names)}"
            )
        labels[argument] = frame[:, names.index(value)].to_list()
    return labels


def read_labels(argument: str, values: object) -> list[object]:
    """Return labels that came as a sequence, one per row."""
    native = nw.from_native(cast(Any, values), series_only=True, pass_through=True)
    if isinstance(native, nw.Series):
        return list(native.to_list())
    if is_arrow(values, "Array", "ChunkedArray"):
        return list(cast(Any, values).to_pylist())
    listed = np.asarray(values, dtype=None if isinstance(values, np.ndarray) else object)
    if listed.ndim != 1:
        raise InputError(
            f"{argument} must be label arrays of one dimension, one label per row; "
            f"got {described(values)}"
        )
    return list(listed.tolist())


def check_weights(sides: Sequence[Sequence[object]], titles: Sequence[str]) -> list[FloatArray]:
    """Return the weights of the rows of every table, the largest 1.

    >>> check_weights([[2, 1.0], [4]], ("X", "Y"))
    [array([0.5 , 0.25]), array([1.])]
    """
    every = []
    for side, title in zip(sides, titles, strict=True):
        try:
            own = np.array([np.nan if value is None else value for value in side], dtype=np.float64)
        except (TypeError, ValueError):
            own = np.array([math.nan])
        wrong = np.flatnonzero(~(np.isfinite(own) & (own >= 0)))
        if wrong.size:
            raise InputError(
                "weights must be finite numbers of at least 0, one for each row; "
                f"got {side[int(wrong[0])]!r} in {title}"
            )
        every.append(own)
    largest = max(float(own.max(initial=0.0)) for own in every)
    if not largest:
        raise InputError("weights must not all be 0")
    return [own / largest for own in every]


def encode(sides: Sequence[Sequence[object]]) -> list[IntArray]:
    """Return codes of labels, the same for equal ones on all sides; 1 and 1.0 are equal."""
    code_of_label: dict[str, int] = {}
    code_of_value: dict[object, int] = {}

    def code(value: object) -> int:
        # None, NaN, NaT and pandas.NA are missing: the last is equal to nothing, itself included.
        if value is None or type(value).__name__ == "NAType" or value != value:
            return UNKNOWN
        if value not in code_of_value:
            code_of_value[value] = code_of_label.setdefault(label_of(value), len(code_of_label))
        return code_of_value[value]

    return [np.array([code(value) for value in side], dtype=np.intp) for side in sides]


def refuse_chunks(asked: DesignArguments) -> None:
    """Raise where data in chunks come with a design: their rows are never held together."""
    if WEIGHTS in asked.given:
        raise InputError(
            "weights need samples in memory; got data in chunks: read them first, or leave weights "
            "out"
        )
    others = {"design": asked.scheme, "adjust": asked.adjust}
    for name in (*asked.given, *(name for name, value in others.items() if value is not None)):
        raise InputError(
            f"{name} needs samples in memory, as rows that belong together may lie in any chunk; "
            "got data in chunks: read them first, or leave it out"
        )


# How much rows of one unit are alike, which says how much each unit of a design should weigh.
#
# With ρ the share of a column's variance that lies between the units of a block, the mean of n rows
# of a unit has the variance σ²(1 + (n − 1)ρ)/n: that of n rows where rows of a unit have nothing in
# common, that of one row where they are the same. Means over units are known best with weights that
# are inverse to it,
#
#     n/(1 + (n − 1)ρ)   for a unit of n rows,
#
# so that a donor of 5,000 cells does not outweigh nineteen donors of 200. Permutations of whole
# units within blocks leave ρ as it is: no label is seen.


MOST_COLUMNS = 200
"""Columns that are looked at, evenly spaced."""


def likeness_of(samples: Samples) -> float:
    """Return ρ of the units of the samples' design, the median over columns that vary.

    By the analysis of variance of ranks, or of the most common level of a category. It is 0 where
    all units have as many rows, which weigh the same then, and where rows have weights, which
    decide instead.
    """
    assert samples.design is not None
    if samples.design.weights is not None:
        return 0.0
    block, unit = _pooled_units(samples.design)
    rows = np.bincount(unit)
    if (rows == rows[0]).all():
        return 0.0
    wide = samples.n_columns > MOST_COLUMNS
    places = np.linspace(0, samples.n_columns - 1, MOST_COLUMNS) if wide else samples.n_columns
    columns = np.asarray(places, dtype=np.intp) if wide else np.arange(samples.n_columns)
    values = np.concatenate([samples.x[:, columns], samples.y[:, columns]])
    numeric = np.array([samples.kinds[column] == "numeric" for column in columns])
    scores = np.empty(values.shape)
    scores[:, numeric] = stats.rankdata(values[:, numeric], axis=0)
    for place in np.flatnonzero(~numeric):
        scores[:, place] = values[:, place] == stats.mode(values[:, place]).mode
    shares = _shares_between(scores, block, unit)
    return float(np.median(shares)) if shares.size else 0.0


def _pooled_units(design: Design) -> tuple[IntArray, IntArray]:
    """Return the block of each unit and the unit of each row, X first, both counted from 0."""
    blocks = np.unique(np.concatenate(design.blocks), return_inverse=True)[1]
    side = np.repeat([0, 1], [units.size for units in design.units])
    named = np.stack([blocks, side, np.concatenate(design.units)])
    units, of_rows = np.unique(named, axis=1, return_inverse=True)
    return units[0], of_rows.ravel()


def _shares_between(scores: FloatArray, block: IntArray, unit: IntArray) -> FloatArray:
    """Return the share of variance between units of a block, of each column that varies there.

    With H blocks, G units of n_g rows and N rows, the mean squares s_b² = Σ n_g(m_g − m_h)²/(G − H)
    and s_w² within units have the expectations σ_w² + n₀σ_b² and σ_w², where
    n₀ = (N − Σ_h Σ_{g∈h} n_g²/N_h)/(G − H).
    """
    rows = np.bincount(unit).astype(np.float64)
    n_units, n_blocks, n_rows = rows.size, int(block.max()) + 1, unit.size
    if n_units == n_blocks or n_rows == n_units:
        return np.zeros(0)
    members = sparse.csr_array(
        (np.ones(n_rows), (unit, np.arange(n_rows))), shape=(n_units, n_rows)
    )
    within_blocks = sparse.csr_array((rows, (block, np.arange(n_units))), shape=(n_blocks, n_units))
    of_blocks = np.bincount(block, rows)
    means = np.asarray(members @ scores) / rows[:, np.newaxis]
    centres = np.asarray(within_blocks @ means) / of_blocks[:, np.newaxis]
    inside = np.square(scores - means[unit]).sum(axis=0) / (n_rows - n_units)
    across = (rows @ np.square(means - centres[block])) / (n_units - n_blocks)
    crowd = (n_rows - (np.bincount(block, rows**2) / of_blocks).sum()) / (n_units - n_blocks)
    between = np.maximum(across - inside, 0.0) / crowd
    varies = between + inside > 0
    return np.asarray(between[varies] / (between + inside)[varies])


# Samples with a design: rows that cannot be tested are counted, and left out or refused.


DROPPING, PAIRWISE = "drop-rows", "pairwise"
# Values that are looked at together, 64 MB.
ENTRIES = 8_000_000
FEWEST_TO_WARN = 8
"""Units of a sample from which on its weights are compared with those of the other."""
# More than the strata that covariates can make.
MOST_STRATA = 1_000_000
MOST_LEFT_OUT = 0.1
"""The share of rows that strata may leave out without a warning."""


def with_labels(
    samples: Samples, labels: Sequence[RowLabels], policy: str, titles: tuple[str, str]
) -> Samples:
    """Return samples with the design that the labels of their rows, as read, give.

    Rows whose label is missing are an error, or left out where rows with missing values are. What
    is missing is not compared: which rows miss a value would have to be permuted by the design
    together with rows that were left out.
    """
    refuse_pairwise(policy)
    if samples.as_read is not None:
        if samples.as_read.pattern.whole_rows:
            complete = samples.as_read.complete()
            labels = [of_rows.rows(rows) for of_rows, rows in zip(labels, complete, strict=True)]
        samples = replace(samples, as_read=None)
    labelled = [of_rows.known() for of_rows in labels]
    gone = [of_rows.n_rows - rows.size for of_rows, rows in zip(labels, labelled, strict=True)]
    if any(gone) and policy != DROPPING:
        raise InputError(
            "covariates and the labels of strata, pairs and clusters must not be missing; got "
            f"{gone[0]} missing in {titles[0]} and {gone[1]} in {titles[1]}; "
            'pass missing="drop-rows" to leave these rows out'
        )
    if any(gone):
        of_x, of_y = samples.dropped_rows
        samples = replace(
            samples.rows(labelled[0], labelled[1]), dropped_rows=(of_x + gone[0], of_y + gone[1])
        )
    x, y = (of_rows.rows(rows) for of_rows, rows in zip(labels, labelled, strict=True))
    if x.covariates is None or y.covariates is None:
        samples = _weighted(replace(samples, design=make_design(x, y)), titles)
        return keep_informative(samples, policy, titles)
    covariates = x.covariates, y.covariates
    strata = None
    if x.clusters is None:
        strata = strata_of(covariates[0].values, covariates[1].values)
    if strata is not None:
        x, y = (_within(own, codes) for own, codes in zip((x, y), strata, strict=True))
        return keep_informative(replace(samples, design=make_design(x, y)), policy, titles)
    design = make_design(x, y)
    inside = [np.flatnonzero(rows) for rows in design.informative()]
    kept = keep_informative(replace(samples, design=design), policy, titles)
    bare = kept.design or design.rows(inside[0], inside[1])
    values = covariates[0].values[inside[0]], covariates[1].values[inside[1]]
    fitted = fit_adjustment(
        values,
        covariates[0].names,
        covariates[0].kinds,
        bare.blocks,
        titles,
        None if x.clusters is None else bare.units,
    )
    return replace(kept, design=replace(bare, adjustment=fitted))


def _within(labels: RowLabels, strata: IntArray) -> RowLabels:
    """Return the labels of rows with strata of covariates, within those that there are."""
    assert labels.covariates is not None
    called = " × ".join((*filter(None, [labels.names.strata]), *labels.covariates.names))
    if labels.strata is not None:
        strata = labels.strata * MOST_STRATA + strata
    return replace(labels, strata=strata, names=replace(labels.names, strata=called))


def _weighted(samples: Samples, titles: tuple[str, str]) -> Samples:
    """Return the samples without rows of weight 0, and warn where weights are not alike in both."""
    design = samples.design
    assert design is not None
    if design.weights is None:
        return samples
    x, y = (np.flatnonzero(own > 0) for own in design.weights)
    gone = samples.n_x - x.size, samples.n_y - y.size
    for rows, title in zip((x, y), titles, strict=True):
        if rows.size < FEWEST_ROWS:
            raise InputError(
                f"weights must be positive for at least {FEWEST_ROWS} rows of each sample; "
                f"got {rows.size} in {title}"
            )
    if any(gone):
        if design.paired is not None:
            raise InputError(
                f"weights must be positive with paired; got {gone[0]} rows of weight 0 in "
                f"{titles[0]} and {gone[1]} in {titles[1]}: leave these pairs out"
            )
        warn_caller(
            f"{gone[0]:,} rows of {titles[0]} and {gone[1]:,} of {titles[1]} have weight 0 and are "
            "not used."
        )
        samples = samples.rows(x, y)
        design = samples.design
        assert design is not None
        assert design.weights is not None
        if len(np.unique(np.concatenate(design.weights))) == 1:
            return replace(samples, design=replace(design, weights=None))
    _warn_of_unlike_weights(design, titles)
    return replace(samples, design=replace(design, weightless=gone))


LEAST_ALIKE = 1e-3
"""The p-value of equal weights below which a warning says that those of X and Y differ."""


def _warn_of_unlike_weights(design: Design, titles: tuple[str, str]) -> None:
    """Warn where the weights of one sample are larger, by Mann and Whitney's test over units."""
    assert design.weights is not None
    if design.n_blocks > 1:
        return  # strata and pairs may well have weights of their own
    means = []
    for weights, units in zip(design.weights, design.units, strict=True):
        _, unit = np.unique(units, return_inverse=True)
        means.append(np.bincount(unit, weights) / np.bincount(unit))
    if min(own.size for own in means) < FEWEST_TO_WARN or np.ptp(np.concatenate(means)) == 0:
        return
    pvalue = float(stats.mannwhitneyu(means[0], means[1], method="asymptotic").pvalue)
    if pvalue < LEAST_ALIKE:
        ratio = float(means[0].mean() / means[1].mean())
        warn_caller(
            f"the weights differ between {titles[0]} and {titles[1]} (mean weight of {titles[0]} "
            f"{ratio:.3g} times that of {titles[1]}, p = {pvalue:.1g}), but the p-value is valid "
            "only where rows are drawn and weighted by one mechanism in both samples. Divide "
            "weights that are scaled to different totals by their mean first; weights that remove "
            "a difference between the samples, as propensity weights do, are not for this test: "
            "adjust for the columns behind them instead."
        )


def refuse_pairwise(policy: str) -> None:
    """Raise where rows with gaps should stay: what is missing is not compared under a design."""
    if policy == PAIRWISE:
        raise InputError(
            "missing must be 'error', 'drop-rows' or 'drop-columns' with strata, paired, "
            f"clusters, adjust or weights; got {PAIRWISE!r}"
        )


def keep_informative(samples: Samples, policy: str, titles: tuple[str, str]) -> Samples:
    """Return the samples without rows whose labels cannot move, or raise where that is an error.

    A stratum with rows of one sample only says nothing of a difference within strata: its rows are
    left out, and the design counts them. Pairs without a partner are an error, unless rows with
    missing values are left out, too.
    """
    design = samples.design
    if design is None:
        return samples
    kept = samples.informative()
    if kept is samples:
        return _checked(samples)
    if design.paired is not None and policy != DROPPING:
        x, y = _alone(design)
        raise InputError(
            f"paired must match every row; {x} keys of {titles[0]} are not in {titles[1]} and {y} "
            f'of {titles[1]} are not in {titles[0]}; pass missing="drop-rows" to leave them out'
        )
    if min(kept.n_x, kept.n_y) < FEWEST_ROWS:
        what = "pairs" if design.paired is not None else "strata"
        raise InputError(
            f"{what} must have rows of both samples, or no label can be permuted; "
            f"all but {kept.n_x} rows of {titles[0]} and {kept.n_y} of {titles[1]} are in one "
            "with rows of one sample only"
        )
    if design.paired is None:
        _warn_of_rows_left_out(samples, kept)
    return _checked(kept)


def _warn_of_rows_left_out(samples: Samples, kept: Samples) -> None:
    """Warn where strata of one sample only hold a large share of the rows."""
    rows, left = samples.n_x + samples.n_y, kept.n_x + kept.n_y
    if rows - left <= MOST_LEFT_OUT * rows:
        return
    assert samples.design is not None
    name = samples.design.strata
    warn_caller(
        f"strata leave out {rows - left:,} of {rows:,} rows: their strata hold rows of one sample "
        f"only; {kept.n_x:,} and {kept.n_y:,} rows are compared. Use wider strata"
        f"{f', such as bands of {name!r}' if name else ''}."
    )


def _checked(samples: Samples) -> Samples:
    """Return the samples, their units weighed, or raise where labels cannot be permuted at all.

    The true labels and their mirror image are not enough. A design that allows every permutation is
    none, unless it has rows to report that were left out.
    """
    design = samples.design
    assert design is not None
    if design.allows_all and not any(design.left_out):
        return replace(samples, design=None)
    n_x, n_y = design.n_units
    if design.paired is None and design.clusters is not None and min(n_x, n_y) < FEWEST_ROWS:
        raise InputError(
            f"clusters must be at least {FEWEST_ROWS} of each sample, for whole clusters are "
            f"permuted; got {n_x} and {n_y}"
        )
    if design.paired is not None and n_x < FEWEST_ROWS:
        raise InputError(f"paired must give at least {FEWEST_ROWS} pairs to swap; got {n_x}")
    samples = _without_fixed_columns(samples, design)
    return replace(samples, design=replace(design, likeness=likeness_of(samples)))


def _without_fixed_columns(samples: Samples, design: Design) -> Samples:
    """Return the samples without columns that are constant within every stratum or pair.

    No permutation of the design changes anything of them: they cannot differ, and whatever is
    computed of them is rounding. Where all columns are so, as of a table paired with itself, they
    stay, and every permutation is a tie.
    """
    _, block = np.unique(np.concatenate(design.blocks), return_inverse=True)
    if block.max() == 0:
        return samples
    order = np.argsort(block, kind="stable")
    starts = np.flatnonzero(np.diff(block[order], prepend=-1))
    varies = np.zeros(samples.n_columns, dtype=np.bool_)
    step = max(ENTRIES // block.size, 1)
    for first in range(0, samples.n_columns, step):
        some = np.arange(first, min(first + step, samples.n_columns))
        pooled = np.concatenate([samples.x[:, some], samples.y[:, some]])[order]
        low, high = (way.reduceat(pooled, starts, axis=0) for way in (np.minimum, np.maximum))
        varies[some] = (low != high).any(axis=0)
    if varies.all() or not varies.any():
        return samples
    fixed = tuple(samples.names[s] for s in np.flatnonzero(~varies))
    notes = samples.notes.with_fixed("strata" if design.paired is None else "pairs", fixed)
    return replace(samples.columns(np.flatnonzero(varies)), notes=notes)


def _alone(design: Design) -> tuple[int, int]:
    """Return how many pairs of X, and of Y, have no partner."""
    x, y = (np.unique(blocks) for blocks in design.blocks)
    return int(np.setdiff1d(x, y).size), int(np.setdiff1d(y, x).size)


def unexplained(samples: Samples) -> Samples:
    """Return the samples with what covariates do not explain of columns of many values.

    Columns of few values, categories and sparse samples stay as they are: what is explained of
    their features is taken out where these are summed. All is the same without covariates.
    """
    design = samples.design
    if design is None or design.adjustment is None:
        return samples
    if not (isinstance(samples.x, np.ndarray) and isinstance(samples.y, np.ndarray)):
        return samples
    numeric = np.array([kind == "numeric" for kind in samples.kinds])
    columns = np.array(
        [
            s
            for s in np.flatnonzero(numeric)
            if np.unique(np.concatenate([samples.x[:, s], samples.y[:, s]])).size > FEW_VALUES
        ],
        dtype=np.intp,
    )
    x, y = samples.x.copy(order="F"), samples.y.copy(order="F")
    step = max(ENTRIES // (samples.n_x + samples.n_y), 1)
    for first in range(0, columns.size, step):
        some = columns[first : first + step]
        x[:, some], y[:, some] = design.adjustment.unexplained(x[:, some], y[:, some])
    return replace(samples, x=x, y=y, shared=None)
