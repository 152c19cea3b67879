"""The objective F(z) = MMD²(z) − λ σ²(z), its gradient and its Hessian."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tellapart.arguments import check_number
from tellapart.errors import InputError
from tellapart.kernels import Kernel, resolve_kernel
from tellapart.samples import FloatArray
from tellapart.statistics import linear_coefficients
from tellapart.tables import read_samples


class Objective:
    """F(z) = MMD²(z) − λ σ²(z): a large difference, and a reliable one.

    For the linear kernel F(z) = aᵀz − λ zᵀVz, ∇F = a − 2λ V z, ∇²F = −2λ V.

    Parameters
    ----------
    X, Y : tables or arrays
        The two samples.
    kernel : str or Kernel
        "linear", or a kernel object.
    regularization : float
        λ ≥ 0.

    Attributes
    ----------
    samples : Samples
    kernel : FittedKernel
        The kernel with its bandwidths frozen on these samples.
    regularization : float

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> objective = Objective(rng.normal(size=(50, 2)), 1 + rng.normal(size=(60, 2)))
    >>> objective.value(np.array([1.0, 0.0])) > 0
    True
    >>> objective.gradient(np.array([1.0, 0.0])).shape
    (2,)
    """

    def __init__(
        self, X: Any, Y: Any, kernel: str | Kernel = "linear", regularization: float = 0.1
    ) -> None:
        self.regularization = check_number("regularization", regularization, 0.0)
        settings = resolve_kernel(kernel)
        self.samples = read_samples(X, Y)
        self.kernel = settings.fit(self.samples)
        self._coefficients = linear_coefficients(self.samples, self.kernel)

    def value(self, z: ArrayLike) -> float:
        """Return F(z)."""
        point = self._checked(z)
        penalty = self.regularization * self._coefficients.variance_at(point)
        return self._coefficients.statistic(point) - penalty

    def gradient(self, z: ArrayLike) -> FloatArray:
        """Return ∇F(z), of shape (D,)."""
        slope = self._coefficients.variance_product(self._checked(z))
        return self._coefficients.a - 2 * self.regularization * slope

    def hessian(self, z: ArrayLike) -> FloatArray:
        """Return ∇²F(z), of shape (D, D)."""
        self._checked(z)
        return -2 * self.regularization * self._coefficients.variance_matrix()

    def _checked(self, z: ArrayLike) -> FloatArray:
        expected = f"z must be a vector of {self.samples.n_columns} finite numbers"
        try:
            point = np.asarray(z, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"{expected}; got {type(z).__name__}") from None
        if point.shape != (self.samples.n_columns,):
            raise InputError(f"{expected}; got shape {point.shape}")
        if not np.isfinite(point).all():
            raise InputError(f"{expected}; got NaN or infinite entries")
        return point
