"""The fifty continuous studies of the R package MD2sample, 200 + 200 rows of two or five columns.

Distributions and parameters are those of its documentation (version 1.2.0, `case.studies`), the
parameters those under which its stored powers were computed (`power_studies_results$"Par Cont"`):
they differ from the defaults of the version for GalambosD2 (0.8, not 2.5) and JoeD5 (1.4, not 2).
The three studies ClaytonExponentialM5, ClaytonLinearM5 and ClaytonNormalM5 draw from Frank's copula
there, like their namesakes, and do so here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import beta as beta_function
from scipy.special import betainc, ndtri

from public import copulas
from public.copulas import Copula, Rng
from public.dalitz import dalitz_pair
from tellapart.arrays import FloatArray

ROWS = 200
Pair = tuple[FloatArray, FloatArray]
Study = Callable[[Rng], Pair]


def _of(one: Copula, other: Copula) -> Study:
    return lambda rng: (one(rng, ROWS), other(rng, ROWS))


def _normal_copula_of_tau(tau: float) -> Copula:
    return copulas.normal(float(np.sin(np.pi * tau / 2)))


def _equicorrelated(rng: Rng, columns: int, correlation: float) -> FloatArray:
    common = rng.normal(size=(ROWS, 1))
    own = rng.normal(size=(ROWS, columns))
    return np.asarray(np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own)


def _normal(columns: int, correlation: float) -> Study:
    return lambda rng: (
        rng.normal(size=(ROWS, columns)),
        _equicorrelated(rng, columns, correlation),
    )


def _student(rng: Rng, columns: int, correlation: float, limit: float) -> FloatArray:
    """Return rows of the multivariate t(5) with no value beyond the limit."""
    kept: list[FloatArray] = []
    while sum(map(len, kept)) < ROWS:
        scale = np.sqrt(rng.chisquare(5, size=(ROWS, 1)) / 5)
        rows = _equicorrelated(rng, columns, correlation) / scale
        kept.append(rows[np.all(np.abs(rows) < limit, axis=1)])
    return np.concatenate(kept)[:ROWS]


def _t(columns: int, correlation: float, limit: float) -> Study:
    return lambda rng: (
        _student(rng, columns, 0.0, limit),
        _student(rng, columns, correlation, limit),
    )


def _uniform_mixture(rng: Rng) -> Pair:
    X, Y = rng.random((2, ROWS, 2))
    near = round(0.35 * ROWS)
    along = rng.random(near)
    across = along + 0.02 * rng.normal(size=near)
    Y[:near] = np.column_stack([across, np.clip(2 * along - across, 0, 1)])
    return X, Y


def _pareto_simplex(rng: Rng, theta: float) -> FloatArray:
    radius = rng.random((ROWS, 1)) ** (-1 / theta)
    waiting = rng.exponential(size=(ROWS, 2))
    values = radius * waiting / waiting.sum(axis=1, keepdims=True)
    a = 1 / theta
    part = betainc(a, 2, np.minimum(values, 1)) * beta_function(a, 2)
    return np.asarray(values**-a * part * a)


def _normal_shift(rng: Rng) -> Pair:
    X, Y = rng.normal(size=(2, ROWS, 2))
    return X, Y + np.array([0.0, 0.5])


def _normal_stretch(rng: Rng) -> Pair:
    X, Y = rng.normal(size=(2, ROWS, 2))
    return X, Y * np.sqrt([1.0, 2.0])


def _uniform_rotate(rng: Rng) -> Pair:
    X, Y = rng.random((2, ROWS, 2))
    cosine, sine = np.cos(0.175), np.sin(0.175)
    return X, Y @ np.array([[cosine, -sine], [sine, cosine]])


def _truncated_exponential(rng: Rng, rate: float) -> FloatArray:
    below = -np.expm1(-2 * rate)
    return np.asarray(-np.log1p(-below * rng.random((ROWS, 2))) / rate)


def exponential(U: FloatArray, rate: float) -> FloatArray:
    """Return exponential values; one above 3 becomes 3 divided by it, as in the package."""
    values = -np.log1p(-U) / rate
    return np.where(values > 3, 3 / values, values)


def linear(U: FloatArray, slope: float) -> FloatArray:
    """Return values on the unit interval whose density rises by 2 * slope."""
    if slope == 0:
        return U
    return np.asarray((slope - 1 + np.sqrt((1 - slope) ** 2 + 4 * slope * U)) / 2 / slope)


def normal(U: FloatArray, spread: float) -> FloatArray:
    """Return normal values of that standard deviation."""
    return np.asarray(spread * ndtri(U))


Margin = Callable[[FloatArray, float], FloatArray]


def _margins(copula: Copula, margin: Margin, usual: float, changed: float) -> Study:
    """Return a study with one copula and other margins in all columns but the first."""

    def draw(rng: Rng) -> Pair:
        X, Y = copula(rng, ROWS), copula(rng, ROWS)
        X[:, 1:] = margin(X[:, 1:], usual)
        Y[:, 1:] = margin(Y[:, 1:], changed)
        return X, Y

    return draw


_INDEPENDENT, _INDEPENDENT5 = copulas.independent(), copulas.independent(5)
_CLAYTON95, _GUMBEL15 = copulas.clayton(38.0), copulas.gumbel(1 / 0.85)  # Kendall's tau .95, .15
_FRANK20 = copulas.frank(20.0)
_FRANK, _CLAYTON, _GALAMBOS = copulas.frank(3.0), copulas.clayton(3.0), copulas.galambos(2.5)
_FRANK5 = copulas.frank(3.0, 5)
_FIVE5 = copulas.frank(5.0, 5)
_KHOUDRAJI = copulas.clayton(6.0)

STUDIES: dict[str, Study] = {
    "NormalD2": _normal(2, 0.6),
    "tD2": _t(2, 0.6, 5.0),
    "UniformMixtureD2": _uniform_mixture,
    "FrankD2": _of(_INDEPENDENT, copulas.frank(3.15)),
    "ClaytonD2": _of(_INDEPENDENT, _CLAYTON),
    "GumbelD2": _of(_INDEPENDENT, copulas.gumbel(1.5)),
    "GalambosD2": _of(_INDEPENDENT, copulas.galambos(0.8)),
    "HuslerReissD2": _of(_INDEPENDENT, copulas.husler_reiss(2.0)),
    "ClaytonGumbelD2": _of(
        copulas.mixed(_CLAYTON95, _GUMBEL15, 0.5), copulas.mixed(_CLAYTON95, _GUMBEL15, 0.1)
    ),
    "UniformFrankD2": _of(
        copulas.mixed(_INDEPENDENT, _FRANK20, 0.5), copulas.mixed(_INDEPENDENT, _FRANK20, 0.1)
    ),
    "ParetoSimplexD2": lambda rng: (_pareto_simplex(rng, 1.0), _pareto_simplex(rng, 1.3)),
    "KhoudrajiClaytonD2": _of(
        copulas.khoudraji(_KHOUDRAJI, 0.2, 0.95), copulas.khoudraji(_KHOUDRAJI, 0.7, 0.95)
    ),
    "NormalUniformD2": _of(
        _INDEPENDENT, copulas.mixed(_normal_copula_of_tau(0.5), _INDEPENDENT, 0.7)
    ),
    "JoeD2": _of(_INDEPENDENT, copulas.joe(2.0)),
    "DalitzCleoD2": lambda rng: dalitz_pair(rng, "Cleo", ("diagonal",), 130, ROWS),
    "DalitzPDGD2": lambda rng: dalitz_pair(rng, "PDG", ("diagonal",), 130, ROWS),
    "DalitzBabarD2": lambda rng: dalitz_pair(rng, "Babar", ("diagonal",), 130, ROWS),
    "NormalShiftM": _normal_shift,
    "NormalStretchM": _normal_stretch,
    "UniformRotateM": _uniform_rotate,
    "UniformBetaM": lambda rng: (rng.random((ROWS, 2)), rng.beta(1.7, 1.7, size=(ROWS, 2))),
    "TruncExponentialM": lambda rng: (
        _truncated_exponential(rng, 1.0),
        _truncated_exponential(rng, 1.5),
    ),
    "DalitzCleoM": lambda rng: dalitz_pair(rng, "Cleo", ("left", "bottom", "right"), 35, ROWS),
    "DalitzPDGM": lambda rng: dalitz_pair(rng, "PDG", ("left", "bottom", "right"), 35, ROWS),
    "DalitzBabarM": lambda rng: dalitz_pair(rng, "Babar", ("left", "bottom", "right"), 35, ROWS),
    "FrankExponentialM": _margins(_FRANK, exponential, 1.0, 1.7),
    "FrankLinearM": _margins(_FRANK, linear, 0.0, 0.5),
    "FrankNormalM": _margins(_FRANK, normal, 1.0, 1.5),
    "ClaytonExponentialM": _margins(_CLAYTON, exponential, 1.0, 1.7),
    "ClaytonLinearM": _margins(_CLAYTON, linear, 0.0, 0.5),
    "ClaytonNormalM": _margins(_CLAYTON, normal, 1.0, 1.5),
    "GalambosExponentialM": _margins(_GALAMBOS, exponential, 1.0, 1.4),
    "GalambosLinearM": _margins(_GALAMBOS, linear, 0.0, 0.65),
    "GalambosNormalM": _margins(_GALAMBOS, normal, 1.0, 1.42),
    "NormalD5": _normal(5, 0.3),
    "tD5": _t(5, 0.3, np.inf),
    "FrankD5": _of(_INDEPENDENT5, copulas.frank(1.7, 5)),
    "ClaytonD5": _of(_INDEPENDENT5, copulas.clayton(0.5, 5)),
    "GumbelD5": _of(_INDEPENDENT5, copulas.gumbel(1.25, 5)),
    "JoeD5": _of(_INDEPENDENT5, copulas.joe(1.4, 5)),
    "UniformFrankD5": _of(_INDEPENDENT5, copulas.mixed(_FIVE5, _INDEPENDENT5, 0.3)),
    "FrankClaytonD5": _of(_FIVE5, copulas.mixed(copulas.clayton(5.0, 5), _FIVE5, 0.5)),
    "FrankJoeD5": _of(_FIVE5, copulas.joe(3.0, 5)),
    "UniformExponentialM5": lambda rng: (
        rng.exponential(size=(ROWS, 5)),
        rng.exponential(1 / 1.175, size=(ROWS, 5)),
    ),
    "FrankExponentialM5": _margins(_FRANK5, exponential, 1.0, 1.4),
    "FrankLinearM5": _margins(_FRANK5, linear, 0.0, 0.4),
    "FrankNormalM5": _margins(_FRANK5, normal, 1.0, 1.25),
    "ClaytonExponentialM5": _margins(_FRANK5, exponential, 1.0, 1.4),
    "ClaytonLinearM5": _margins(_FRANK5, linear, 0.0, 0.4),
    "ClaytonNormalM5": _margins(_FRANK5, normal, 1.0, 1.25),
}
