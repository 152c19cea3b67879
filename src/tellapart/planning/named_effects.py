"""Tables with effects that are named: shifts, ratios of spreads, changes of correlation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtr
from scipy.stats import t as student

from tellapart.arguments import check_choice, check_integer, check_number
from tellapart.arrays import FloatArray, IntArray
from tellapart.errors import InputError
from tellapart.planning.simulation import Drawn, RowSource, TiltedColumn, latent_ranks, reach, tilt

EFFECTS = ("location", "spread", "correlation")
MARGINS = {"location": 0.0, "spread": 1.0}
"""Effects on single columns, with the size at which there is none."""
NO_EFFECT = MARGINS | {"correlation": 0.0}
HEAVY_FREEDOM = 3
# A mean or SD this close to the end of its range would leave a single value with all probability.
EDGE = 1e-6
MOST_LISTED = 5


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

    def draw(self, n_x: int, n_y: int, rng: np.random.Generator) -> Drawn:
        """Return tables of so many rows, and the columns and pairs that differ."""
        shape = DISTRIBUTIONS[self.distribution]
        x, y = (
            shape(rng.normal(size=(rows, self.n_columns)) @ root.T)
            for rows, root in zip((n_x, n_y), self._roots, strict=True)
        )
        differing = slice(0, self.n_differing)
        y[:, differing] *= self.sizes.get("spread", 1.0)
        y[:, differing] += self.sizes.get("location", 0.0)
        changed: list[tuple[int, ...]] = []
        if any(self.sizes.get(kind, none) != none for kind, none in MARGINS.items()):
            changed += [(j,) for j in range(self.n_differing)]
        if self.sizes.get("correlation", 0.0) != 0:
            changed += [(2 * j, 2 * j + 1) for j in range(self.n_differing)]
        return Drawn(x, y, tuple(changed))


@dataclass(frozen=True)
class EffectsOnRows:
    """Rows drawn from a table for both samples; columns drawn at random differ as named.

    Continuous columns are shifted by so many of their standard deviations, and stretched around
    their mean. Columns whose values repeat (flags, scores, counts, categories) keep their values,
    and the probabilities of these change: see `TiltedColumn`. Columns whose values do not allow
    the effects are not drawn.
    """

    source: RowSource
    sizes: Mapping[str, float]
    n_differing: int = 1
    tilted: Mapping[int, TiltedColumn] = field(init=False, repr=False, compare=False)
    ranks: Mapping[int, IntArray] = field(init=False, repr=False, compare=False)
    """Of the rows of the source, in the columns that are tilted; see `latent_ranks`."""
    able: IntArray = field(init=False, repr=False, compare=False)
    """Columns that can differ as named."""

    def __post_init__(self) -> None:
        if self.sizes.get("correlation", 0.0) != 0:
            raise InputError(
                "effects on the rows of X must be on 'location' or 'spread': to change a "
                "correlation leave X out and give n_columns; got 'correlation'"
            )
        tilted: dict[int, TiltedColumn] = {}
        able: list[int] = []
        beyond: dict[str, str] = {}
        for j in range(self.source.pool.shape[1]):
            values, counts = np.unique(self.source.pool[:, j], return_counts=True)
            if values.size < 2:
                continue
            if not self.source.continuous[j]:
                column, why_not = self._tilted(values, counts, self.source.kinds[j])
                if column is None:
                    beyond[self.source.names[j]] = why_not
                    continue
                tilted[j] = column
            able.append(j)
        object.__setattr__(self, "tilted", tilted)
        object.__setattr__(self, "ranks", latent_ranks(self.source.pool, tilted))
        object.__setattr__(self, "able", np.array(able, dtype=np.intp))
        if not able and not beyond:
            raise InputError("X must have a column that varies for a shift or a spread")
        if len(able) < self.n_differing and beyond:
            listed = "; ".join(f"{name!r}: {why}" for name, why in [*beyond.items()][:MOST_LISTED])
            more = "; …" if len(beyond) > MOST_LISTED else ""
            raise InputError(
                f"effects must be possible with the values that occur in {self.n_differing} of the "
                f"columns of X; got {dict(self.sizes)!r}, which {len(able)} columns allow "
                f"({listed}{more})"
            )
        check_integer("n_differing", self.n_differing, 1, len(able))

    def _tilted(
        self, values: FloatArray, counts: IntArray, kind: str
    ) -> tuple[TiltedColumn | None, str]:
        """Return the column that differs as named, or None and the largest effects it allows."""
        location, spread = self.sizes.get("location", 0.0), self.sizes.get("spread", 1.0)
        wants_spread = spread != 1.0
        before = counts / counts.sum()
        scores = values
        if kind == "categorical":
            if wants_spread:
                return None, "categories have no spread"
            if values.size > 2:
                order = np.argsort(counts, kind="stable")
                values, before = values[order], before[order]
            scores = np.zeros(values.size)
            scores[-1] = 1.0
        shifts, ratios = reach(scores, before, location, wants_spread)
        if not shifts[0] + EDGE < location < shifts[1] - EDGE:
            return None, f"location from {shifts[0]:.3g} to {shifts[1]:.3g} SD"
        if not ratios[0] * (1 + EDGE) < spread < ratios[1] * (1 - EDGE):
            if values.size == 2:
                return None, "two values have no spread apart from their mean"
            return None, f"spread from {ratios[0]:.3g} to {ratios[1]:.3g}"
        after = tilt(scores, before, location, spread if wants_spread else None)
        return TiltedColumn(values, before, after), ""

    @property
    def description(self) -> str:
        """What is simulated, in a sentence."""
        columns = int(np.sum(np.ptp(self.source.pool, axis=0) > 0))
        left_out = columns - self.able.size
        beyond = "" if left_out == 0 else f" ({left_out} others do not allow that)"
        return (
            f"Rows drawn from the {self.source.n_x:,} of X, {self.n_differing} of "
            f"{self.able.size} columns{beyond} {_worded(self.sizes)}."
        )

    def draw(self, n_x: int, n_y: int, rng: np.random.Generator) -> Drawn:
        """Return tables of so many rows, and the columns that differ."""
        rows = self.source.pool.shape[0]
        (x, _), (y, drawn) = (
            self.source.draw_rows(count, 0.0, (0, rows), rng) for count in (n_x, n_y)
        )
        chosen = np.sort(rng.choice(self.able, self.n_differing, replace=False))
        where = np.array([j for j in chosen if j not in self.tilted], dtype=np.intp)
        means, spreads = self.source.means[where], self.source.spreads[where]
        y[:, where] = means + self.sizes.get("spread", 1.0) * (y[:, where] - means)
        y[:, where] += self.sizes.get("location", 0.0) * spreads
        for j in chosen.tolist():
            if j in self.tilted:
                ranks = self.ranks[j][drawn] + rng.random(n_y)
                y[:, j] = self.tilted[j].at(ranks / rows)
        return Drawn(x, y, tuple((j,) for j in chosen.tolist()))


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
        "location": "with means that differ by {:g} SD",
        "spread": "with an SD ratio of {:g}",
        "correlation": "with a correlation that differs by {:g}",
    }
    return " and ".join(words[kind].format(size) for kind, size in sizes.items())
