"""Tables with effects that are named: shifts, ratios of spreads, changes of correlation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtr
from scipy.stats import t as student

from tellapart.arguments import check_choice, check_integer, check_number
from tellapart.arrays import FloatArray
from tellapart.errors import InputError
from tellapart.planning.resampling import RowSource

EFFECTS = ("location", "spread", "correlation")
NO_EFFECT = {"location": 0.0, "spread": 1.0, "correlation": 0.0}
HEAVY_FREEDOM = 3


def _heavy(z: FloatArray) -> FloatArray:
    return np.asarray(student.ppf(ndtr(z), HEAVY_FREEDOM) / np.sqrt(HEAVY_FREEDOM))


def _skewed(z: FloatArray) -> FloatArray:
    return np.asarray(-np.log(ndtr(-z)) - 1)


def _uniform(z: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(12) * (ndtr(z) - 0.5))


DISTRIBUTIONS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "normal": np.asarray,
    "heavy-tailed": _heavy,
    "skewed": _skewed,
    "uniform": _uniform,
}
"""Of every column, with mean 0 and standard deviation 1: t with 3 degrees, exponential, …"""


def check_effects(effects: object) -> dict[str, float]:
    """Return the sizes of the effects named, checked; at least one must be an effect."""
    if not isinstance(effects, Mapping) or not effects:
        raise InputError(
            "effects must be a mapping from 'location', 'spread' or 'correlation' to a size, such "
            f"as {{'location': 0.5}}; got {effects!r}"
        )
    sizes: dict[str, float] = {}
    for kind, size in effects.items():
        check_choice("effects", kind, EFFECTS)
        low = {"spread": 0.0, "correlation": -2.0}.get(kind, -np.inf)
        high = 2.0 if kind == "correlation" else np.inf
        name = f"effects[{kind!r}]"
        sizes[kind] = check_number(name, size, low, high, open_low=kind != "location")
    if all(size == NO_EFFECT[kind] for kind, size in sizes.items()):
        raise InputError(f"effects must name a difference; got {dict(effects)!r}, which is none")
    return sizes


@dataclass(frozen=True)
class NamedEffects:
    """Two populations of normal, heavy-tailed, skewed or uniform columns that differ as named.

    All columns have standard deviation 1 and the same correlation. In the second sample the first
    `n_differing` columns are multiplied by the ratio of spreads and shifted by as many spreads, and
    as many pairs of columns, the first with the second and so on, have another correlation (of the
    normal scores).

    Parameters
    ----------
    sizes : mapping
        "location": shift in spreads; "spread": ratio of the standard deviations; "correlation":
        difference of the correlations.
    n_columns, n_differing : int
        Columns, and those (or pairs) that differ.
    distribution : str
        Of every column: "normal", "heavy-tailed" (t, 3 degrees), "skewed" (exponential), "uniform".
    correlation : float
        Of every two columns.
    """

    sizes: Mapping[str, float]
    n_columns: int
    n_differing: int = 1
    distribution: str = "normal"
    correlation: float = 0.0
    _roots: tuple[FloatArray, FloatArray] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_integer("n_columns", self.n_columns, 1)
        pairs = self.sizes.get("correlation", 0.0) != 0
        most = self.n_columns // 2 if pairs else self.n_columns
        if pairs and most == 0:
            raise InputError("n_columns must be at least 2 for an effect on correlation; got 1")
        check_integer("n_differing", self.n_differing, 1, most)
        check_choice("distribution", self.distribution, DISTRIBUTIONS)
        check_number("correlation", self.correlation, -1.0, 1.0, open_low=True, open_high=True)
        same = np.full((self.n_columns, self.n_columns), float(self.correlation))
        np.fill_diagonal(same, 1.0)
        changed = same.copy()
        first = 2 * np.arange(self.n_differing) if pairs else np.arange(0)
        changed[first, first + 1] += self.sizes.get("correlation", 0.0)
        changed[first + 1, first] = changed[first, first + 1]
        object.__setattr__(self, "_roots", (_root(same), _root(changed)))

    @property
    def description(self) -> str:
        """What is simulated, in a sentence."""
        columns = "column" if self.n_columns == 1 else "columns"
        dependence = "independent"
        if self.correlation != 0:
            dependence = f"with correlations of {self.correlation:g}"
        what = "pair" if self.sizes.get("correlation") else "column"
        return (
            f"Simulated: {self.n_columns} {self.distribution} {columns}, {dependence}; "
            f"{self.n_differing} {what if self.n_differing == 1 else what + 's'} "
            f"{_worded(self.sizes)}."
        )

    def draw(self, n_x: int, n_y: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return tables of so many rows."""
        shape = DISTRIBUTIONS[self.distribution]
        x, y = (
            shape(rng.normal(size=(rows, self.n_columns)) @ root.T)
            for rows, root in zip((n_x, n_y), self._roots, strict=True)
        )
        differing = slice(0, self.n_differing)
        y[:, differing] *= self.sizes.get("spread", 1.0)
        y[:, differing] += self.sizes.get("location", 0.0)
        return x, y


@dataclass(frozen=True)
class EffectsOnRows:
    """Rows drawn from a table for both samples; columns drawn at random differ as named.

    Shifts are in standard deviations of the column, spreads change around its mean.
    """

    source: RowSource
    sizes: Mapping[str, float]
    n_differing: int = 1

    def __post_init__(self) -> None:
        if self.sizes.get("correlation", 0.0) != 0:
            raise InputError(
                "effects on the rows of X must be on 'location' or 'spread': to change a "
                "correlation leave X out and give n_columns; got 'correlation'"
            )
        numeric = self.source.numeric.size
        if numeric == 0:
            raise InputError("X must have a numeric column that varies for a shift or a spread")
        check_integer("n_differing", self.n_differing, 1, numeric)

    @property
    def description(self) -> str:
        """What is simulated, in a sentence."""
        return (
            f"Rows drawn from the {self.source.n_x:,} of X, {self.n_differing} of "
            f"{self.source.numeric.size} numeric columns {_worded(self.sizes)}."
        )

    def draw(self, n_x: int, n_y: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return tables of so many rows."""
        x, y = self.source.draw(n_x, n_y, 0.0, rng)
        where = rng.choice(self.source.numeric, self.n_differing, replace=False)
        means, spreads = self.source.means[where], self.source.spreads[where]
        y[:, where] = means + self.sizes.get("spread", 1.0) * (y[:, where] - means)
        y[:, where] += self.sizes.get("location", 0.0) * spreads
        return x, y


def _root(correlation: FloatArray) -> FloatArray:
    """Return a matrix R with R Rᵀ the correlations, which must be possible together."""
    values, vectors = np.linalg.eigh(correlation)
    if values[0] < -1e-9:
        raise InputError(
            "correlation and effects['correlation'] must be possible together for so many "
            f"columns; the matrix of correlations has an eigenvalue of {values[0]:.3g}"
        )
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _worded(sizes: Mapping[str, float]) -> str:
    words = {
        "location": "shifted by {:g} spreads",
        "spread": "{:g} times as spread out",
        "correlation": "with a correlation that differs by {:g}",
    }
    return " and ".join(words[kind].format(size) for kind, size in sizes.items())
