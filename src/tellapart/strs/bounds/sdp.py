"""The strong SDP relaxation: its rows, the two projections of ADMM [E4], and its proved bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import BoolArray, FloatArray
from tellapart.compiling import compiled
from tellapart.strs.domains import EPS, secular_root

# One row of the strong SDP relaxation: its projection and its support function, compiled.
#
# Row i of Z, with diagonal entry t and off-diagonal entries x, has to satisfy for a share q
#
#     t² + ‖x‖₂² ≤ t q   and   (t + ‖x‖₁)² ≤ d t q.
#
# Put a price ν ≥ 0 on t + ‖x‖₁ ≤ √(d t q). Then x is a multiple of the soft-thresholded input,
# only its length r is left, and the first constraint is tight on the curve t = q c², r = q c s with
# c² + s² = 1. On it every problem below has one unknown and one root; ν is one more.


STEPS = 100
"""The loops below take about ten steps; this only ends one that rounding error stalls."""
TINY = 1e-28
"""A diagonal entry below this is rounding error in an angle of π: the row is 0."""


@compiled
def project_row(
    t0: float, off: FloatArray, root_d: float, kappa: float, guess: tuple[float, float]
) -> tuple[float, float, float, float, float]:
    """Minimise ½(t − t0)² + ½‖x − off‖² + κq over the row's constraints and 0 ≤ q ≤ 1.

    Parameters
    ----------
    t0 : float
        The diagonal entry of the row to project.
    off : array
        The sizes |x_j| of its off-diagonal entries; a zero may stand for the diagonal.
    root_d : float
        √d.
    kappa : float
        The price κ ≥ 0 of one unit of q.
    guess : pair of float
        A first guess of ν and of the slope of its equation, from a similar row; or zeros.

    Returns
    -------
    t, scale, q, nu, slope : float
        The row is t and scale·(off − ν)_+, q the smallest share it needs; ν and its slope are
        the next guess.
    """
    nu, slope = _price(t0, off, root_d, kappa, guess, False)
    total, b = _shrunk(off, nu)
    t, r, q = _lengths(t0, b, nu, root_d, kappa)
    if t <= TINY:
        return 0.0, 0.0, 0.0, nu, slope
    scale = r / b if b > 0.0 else 0.0
    if q == 1.0:
        q = min(max(t + r * r / t, (t + scale * total) ** 2 / (root_d * root_d * t)), 1.0)
    return t, scale, q, nu, slope


@compiled
def row_support(
    w0: float, off: FloatArray, root_d: float, guess: tuple[float, float]
) -> tuple[float, float, float]:
    """Return an upper bound on h(w), the maximum of ⟨w, y⟩ over rows y with q = 1.

    With |w_j| = off_j off the diagonal and w0 on it, for **any** ν ≥ 0 and c > 0,

        h(w) ≤ ½ν√d c + ½(α + √(α² + β²)),  α = w0 − ν + ν√d/(2c),  β = ‖(off − ν)_+‖₂,

    because Σ_j |w_j x_j| ≤ ν‖x‖₁ + β‖x‖₂ and 2√t ≤ t/c + c; equality holds at the best ν and c.
    A poor ν or c makes this bound weaker, never wrong. The guess, and the ν and slope returned
    for the next time, are as in `project_row`.
    """
    nu, slope = _price(w0, off, root_d, 0.0, guess, True)
    b = _shrunk(off, nu)[1]
    e = nu * root_d
    c = np.cos(0.5 * _angle(w0 - nu, b, e))
    if e > 0.0:
        c = max(c, 1e-150)
        alpha = w0 - nu + 0.5 * e / c
    else:
        alpha = w0
    length = np.hypot(alpha, b)
    # The second form is the first without the cancellation that a negative α would bring.
    disk = 0.5 * (alpha + length) if alpha >= 0.0 else 0.5 * b * b / (length - alpha)
    return 0.5 * e * c + disk, nu, slope


@compiled
def _price(
    t0: float,
    off: FloatArray,
    root_d: float,
    kappa: float,
    guess: tuple[float, float],
    linear: bool,
) -> tuple[float, float]:
    """Return the ν ≥ 0 at which t + ‖x‖₁ ≤ √(d t q) holds, with equality where ν > 0.

    The excess t + ‖x‖₁ − √(d t q) falls in ν, as the derivative of a concave dual function, and
    is at most 0 from ν = max |x_j| on. Secant steps from the guess (ν, slope), kept inside the
    bracket known so far; its slope at ν is returned too, as a guess for the next time.
    """
    limit = 0.0
    for j in range(off.shape[0]):
        limit = max(limit, off[j])
    # The support function does not depend on ν to first order; its rows y are at most 1 in size.
    tolerance = 1e-9 if linear else 1e-15 * (limit + abs(t0))
    low, high = -1.0, limit
    nu, slope = min(guess[0], limit), guess[1]
    before, f_before = -1.0, 0.0
    for step in range(STEPS):
        value = _excess(t0, off, nu, root_d, kappa, linear)
        if before >= 0.0:
            slope = (value - f_before) / (nu - before)
        if abs(value) <= tolerance or (nu == 0.0 and value < 0.0):
            break
        if value > 0.0:
            low = nu
        else:
            high = nu
        if high - low <= 1e-15 * high:
            break
        before, f_before = nu, value
        nu = next_guess(nu, value, slope, low, high, step)
        if nu == before:
            break
    return nu, slope


@compiled
def next_guess(
    point: float, value: float, slope: float, low: float, high: float, step: int
) -> float:
    """Return where to look next for the root of a falling function on [0, high].

    A Newton step where it stays inside the bracket, else its middle; now and then the middle
    anyway, so that a bad slope cannot stall the search. A `low` below 0 says that no point left of
    the root is known yet: 0 itself may be next.
    """
    following = point - value / slope if slope < 0.0 else -1.0
    if low < 0.0 and slope < 0.0 and following <= 0.0:
        return 0.0
    if step % 8 == 7 or not max(low, 0.0) < following < high:
        return 0.5 * (max(low, 0.0) + high) if low >= 0.0 else 0.0
    return following


@compiled
def _excess(
    t0: float, off: FloatArray, nu: float, root_d: float, kappa: float, linear: bool
) -> float:
    """Return t + ‖x‖₁ − √(d t q) at the best row for the price ν."""
    total, b = _shrunk(off, nu)
    if linear:
        half = 0.5 * _angle(t0 - nu, b, nu * root_d)
        c = np.cos(half)
        t, r, q = c * c, c * np.sin(half), 1.0
    else:
        t, r, q = _lengths(t0, b, nu, root_d, kappa)
    spread = r * total / b if b > 0.0 else 0.0
    return float(t + spread - root_d * np.sqrt(t * q))


@compiled(fastmath={"reassoc", "contract"})
def _shrunk(off: FloatArray, nu: float) -> tuple[float, float]:
    """Return Σ_j (off_j − ν)_+ and the Euclidean length of the same numbers."""
    total = 0.0
    square = 0.0
    for j in range(off.shape[0]):
        rest = max(off[j] - nu, 0.0)
        total += rest
        square += rest * rest
    return total, np.sqrt(square)


@compiled
def _lengths(
    t0: float, b: float, nu: float, root_d: float, kappa: float
) -> tuple[float, float, float]:
    """Return the (t, r, q) that minimise the row problem at the price ν.

    min ½(t − t0)² + ½(b − r)² + κq + ν(t − √(d t q)) over 0 ≤ r ≤ b, r² ≤ t(q − t), 0 ≤ q ≤ 1,
    where b is the length of the soft-thresholded row. A q of exactly 1 says that the cap held.
    """
    tau = t0 - nu
    e = nu * root_d
    if kappa > 0.0:
        t, r, q = 0.0, np.inf, 0.0
        if b > 0.0:
            # On the curve the best m = √(tq) is τc + bs + e − κ/c, and c maximises that.
            tangent = _cubic_root(kappa, kappa + tau, b)
            c = 1.0 / np.sqrt(1.0 + tangent * tangent)
            m = c * (tau + tangent * b) + e - kappa / c
            if m <= 0.0:
                return 0.0, 0.0, 0.0
            t, r, q = m * c, m * c * tangent, m / c
        if r > b:
            # The row is short enough: only the price on √(tq) asks for q above t.
            r = b
            growth = max(0.5 * e / kappa, 1.0)
            t = max(tau + e * growth - kappa * growth * growth, 0.0)
            q = t * growth * growth
        if q < 1.0:
            return t, r, q
    if e > 0.0:
        root = _cubic_root(1.0, -tau, 0.5 * e)
        t = min(root * root, 1.0)
    else:
        t = min(max(tau, 0.0), 1.0)
    if t * (1.0 - t) >= b * b:
        return t, b, 1.0
    half = 0.5 * _angle(tau - 0.5, b, e)
    c, s = np.cos(half), np.sin(half)
    return c * c, c * s, 1.0


@compiled
def _angle(alpha: float, b: float, e: float) -> float:
    """Return the ω in [0, π] that maximises ½α(1 + cos ω) + ½b sin ω + e cos(ω/2), for b, e ≥ 0.

    That is αt + b√(t − t²) + e√t, concave in t = cos²(ω/2): its derivative has one root.
    """
    top = np.arctan2(b, alpha)
    if e == 0.0 or top == 0.0:
        return float(top)
    length = np.hypot(alpha, b)
    low, high = 0.0, top
    omega = top
    for _ in range(STEPS):
        value = length * np.sin(top - omega) - e * np.sin(0.5 * omega)
        if value > 0.0:
            low = omega
        else:
            high = omega
        slope = length * np.cos(top - omega) + 0.5 * e * np.cos(0.5 * omega)
        following = omega + value / slope if slope > 0.0 else low
        if not low < following < high:
            following = 0.5 * (low + high)
        moved = abs(following - omega)
        omega = following
        if moved <= 4e-16 * omega:
            break
    return float(omega)


@compiled
def _cubic_root(cube: float, slope: float, level: float) -> float:
    """Return the one positive root of cube·T³ + slope·T = level, for cube, level > 0.

    Newton from the right of the root, where the function is convex and increasing: the iterates
    fall until rounding error ends them.
    """
    tip = np.cbrt(level / cube)
    root = min(level / slope, tip) if slope > 0.0 else np.sqrt(-slope / cube) + tip
    for _ in range(STEPS):
        value = (cube * root * root + slope) * root - level
        following = root - value / (3.0 * cube * root * root + slope)
        if not 0.0 < following < root:
            break
        root = following
    return float(root)


TRACE = 2.0
"""tr Z: 1 for Z₀₀ and 1 for ‖z‖² = 1."""
SHARE_TOLERANCE = 1e-11
"""How far Σq may be from its limit, relative to it."""


def project_spectrum(X: FloatArray) -> FloatArray:
    """Return the matrix nearest to the symmetric X in {Z ⪰ 0, tr Z = 2}.

    The set is unitarily invariant, so the eigenvalues go to the simplex of sum 2 and the vectors
    stay. With Z₀₀ = 1 in the same set, as the paper has it, that would not be so.
    """
    values, vectors = np.linalg.eigh(X)
    falling = values[::-1]
    thresholds = (np.cumsum(falling) - TRACE) / np.arange(1, falling.shape[0] + 1)
    kept = int(np.count_nonzero(falling > thresholds))
    part = vectors[:, -kept:] * np.sqrt(np.maximum(values[-kept:] - thresholds[kept - 1], 0.0))
    return np.asarray(part @ part.T)


@compiled
def project_rows(
    X: FloatArray, forced: BoolArray, d: int, prices: FloatArray, search: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the nearest (Y, q) with every row in its cones, 0 ≤ q ≤ 1 and Σq ≤ d.

    Row i has to satisfy Σ_j Y_ij² ≤ Y_ii q_i and (Σ_j |Y_ij|)² ≤ d Y_ii q_i. Y need not be
    symmetric: it is a copy of the symmetric Z, row by row, and agreement with Z restores symmetry.
    Given the multiplier κ of Σq ≤ d the rows separate; Σq falls in κ.

    Parameters
    ----------
    X : array of shape (D, D)
        The matrix to project.
    forced : bool array of length D
        Rows with q = 1 by decree: they use up d and pay no κ.
    d : int
        The largest number of non-zeros.
    prices : array of shape (D, 2)
        The rows' ν and slopes, read as first guesses and overwritten; zeros at first.
    search : array of length 2
        κ and the slope of Σq in κ, likewise.
    """
    size = X.shape[0]
    sizes = np.abs(X)
    diagonal = np.empty(size)
    budget = float(d)
    highest = 0.0
    for i in range(size):
        diagonal[i] = X[i, i]
        length = np.sqrt(np.sum(sizes[i] * sizes[i]))
        sizes[i, i] = 0.0
        if forced[i]:
            budget -= 1.0
        else:
            # The row is 0 from κ = h(x) on, and h(x) is at most this.
            highest = max(highest, 0.5 * (diagonal[i] + length))
    rows = np.empty((size, 3))
    _share_price(diagonal, sizes, forced, d, budget, highest, prices, search, rows)
    Y = np.empty((size, size))
    for i in range(size):
        t, scale = rows[i, 0], rows[i, 1]
        nu = prices[i, 0]
        for j in range(size):
            rest = scale * max(sizes[i, j] - nu, 0.0)
            Y[i, j] = rest if X[i, j] >= 0.0 else -rest
        Y[i, i] = t
    return Y, rows[:, 2].copy()


@compiled
def _share_price(
    diagonal: FloatArray,
    sizes: FloatArray,
    forced: BoolArray,
    d: int,
    budget: float,
    highest: float,
    prices: FloatArray,
    search: FloatArray,
    rows: FloatArray,
) -> None:
    """Find the κ ≥ 0 with Σq ≤ budget, equality where κ > 0; leave its rows in `rows`."""
    tolerance = SHARE_TOLERANCE * (1.0 + budget)
    kappa, slope = min(max(search[0], 0.0), highest), search[1]
    low, high = -1.0, highest
    before, f_before = -1.0, 0.0
    for step in range(STEPS):
        excess = _all_rows(diagonal, sizes, forced, d, kappa, prices, rows) - budget
        if before >= 0.0:
            slope = (excess - f_before) / (kappa - before)
        if abs(excess) <= tolerance or (kappa == 0.0 and excess < 0.0):
            break
        if excess > 0.0:
            low = kappa
        else:
            high = kappa
        before, f_before = kappa, excess
        following = next_guess(kappa, excess, slope, low, high, step)
        if following == kappa or high - low <= 1e-16 * highest:
            break
        kappa = following
    search[0], search[1] = kappa, slope


@compiled
def _all_rows(
    diagonal: FloatArray,
    sizes: FloatArray,
    forced: BoolArray,
    d: int,
    kappa: float,
    prices: FloatArray,
    rows: FloatArray,
) -> float:
    """Solve every row at the price κ and return Σq over the rows that are not forced."""
    root_d = np.sqrt(float(d))
    total = 0.0
    for i in range(diagonal.shape[0]):
        price = 0.0 if forced[i] else kappa
        guess = (prices[i, 0], prices[i, 1])
        t, scale, q, nu, slope = project_row(diagonal[i], sizes[i], root_d, price, guess)
        rows[i, 0], rows[i, 1], rows[i, 2] = t, scale, q
        prices[i, 0], prices[i, 1] = nu, slope
        if not forced[i]:
            total += q
    return total


# A proved upper bound from any multiplier of the strong SDP relaxation.


@dataclass(frozen=True)
class DualBound:
    """A proved bound, its sphere part, and what each row contributes if it is chosen.

    value = sphere + Σ_{forced} rows + the d − |forced| largest other rows.
    """

    value: float
    sphere: float
    rows: FloatArray


def dual_bound(
    A: FloatArray,
    a: FloatArray,
    d: int,
    forced: BoolArray,
    W: FloatArray | None = None,
    prices: FloatArray | None = None,
) -> DualBound:
    """Return a proved bound on max zᵀAz + aᵀz over the d-sparse unit sphere.

    For **any** D × D matrix W, symmetric or not, and any feasible z with support S,

        zᵀAz + aᵀz = zᵀ(A − W)z + aᵀz + Σ_{i∈S} z_i Σ_j W_ij z_j
                   ≤ max_{‖v‖=1} vᵀ(A − W)v + aᵀv + Σ_{i∈S} h_i(W_i),

    where h_i(w) = max ⟨w, y⟩ over the rows y with ‖y‖₂² ≤ y_i and ‖y‖₁² ≤ d y_i, of which
    y = z_i z is one, and the sum is at most that of the d largest h_i. The first term is a trust
    region problem, the second has the closed form of `row_support`. The least bound over W is the
    value of the relaxation: this is its Lagrange dual in the multiplier of Z = Y.

    W = None stands for W = 0: the trust region bound. With `forced` variables the bound holds for
    supports that contain them. `prices` (D × 2) are the rows' ν and slopes, read as first guesses
    and overwritten: they save time at the next W. Rounding error is allowed for.
    """
    size = int(a.shape[0])
    if W is None:
        sphere = sphere_bound(A, a)
        return DualBound(sphere, sphere, np.zeros(size))
    sphere = sphere_bound(A - (W + W.T) / 2, a)
    # A − W is formed with one rounding per entry. A row's term is a sum of positive numbers but
    # for α in `row_support`, where entries of the row may cancel.
    sphere += 4 * EPS * float(np.linalg.norm(W) + np.linalg.norm(A))
    prices = np.zeros((size, 2)) if prices is None else prices
    rows = row_supports(np.ascontiguousarray(W), float(np.sqrt(d)), prices)
    rows *= 1 + 4 * (size + 16) * EPS
    rows += 16 * EPS * np.abs(W).max(axis=1)
    free = np.sort(rows[~forced])[::-1][: d - int(np.count_nonzero(forced))]
    total = float(rows[forced].sum() + free.sum()) * (1 + size * EPS)
    return DualBound(sphere + total, sphere, rows)


def sphere_bound(A: FloatArray, a: FloatArray) -> float:
    """Return an upper bound on max vᵀAv + aᵀv over ‖v‖₂ = 1, tight to rounding error.

    For any μ above the largest eigenvalue the value is at most μ + aᵀ(μI − A)⁻¹a/4. The computed
    eigenpairs belong to a matrix within a small multiple of D·ε·‖A‖_F of A, and the computed Uᵀa
    to a vector within the same multiple of D·ε·‖a‖ of a: both are added.
    """
    size = int(a.shape[0])
    values, vectors = np.linalg.eigh(A)
    c = (vectors.T @ a) / 2
    gaps = values[-1] - values
    noise = float(EPS * (np.linalg.norm(A) + np.linalg.norm(a)))
    s = max(float(secular_root(gaps, c, 0.0)), noise)
    # At noise = 0 all of A and a is 0, and so is the value.
    rest = float(np.sum(c * c / (gaps + s))) if s > 0.0 else 0.0
    return float(values[-1]) + s + rest + 16 * (size + 4) * noise


@compiled
def row_supports(W: FloatArray, root_d: float, prices: FloatArray) -> FloatArray:
    """Return the upper bound of `row_support` for every row of W."""
    size = W.shape[0]
    rows = np.empty(size)
    sizes = np.abs(W)
    for i in range(size):
        sizes[i, i] = 0.0
        guess = (prices[i, 0], prices[i, 1])
        rows[i], prices[i, 0], prices[i, 1] = row_support(W[i, i], sizes[i], root_d, guess)
    return rows
