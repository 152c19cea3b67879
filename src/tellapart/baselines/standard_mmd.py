"""The standard MMD test: all variables with equal weights, nothing chosen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arguments import check_choice
from tellapart.arrays import FloatArray
from tellapart.baselines.base import Baseline, FittedBaseline, Permuting
from tellapart.data.samples import Samples
from tellapart.errors import InputError
from tellapart.kernels import FittedKernel, Gaussian, Kernel, Linear, Quadratic, resolve_kernel
from tellapart.kernels.bandwidth import RULES
from tellapart.permutation.mmd import permutation_test
from tellapart.permutation.pvalues import PermutationNull
from tellapart.results.result import Method
from tellapart.selection.settings import check_varying

KERNELS: dict[str, type[Linear] | type[Quadratic] | type[Gaussian]] = {
    "gaussian": Gaussian,
    "linear": Linear,
    "quadratic": Quadratic,
}


@dataclass(frozen=True)
class StandardMMD(Baseline):
    """The kernel two-sample test of all variables: z = (1, …, 1)/√D.

    The statistic is MMD²_u(z), D the number of variables that vary. Nothing is learned, so no
    rows are needed to learn from: by default all of them serve the p-value, which is the best
    this test can do. The paper does not say whether its standard tests see all rows or the test
    half only; `use="held-out"` is the latter, on the rows that `two_sample_test` tests with the
    same seed.

    Parameters
    ----------
    kernel : {"gaussian", "linear", "quadratic"} or Kernel
        The kernel, or its name.
    bandwidth : {"median", "paper"}
        The rule for the bandwidths of a kernel given by name; "paper" is the paper's literal
        one, for reproduction only.
    use : {"all", "held-out"}
        Rows of the p-value. The bandwidths come from all rows, labels unseen, or from the other
        ones; either way the test is valid.
    test_size, n_permutations, alpha, random_state, n_jobs
        See `Baseline`; `test_size` counts with `use="held-out"` only.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(60, 4)), rng.normal(size=(80, 4)) + 0.5
    >>> result = StandardMMD("gaussian", random_state=0).test(X, Y)
    >>> result.reject, result.n_train, result.n_test
    (True, (0, 0), (60, 80))
    """

    kernel: str | Kernel = "gaussian"
    bandwidth: str = "median"
    use: str = "all"

    def __post_init__(self) -> None:
        """Check the settings."""
        check_choice("bandwidth", self.bandwidth, RULES)
        if isinstance(self.kernel, str):
            check_choice("kernel", self.kernel, KERNELS)
        else:
            resolve_kernel(self.kernel)
            if self.bandwidth != "median":
                raise InputError(
                    "bandwidth must be 'median' with a kernel object, which has a rule of its "
                    f"own; got {self.bandwidth!r}"
                )
        super().__post_init__()

    @property
    def method(self) -> Method:
        """What results say about this test."""
        name = self.kernel if isinstance(self.kernel, str) else self.kernel.name
        rule = ", the paper's bandwidths" if self.bandwidth == "paper" else ""
        fixed = {
            "all": "the bandwidths do not depend on the labels",
            "held-out": "the bandwidths were fixed on other rows",
        }
        return Method(
            name=f"standard MMD ({name} kernel{rule})",
            statistic="MMD²",
            validity=fixed[self.use],
            call=self.call(),
        )

    def learn(self, train: Samples, rng: np.random.Generator) -> FittedMMD:  # noqa: ARG002
        """Freeze the bandwidths; `rng` is not used."""
        kernel: Kernel
        if isinstance(self.kernel, str):
            kernel = KERNELS[self.kernel](bandwidth=self.bandwidth)
        else:
            kernel = self.kernel
        fitted = kernel.fit(train, n_jobs=self.n_threads)
        keep = check_varying(train, fitted.constant)
        z = np.zeros(train.n_columns)
        z[keep] = 1 / np.sqrt(keep.size)
        return FittedMMD(selection=None, kernel=fitted, z=z)


@dataclass(frozen=True, kw_only=True)
class FittedMMD(FittedBaseline):
    """MMD²_u(z) with weights z and bandwidths frozen."""

    kernel: FittedKernel
    z: FloatArray

    def test(self, held_out: Samples, how: Permuting) -> PermutationNull:
        """Test the rows by the permutations of their pool."""
        return permutation_test(held_out, self.kernel, self.z, **vars(how))
