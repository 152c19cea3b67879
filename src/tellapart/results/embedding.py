"""The selected variables in two dimensions, with the witness function as a field behind the rows.

The held-out rows are drawn in the scale the test sees: every selected variable divided by its
robust SD and multiplied by its weight. One or two numeric variables need no projection and keep
their units. More are projected by PCA, and the field is the witness function f̂ on the plane
through the mean; or by t-SNE, where no point of the map stands for a row of its own, so that the
field can only be interpolated from the rows around it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

from tellapart.arguments import check_choice, check_integer, check_random_state
from tellapart.arrays import FloatArray, IntArray
from tellapart.budget import current_budget
from tellapart.data.samples import Samples
from tellapart.errors import InputError
from tellapart.statistics.witness import mean_difference

if TYPE_CHECKING:
    from tellapart.results.result import TestResult

METHODS = ("pca", "t-sne")
GRID = 48
"""Points of the field along each side."""
WITNESS_ROWS = 1_000
"""Held-out rows of each sample that the witness function of the field is computed from."""
NEIGHBOURS = 10
TAIL = 0.02
"""Share of the rows on each side that may be left outside the frame, if they are far."""
FAR = 5.0
"""Robust SDs at which values are winsorised: a few rows do not turn the plane."""
MARGIN = 0.06
JITTER = 0.015


@dataclass(frozen=True)
class Embedding:
    """Held-out rows of both samples in two dimensions, and f̂ on a grid behind them.

    Attributes
    ----------
    method : "variables", "pca" or "t-sne"
        How the two dimensions were computed; "variables" are one or two columns as they are.
    x, y : arrays of shape (k, 2)
        Positions of the rows shown.
    witness_x, witness_y : arrays of length k
        f̂ at those rows themselves, positive where X prevails.
    across, up : arrays of length g
        Coordinates of the grid.
    field : array of shape (g, g)
        f̂ on the grid, rows going up; NaN where there is nothing to interpolate from.
    axes : pair of str
        What the two dimensions are.
    explained : float or None
        Share of the variance that the plane of a PCA holds.
    jittered : bool
        Whether rows at equal positions were jittered.
    """

    method: str
    x: FloatArray
    y: FloatArray
    witness_x: FloatArray
    witness_y: FloatArray
    across: FloatArray
    up: FloatArray
    field: FloatArray
    axes: tuple[str, str]
    explained: float | None
    jittered: bool

    @property
    def outside(self) -> int:
        """Rows too far away to be inside the frame of the grid."""
        positions = np.vstack([self.x, self.y])
        low, high = (self.across[0], self.up[0]), (self.across[-1], self.up[-1])
        return int(np.count_nonzero(np.any((positions < low) | (positions > high), axis=1)))

    @property
    def own_side(self) -> tuple[int, int]:
        """Rows of X and of Y that lie where their own sample prevails."""
        x, y = np.count_nonzero(self.witness_x > 0), np.count_nonzero(self.witness_y < 0)
        return int(x), int(y)


@dataclass(frozen=True)
class Coding:
    """Selected columns as features of comparable size, and back.

    A numeric column becomes (value − centre) · factor, a categorical one an indicator per level
    times factor/√2, so that two different levels are `factor` apart. `limits` are `FAR`
    robust SDs.
    """

    centres: tuple[float, ...]
    factors: tuple[float, ...]
    limits: tuple[float, ...]
    levels: tuple[FloatArray, ...]

    @classmethod
    def of(cls, samples: Samples, rows: FloatArray, z: FloatArray) -> Coding:
        """Return the coding of these rows: every column divided by its robust SD, times weight."""
        centres, factors, levels = [], [], []
        most_levels = current_budget().embedded_levels
        for kind, values, weight in zip(samples.kinds, rows.T, np.abs(z).tolist(), strict=True):
            if kind == "categorical":
                codes, counts = np.unique(values, return_counts=True)
                levels.append(codes[np.argsort(-counts, kind="stable")][:most_levels])
                centres.append(0.0)
                factors.append(weight)
            else:
                levels.append(np.zeros(0))
                centres.append(float(np.median(values)))
                factors.append(weight / _robust_deviation(values))
        limits = FAR * np.abs(z)
        return cls(tuple(centres), tuple(factors), tuple(limits.tolist()), tuple(levels))

    @property
    def numeric(self) -> bool:
        """Whether no column is categorical."""
        return all(levels.size == 0 for levels in self.levels)

    def encode(self, rows: FloatArray) -> FloatArray:
        """Return features (k × p) of rows."""
        parts = []
        for values, centre, factor, levels in zip(
            rows.T, self.centres, self.factors, self.levels, strict=True
        ):
            if levels.size:
                parts.append((values[:, None] == levels) * (factor / np.sqrt(2.0)))
            else:
                parts.append(((values - centre) * factor)[:, None])
        return np.hstack(parts)

    def clip(self, features: FloatArray) -> FloatArray:
        """Return features with no numeric value farther than `FAR` robust SDs from the median."""
        limits = [
            limit
            for limit, levels in zip(self.limits, self.levels, strict=True)
            for _ in range(max(levels.size, 1))
        ]
        return np.clip(features, -np.asarray(limits), limits)

    def decode(self, features: FloatArray) -> FloatArray:
        """Return rows from features; a category is the nearest level."""
        columns, start = [], 0
        for centre, factor, levels in zip(self.centres, self.factors, self.levels, strict=True):
            stop = start + max(levels.size, 1)
            part = features[:, start:stop]
            nearest = part.argmax(axis=1)
            columns.append(levels[nearest] if levels.size else part[:, 0] / factor + centre)
            start = stop
        return np.column_stack(columns)


def compute_embedding(
    result: TestResult,
    method: str = "pca",
    *,
    n_points: int = 1_000,
    random_state: int | np.random.Generator | None = 0,
) -> Embedding:
    """Place the held-out rows in two dimensions of the selected variables.

    Parameters
    ----------
    result : TestResult
        A result with a kernel, which the witness function needs.
    method : "pca" or "t-sne"
        PCA is quick and exact about distances in its plane; t-SNE keeps neighbours together
        and nothing else. One or two numeric variables are shown as they are by "pca".
    n_points : int
        Rows shown at most, half of them of each sample.
    random_state : int, numpy Generator or None
        Seeds the draw of the rows, and t-SNE.

    Returns
    -------
    Embedding

    Examples
    --------
    >>> import numpy as np, tellapart as ta
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(60, 4)), rng.normal(size=(80, 4)) + [0, 3, 2, 1]
    >>> result = ta.two_sample_test(X, Y, method="split", n_variables=3, random_state=0)
    >>> shown = compute_embedding(result)
    >>> shown.method, shown.x.shape, shown.field.shape
    ('pca', (30, 2), (48, 48))
    """
    check_choice("method", method, METHODS)
    half = check_integer("n_points", n_points, 4) // 2
    rng = check_random_state(random_state)
    if result.kernel is None:
        raise InputError("an embedding needs the kernel of a test, which this result does not have")
    used = result.selection.support
    kernel, z = result.kernel.columns(used), result.selection.z[used]
    shown = _some_rows(result.held_out, half, used, rng)
    basis = _some_rows(result.held_out, WITNESS_ROWS, used, rng)
    rows = np.vstack([shown.x, shown.y])
    coding = Coding.of(shown, rows, z)
    features = coding.encode(rows)
    values = mean_difference(kernel, basis, z, rows)
    if method == "t-sne":
        positions = _tsne(features, rng)
        frame = _frame(positions)
        field = _interpolated(positions, values, *frame)
        axes, explained, moved = ("t-SNE 1", "t-SNE 2"), None, False
    else:
        plane = _plane(coding, features, shown.names)
        positions, moved = _jittered(plane.positions(features), plane.flat, rng)
        frame = _frame(positions)
        field = mean_difference(kernel, basis, z, coding.decode(plane.back(*frame)))
        field = field.reshape(GRID, GRID)
        axes, explained, method = plane.axes, plane.explained, plane.method
    m = shown.n_x
    return Embedding(
        method=method,
        x=positions[:m],
        y=positions[m:],
        witness_x=values[:m],
        witness_y=values[m:],
        across=frame[0],
        up=frame[1],
        field=field,
        axes=axes,
        explained=explained,
        jittered=moved,
    )


@dataclass(frozen=True)
class _Plane:
    """A plane in the space of features: position = (feature − origin)·directionsᵀ·scale + shift."""

    origin: FloatArray
    directions: FloatArray
    scale: FloatArray
    shift: FloatArray
    axes: tuple[str, str]
    method: str
    explained: float | None
    flat: bool

    def positions(self, features: FloatArray) -> FloatArray:
        return (features - self.origin) @ self.directions.T * self.scale + self.shift

    def back(self, across: FloatArray, up: FloatArray) -> FloatArray:
        """Return the features at the points of a grid, row by row."""
        grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
        return (grid - self.shift) / self.scale @ self.directions + self.origin


def _plane(coding: Coding, features: FloatArray, names: tuple[str, ...]) -> _Plane:
    width = features.shape[1]
    if coding.numeric and width <= 2:
        # No projection: undo the scaling, so that the axes carry the units of the data.
        directions = np.eye(2, width)
        scale, shift = np.ones(2), np.zeros(2)
        scale[:width] = 1.0 / np.asarray(coding.factors)
        shift[:width] = coding.centres
        axes = (names[0], names[1] if width == 2 else "apart at random")
        return _Plane(
            np.zeros(width), directions, scale, shift, axes, "variables", None, width == 1
        )
    # scikit-learn takes a second to load: only those who look at a projection wait for it.
    from sklearn.decomposition import PCA

    near = coding.clip(features)
    # Where no row differs from another, the shares of variance are 0/0: a point holds all.
    with np.errstate(invalid="ignore"):
        fitted = PCA(min(2, *near.shape), svd_solver="full").fit(near)
    directions = np.zeros((2, width))
    directions[: fitted.n_components_] = fitted.components_
    # A principal component has no sign of its own: the largest entry is made positive.
    for direction in directions:
        if direction[np.abs(direction).argmax()] < 0:
            direction *= -1.0
    explained = min(float(np.nan_to_num(fitted.explained_variance_ratio_, nan=1.0).sum()), 1.0)
    singular = fitted.singular_values_
    flat = singular.size < 2 or bool(singular[1] <= 1e-9 * max(singular[0], 1e-300))
    if flat:
        directions[1] = 0.0
    axes = ("first principal component", "apart at random" if flat else "second component")
    return _Plane(fitted.mean_, directions, np.ones(2), np.zeros(2), axes, "pca", explained, flat)


def _some_rows(samples: Samples, most: int, columns: IntArray, rng: np.random.Generator) -> Samples:
    """Return some columns of at most `most` rows of each sample, drawn at random, as matrices."""
    # Rows first: of a sparse sample only what is drawn is made dense.
    drawn = samples.draw(most, rng)
    return replace(drawn.columns(columns), x=drawn.x[:, columns], y=drawn.y[:, columns])


def _robust_deviation(values: FloatArray) -> float:
    """Return half the width of the middle two thirds, the standard deviation of a bell curve.

    Ties may leave nothing between: then the standard deviation itself, or 1.
    """
    low, high = np.quantile(values, [0.159, 0.841])
    return float((high - low) / 2 or values.std() or 1.0)


def _jittered(
    positions: FloatArray, flat: bool, rng: np.random.Generator
) -> tuple[FloatArray, bool]:
    """Jitter rows along an axis without meaning, and rows at equal positions."""
    moved = positions.copy()
    if flat:
        moved[:, 1] = rng.uniform(-1.0, 1.0, size=len(positions))
        return moved, False
    distinct = np.unique(np.round(positions, 12), axis=0).shape[0]
    if distinct > len(positions) // 2:
        return moved, False
    moved += JITTER * np.ptp(positions, axis=0) * rng.normal(size=positions.shape)
    return moved, True


def _frame(positions: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the coordinates of the grid: all rows but a few far ones, and a margin."""
    low, high = np.quantile(positions, [TAIL, 1.0 - TAIL], axis=0)
    # Twice the width of nearly all rows holds all of a bell curve.
    room = (high - low) / 2
    low = np.maximum(positions.min(axis=0), low - room)
    high = np.minimum(positions.max(axis=0), high + room)
    margin = MARGIN * np.where(high > low, high - low, 1.0)
    low, high = low - margin, high + margin
    return np.linspace(low[0], high[0], GRID), np.linspace(low[1], high[1], GRID)


def _tsne(features: FloatArray, rng: np.random.Generator) -> FloatArray:
    from sklearn.manifold import TSNE

    perplexity = min(30.0, (len(features) - 1) / 3)
    start = features if features.shape[1] > 1 else np.c_[features, np.zeros(len(features))]
    model = TSNE(perplexity=perplexity, init="pca", random_state=int(rng.integers(2**31)), n_jobs=1)
    # Threads that wait for each other on a busy machine take ten times as long as one.
    with threadpool_limits(limits=1):
        return np.asarray(model.fit_transform(start), dtype=np.float64)


def _interpolated(
    positions: FloatArray, values: FloatArray, across: FloatArray, up: FloatArray
) -> FloatArray:
    """Return the mean of the nearest rows' values, nearer ones counting more; NaN far from all."""
    from sklearn.neighbors import KNeighborsRegressor

    nearest = KNeighborsRegressor(min(NEIGHBOURS, len(positions))).fit(positions, values)
    # The typical distance between rows keeps the weights finite and defines what is far.
    typical = float(np.median(nearest.kneighbors(positions)[0][:, -1])) or 1.0
    nearest.set_params(weights=lambda distances: 1.0 / (distances + 0.1 * typical) ** 2)
    grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    field = nearest.predict(grid)
    field[nearest.kneighbors(grid, 1)[0][:, 0] > 2.0 * typical] = np.nan
    return np.asarray(field.reshape(GRID, GRID))
