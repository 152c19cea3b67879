"""Covariates that a comparison is adjusted for: the models of labels and of values given them.

Rows are not exchangeable between the samples where covariates W differ. Two models take their
place, both built on one set of functions b(W), the basis: a constant, splines of numbers,
indicators of levels, and products of these for interactions.

- The propensity π(W) = P(a row is of X | W), a penalised logistic regression on b(W). Labels are
  permuted by its odds (`tellapart.permutation.conditional`).
- The regression of every feature of the rows on b(W) and π(W), by least squares: permuted are what
  it leaves. So a feature's mean difference is 0 on average under these permutations, and what the
  propensity misses is taken out as far as the regression finds it: it is enough that one of the two
  models is right.

What the basis has no function for, such as an interaction of three covariates, may be found by
boosted trees: their cross-fitted logit joins the basis where it adds to the propensity.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import special

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.errors import InputError, warn_caller

FEW_VALUES = 12
"""Distinct values of a covariate up to which it may make strata."""
FEWEST_IN_STRATUM = 10
"""Rows of a stratum on average, from which on discrete covariates are strata."""
MOST_ALONE = 0.05
"""The share of rows in strata of one sample only, up to which discrete covariates are strata."""
KNOTS = 5
ROWS_PER_FUNCTION = 5
"""Rows of the smaller sample for each function of the basis, at least."""
FEWEST_OF_LEVEL = 5
"""Rows of a level that has an indicator of its own."""
PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0)
"""Inverse strengths of the penalty of the logistic regression, chosen by cross-validation."""
FOLDS = 5
ADDS = 3.0
"""z of the trees' logit in the propensity model, from which on it joins the basis."""
LEAST_INFORMATION, LEAST_SHARE = 5.0, 0.2
"""Σ π(1 − π) at least, or this share of that without covariates: below, hardly any row could be of
the other sample."""
LITTLE_OVERLAP = 0.25
"""Σ π(1 − π) as a share of that without covariates, below which a warning is given."""
BADLY_CALIBRATED = 0.5
"""The slope of cross-fitted logits, below which a warning is given."""
FAR = 3.0
"""Distances between the quartiles, beyond which a covariate's values are outliers."""
FLAT = 1e-9
NEWTON_STEPS = 30
BALANCED = 1e-8
SEED = 0


@dataclass(frozen=True, eq=False)
class Covariates:
    """Covariates of some rows: numbers, and codes of categories; NaN where missing."""

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    values: FloatArray

    def rows(self, index: IntArray) -> Covariates:
        """Return those of some rows."""
        return replace(self, values=self.values[index])


@dataclass(frozen=True, eq=False)
class Adjustment:
    """The models of the labels and of the values given covariates.

    Attributes
    ----------
    names : tuple of str
        The covariates.
    basis : pair of arrays
        b(W) of every row of X and of Y, without the constant.
    logits : pair of arrays
        log π/(1 − π) of every row.
    slope : float
        By how much the cross-fitted logits should be multiplied to be calibrated: 1 where the model
        is right, less where it follows noise.
    separation : float
        The area under the curve of the cross-fitted propensities: ½ where covariates do not differ.
    found_by_trees : bool
        Whether boosted trees found a difference of the covariates that the basis had not.
    """

    names: tuple[str, ...]
    basis: tuple[FloatArray, FloatArray]
    logits: tuple[FloatArray, FloatArray]
    slope: float = 1.0
    separation: float = 0.5
    found_by_trees: bool = False

    def rows(self, of_x: IntArray, of_y: IntArray) -> Adjustment:
        """Return the models of some rows of each sample."""
        x, y = self.basis
        of_both = self.logits[0][of_x], self.logits[1][of_y]
        return replace(self, basis=(x[of_x], y[of_y]), logits=of_both)

    @property
    def propensities(self) -> tuple[FloatArray, FloatArray]:
        """P(a row is of X | its covariates), of every row of X and of Y."""
        x, y = (special.expit(logits) for logits in self.logits)
        return x, y

    @property
    def overlap_weights(self) -> tuple[FloatArray, FloatArray]:
        """1 − π for rows of X and π for rows of Y, adding up to 1 in each sample."""
        x, y = self.propensities
        return (1 - x) / (1 - x).sum(), y / y.sum()

    @property
    def effective_sizes(self) -> tuple[float, float]:
        """Rows of X and of Y that as many rows of equal weight would be: (Σw)²/Σw²."""
        x, y = (1 / float(np.square(weights).sum()) for weights in self.overlap_weights)
        return x, y

    @cached_property
    def functions(self) -> FloatArray:
        """The functions that values are regressed on: a constant, b(W) and π(W), X first."""
        basis, propensities = np.concatenate(self.basis), np.concatenate(self.propensities)
        return np.column_stack([np.ones(basis.shape[0]), basis, propensities])

    @cached_property
    def _turned(self) -> FloatArray:
        """Q with QᵀQ = I, spanning the constant and b(W)."""
        return np.asarray(np.linalg.qr(self.functions[:, :-1])[0])

    def unexplained(self, of_x: FloatArray, of_y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return values (rows × columns) less their regression on b(W) over the pooled rows."""
        pooled = np.concatenate([of_x, of_y])
        rest = pooled - self._turned @ (self._turned.T @ pooled)
        return rest[: of_x.shape[0]], rest[of_x.shape[0] :]

    @cached_property
    def balanced_weights(self) -> tuple[FloatArray, FloatArray]:
        """The overlap weights, changed as little as makes the means of b(W) the same in both.

        Weights w become ∝ w·exp(γᵀb), with γ such that the mean of b is that of both samples.
        """
        sides = list(zip(self.overlap_weights, self.basis, strict=True))
        middle = np.mean([weights @ basis for weights, basis in sides], axis=0)
        x, y = (_tilted(weights, basis - middle) for weights, basis in sides)
        return x, y

    def describe(self) -> str:
        """Say what labels were permuted by, as a part of a sentence."""
        return f"given {_listed(self.names)}"

    def assumptions(self) -> str:
        """Say what the p-value rests on, and how far that can be seen to hold, in sentences."""
        x, y = self.effective_sizes
        low, high = np.quantile(np.concatenate(self.propensities), [0.025, 0.975])
        text = (
            f"Adjusted for {_listed(self.names)}: labels were permuted by a propensity model, of "
            "columns less their regression on the covariates. The p-value is asymptotic, and valid "
            "if one of the two models is right and no other variable explains both group and "
            "columns: no test of data that are not randomised is valid without such an assumption. "
            f"Overlap: 95 % of propensities lie between {low:.2f} and {high:.2f}; effective sample "
            f"sizes {x:,.0f} and {y:,.0f}; calibration slope {self.slope:.2f} (1 is best)."
        )
        if self.found_by_trees:
            text += " Boosted trees found interactions of the covariates, which the models include."
        return text

    def methods(self) -> str:
        """Say how the comparison was adjusted, for the methods section of a paper."""
        x, y = self.effective_sizes
        n_functions = self.basis[0].shape[1]
        return (
            f"The comparison was adjusted for {_listed(self.names)} by conditional permutations "
            "(Berrett, Wang, Barber and Samworth, 2020): labels were permuted by the odds of a "
            f"penalised logistic regression on {n_functions} functions of the covariates (splines "
            "and products), and features were residualised on the same functions. Effects are "
            "differences between samples weighted by overlap and balanced in these functions "
            f"(effective sample sizes {x:,.0f} and {y:,.0f})."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what is assumed and how far it can be seen to hold, as plain values."""
        of_x, of_y = self.propensities
        return {
            "covariates": list(self.names),
            "model": "propensity and regression",
            "n_functions": int(self.basis[0].shape[1]),
            "found_by_trees": self.found_by_trees,
            "effective_sizes": list(self.effective_sizes),
            "separation": self.separation,
            "calibration_slope": self.slope,
            "propensities": {
                name: np.quantile(own, [0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0]).tolist()
                for name, own in (("first", of_x), ("second", of_y))
            },
        }


def _tilted(weights: FloatArray, functions: FloatArray) -> FloatArray:
    """Return weights ∝ w·exp(γᵀb) that add up to 1, with γ such that the mean of b is 0.

    γ minimises log Σ w exp(γᵀb) + Σw² ‖γ‖²/2, by Newton's method with steps that are halved until
    they help. The second part keeps it finite where no weights give that mean.
    """
    penalty = float(np.square(weights).sum())

    def attempt(slope: FloatArray) -> tuple[float, FloatArray]:
        exponents = functions @ slope
        largest = float(exponents.max(initial=0.0))
        tilted = weights * np.exp(exponents - largest)
        value = largest + math.log(float(tilted.sum())) + penalty * float(slope @ slope) / 2
        return value, tilted / tilted.sum()

    slope = np.zeros(functions.shape[1])
    value, tilted = attempt(slope)
    for _ in range(NEWTON_STEPS):
        mean = tilted @ functions
        gradient = mean + penalty * slope
        if float(np.abs(gradient).max(initial=0.0)) < BALANCED:
            break
        centred = functions - mean
        spread = (centred * tilted[:, np.newaxis]).T @ centred
        spread[np.diag_indices_from(spread)] += penalty
        step = -np.linalg.solve(spread, gradient)
        for halvings in range(10):
            tried, of_tried = attempt(slope + step / 2**halvings)
            if tried < value:
                slope, value, tilted = slope + step / 2**halvings, tried, of_tried
                break
        else:
            break
    return tilted


def _listed(names: tuple[str, ...]) -> str:
    quoted = [repr(name) for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def strata_of(of_x: FloatArray, of_y: FloatArray) -> tuple[IntArray, IntArray] | None:
    """Return the strata that discrete covariates make, by number; None where they are too many.

    >>> import numpy as np
    >>> sex, age = np.repeat([[0.0], [1.0]], 20, axis=0), np.linspace(20, 70, 40)[:, np.newaxis]
    >>> [codes[[0, -1]].tolist() for codes in strata_of(sex, sex)]
    [[0, 1], [0, 1]]
    >>> strata_of(age, age) is None
    True
    """
    pooled = np.concatenate([of_x, of_y])
    if any(np.unique(column).size > FEW_VALUES for column in pooled.T):
        return None
    cells, cell = np.unique(pooled, axis=0, return_inverse=True)
    x, y = np.split(cell.ravel(), [of_x.shape[0]])
    counts = np.stack([np.bincount(side, minlength=len(cells)) for side in (x, y)])
    alone = counts[:, counts.min(axis=0) == 0].sum()
    both = np.count_nonzero(counts.min(axis=0))
    n_rows = pooled.shape[0]
    if alone > MOST_ALONE * n_rows or both == 0 or n_rows - alone < FEWEST_IN_STRATUM * both:
        return None
    return x, y


def fit_adjustment(
    covariates: tuple[FloatArray, FloatArray],
    names: tuple[str, ...],
    kinds: tuple[str, ...],
    blocks: tuple[IntArray, IntArray],
    titles: tuple[str, str],
    units: tuple[IntArray, IntArray] | None = None,
) -> Adjustment:
    """Fit the models of labels given covariates.

    Parameters
    ----------
    covariates : pair of arrays
        The covariates of the rows of X and of Y, rows × covariates, none missing.
    names, kinds : tuples of str
        What they are called, and whether they are "numeric" or the codes of "categorical" ones.
    blocks : pair of arrays
        The strata of the rows, whose indicators are part of the models.
    titles : pair of str
        What messages call the samples.
    units : pair of arrays, or None
        The cluster of every row, all of whose rows have one label: the model is one of clusters,
        by the means of their covariates. None: rows.

    Raises
    ------
    InputError
        Where the covariates separate the samples, so that no row has a counterpart.
    """
    n_x, n_y = (side.shape[0] for side in covariates)
    of_x = np.arange(n_x + n_y) < n_x
    values = np.concatenate(covariates)
    unit, fewest = None, min(n_x, n_y)
    if units is not None:
        apart = np.concatenate([units[0], units[1] + units[0].max() + 1])
        unit = np.unique(apart, return_inverse=True)[1]
        fewest = min(int(np.unique(codes).size) for codes in units)
    basis = _basis(values, kinds, np.concatenate(blocks), fewest)
    grouped, label = _of_units(basis, unit), _of_units(of_x[:, np.newaxis], unit)[:, 0] > 0.5
    logits, crossed = _logistic(grouped, label)
    trees = _trees(_of_units(values, unit), label)
    found = trees is not None and _adds(grouped, logits, trees, label)
    if trees is not None and found:
        grouped = np.column_stack([grouped, trees])
        basis = np.column_stack([basis, trees if unit is None else trees[unit]])
        logits, crossed = _logistic(grouped, label)
    slope = _slope(crossed, label)
    # A model that follows noise gives propensities that are too extreme.
    logits = _recentred(min(max(slope, 0.0), 1.0) * logits, label)
    separation = _area_under_curve(crossed, label)
    of_rows = logits if unit is None else logits[unit]
    _check_overlap(logits, label, names, titles)
    if found:
        warn_caller(
            f"adjust: boosted trees tell the samples apart by {_listed(names)} in ways that "
            "splines and products of two covariates do not: their propensity is part of the "
            "models, but the adjustment is probably incomplete. Strata of these covariates, or "
            "covariates that say the same more simply, are safer."
        )
    if slope < BADLY_CALIBRATED and separation > 0.6:
        warn_caller(
            f"adjust: the propensity model is badly calibrated (slope {slope:.2f} of cross-fitted "
            "logits, 1 where it is right): adjust for fewer covariates, or take more rows."
        )
    return Adjustment(
        names,
        (basis[:n_x], basis[n_x:]),
        (of_rows[:n_x], of_rows[n_x:]),
        slope,
        separation,
        found,
    )


def _of_units(values: FloatArray | BoolArray, unit: IntArray | None) -> FloatArray:
    """Return the means over units, or the rows as they are."""
    if unit is None:
        return np.asarray(values, dtype=np.float64)
    rows = np.bincount(unit)
    return np.stack([np.bincount(unit, column) / rows for column in values.T], axis=1)


def _basis(values: FloatArray, kinds: tuple[str, ...], blocks: IntArray, fewest: int) -> FloatArray:
    """Return functions of the covariates, of mean 0 and variance 1, as many as rows allow.

    First indicators and straight lines, then squares, products of two covariates, splines, and
    products of squares.
    """
    most = max(fewest // ROWS_PER_FUNCTION, 1)
    straight, squares, splines = [], [], []
    for column, kind in zip(values.T, kinds, strict=True):
        levels, counts = np.unique(column, return_counts=True)
        if kind == "categorical" or levels.size <= 2:
            often = levels[counts >= FEWEST_OF_LEVEL]
            dropped = often[np.argmax(counts[counts >= FEWEST_OF_LEVEL])] if often.size else None
            own = [column == level for level in often if level != dropped]
            none = np.zeros((column.size, 0))
            straight.append(_standardised(np.stack(own, axis=1)) if own else none)
            squares.append(none)
            splines.append(none)
            continue
        line = _standardised(_tame(column)[:, np.newaxis])
        straight.append(line)
        squares.append(_standardised(np.square(line)))
        splines.append(_spline(column, min(KNOTS, levels.size - 1)))
    n_rows = values.shape[0]
    strata = np.unique(blocks)[1:]
    every = [_standardised((blocks[:, np.newaxis] == strata).astype(np.float64)), *straight]
    pairs = list(itertools.combinations(range(len(kinds)), 2))
    bent = [np.column_stack(both) for both in zip(straight, squares, strict=True)]
    tiers = [
        squares,
        [_products(straight[s], straight[t]) for s, t in pairs],
        splines,
        [_products(bent[s], bent[t]) for s, t in pairs],
    ]
    size = sum(part.shape[1] for part in every)
    for tier in tiers:
        more = sum(part.shape[1] for part in tier)
        if size + more > most:
            if tier is squares:
                warn_caller(
                    f"adjust: {fewest} rows of the smaller sample allow for straight lines of "
                    "the covariates only; curved effects are not adjusted for. Name fewer "
                    "covariates, or take more rows."
                )
            continue
        every += tier
        size += more
    return _independent(np.column_stack([np.zeros((n_rows, 0)), *every]))


def _tame(column: FloatArray) -> FloatArray:
    """Return a covariate without far outliers, which would decide the fit alone."""
    low, high = np.quantile(column, [0.25, 0.75])
    margin = FAR * (high - low)
    return np.asarray(np.clip(column, low - margin, high + margin)) if margin > 0 else column


def _spline(column: FloatArray, n_knots: int) -> FloatArray:
    from sklearn.preprocessing import SplineTransformer

    if n_knots < 3:
        return np.zeros((column.size, 0))
    maker = SplineTransformer(n_knots, degree=3, knots="quantile", extrapolation="linear")
    with np.errstate(all="ignore"):
        return _standardised(maker.fit_transform(_tame(column)[:, np.newaxis])[:, 1:])


def _products(left: FloatArray, right: FloatArray) -> FloatArray:
    both = left[:, :, np.newaxis] * right[:, np.newaxis, :]
    return _standardised(both.reshape(left.shape[0], -1))


def _standardised(values: FloatArray | BoolArray) -> FloatArray:
    """Return columns of mean 0 and variance 1, without constant ones."""
    floats = np.asarray(values, dtype=np.float64)
    deviation = floats.std(axis=0)
    varies = deviation > FLAT * np.maximum(np.abs(floats).max(axis=0, initial=0.0), FLAT)
    return np.asarray((floats[:, varies] - floats[:, varies].mean(axis=0)) / deviation[varies])


def _independent(basis: FloatArray) -> FloatArray:
    """Return the columns that are no combination of earlier ones."""
    if basis.shape[1] == 0:
        return basis
    upper = np.asarray(np.linalg.qr(basis)[1])
    diagonal = np.zeros(basis.shape[1])
    diagonal[: upper.shape[0]] = np.abs(np.diag(upper))
    return np.asarray(basis[:, diagonal > 1e-6 * math.sqrt(basis.shape[0])])


def _logistic(basis: FloatArray, label: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Return the logits of a penalised logistic regression, and the same by cross-fitting."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold

    if basis.shape[1] == 0:
        level = math.log(label.mean() / (1 - label.mean()))
        constant = np.full(label.size, level)
        return constant, constant
    n_folds = min(FOLDS, int(label.sum()), int((~label).sum()))
    folds = list(StratifiedKFold(n_folds, shuffle=True, random_state=SEED).split(basis, label))
    best, crossed = math.inf, np.zeros(label.size)
    chosen = PENALTIES[0]
    for penalty in PENALTIES:
        logits = np.empty(label.size)
        for train, test in folds:
            model = LogisticRegression(C=penalty, max_iter=300).fit(basis[train], label[train])
            logits[test] = model.decision_function(basis[test])
        loss = float(np.logaddexp(0.0, np.where(label, -logits, logits)).mean())
        if loss < best:
            best, crossed, chosen = loss, logits, penalty
    model = LogisticRegression(C=chosen, max_iter=500).fit(basis, label)
    return np.asarray(model.decision_function(basis)), crossed


def _trees(values: FloatArray, label: BoolArray) -> FloatArray | None:
    """Return the cross-fitted logits of boosted trees; None where rows are too few for them."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import StratifiedKFold

    if min(label.sum(), (~label).sum()) < 100 or values.shape[1] < 2:
        return None
    logits = np.empty(label.size)
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(values, label):
        model = HistGradientBoostingClassifier(
            max_iter=60, learning_rate=0.1, max_leaf_nodes=8, min_samples_leaf=20,
            early_stopping=False, random_state=SEED,
        )  # fmt: skip
        logits[test] = model.fit(values[train], label[train]).decision_function(values[test])
    return (
        _standardised(np.clip(logits, -6, 6)[:, np.newaxis])[:, 0] if np.ptp(logits) > 0 else None
    )


def _adds(basis: FloatArray, logits: FloatArray, trees: FloatArray, label: BoolArray) -> bool:
    """Return whether the trees' logit adds to the propensity model: a score test."""
    propensity = special.expit(logits)
    variance = propensity * (1 - propensity)
    functions = np.column_stack([np.ones(label.size), basis])
    weighted = functions * variance[:, np.newaxis]
    slope = np.linalg.lstsq(weighted.T @ functions, weighted.T @ trees, rcond=None)[0]
    rest = trees - functions @ slope
    error = math.sqrt(float(variance @ np.square(rest)))
    return bool(error > 0 and float((label - propensity) @ rest) / error > ADDS)


def _slope(logits: FloatArray, label: BoolArray) -> float:
    """Return the slope of a logistic regression of the labels on logits."""
    centred = logits - logits.mean()
    if float(np.abs(centred).max()) < FLAT:
        return 1.0
    level, slope = math.log(label.mean() / (1 - label.mean())), 0.0
    for _ in range(25):
        chance = special.expit(level + slope * centred)
        variance = chance * (1 - chance)
        information = np.array(
            [[variance.sum(), variance @ centred], [variance @ centred, variance @ centred**2]]
        )
        information += 1e-9 * np.eye(2)
        step = np.linalg.solve(
            information, np.array([(label - chance).sum(), (label - chance) @ centred])
        )
        level, slope = level + step[0], min(max(slope + step[1], -5.0), 5.0)
        if float(np.abs(step).max()) < 1e-8:
            break
    return float(slope)


def _recentred(logits: FloatArray, label: BoolArray) -> FloatArray:
    """Return logits plus a constant, such that the propensities add up to the rows of X."""
    low, high = -50.0 - float(logits.max()), 50.0 - float(logits.min())
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if special.expit(logits + middle).sum() < label.sum() else (low, middle)
        )
    return np.asarray(logits + (low + high) / 2)


def _area_under_curve(logits: FloatArray, label: BoolArray) -> float:
    from scipy import stats

    ranks = stats.rankdata(logits)
    n_x, n_y = int(label.sum()), int((~label).sum())
    return float((ranks[label].sum() - n_x * (n_x + 1) / 2) / (n_x * n_y))


def _check_overlap(
    logits: FloatArray, label: BoolArray, names: tuple[str, ...], titles: tuple[str, str]
) -> None:
    """Raise where hardly any row could be of the other sample, warn where few could."""
    propensity = special.expit(logits)
    information = float((propensity * (1 - propensity)).sum())
    whole = float(label.mean() * (1 - label.mean()) * label.size)
    covariates = _listed(names)
    if information < min(LEAST_INFORMATION, LEAST_SHARE * whole):
        raise InputError(
            f"adjust must name covariates in which the samples overlap; by {covariates} alone "
            f"nearly every row can be told to be of {titles[0]} or of {titles[1]}, so that there "
            "is nothing to compare at equal covariates: leave some out, or compare other rows"
        )
    if information < LITTLE_OVERLAP * whole:
        warn_caller(
            f"adjust: {titles[0]} and {titles[1]} overlap little in {covariates}: the comparison "
            f"has the information of {information / whole:.0%} of the rows."
        )
