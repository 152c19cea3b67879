"""One ruler for all batches: the bandwidths of the linear kernel, taken from the reference."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tellapart.data.samples import Samples
from tellapart.kernels.base import Abilities, FittedKernel, Kernel, ScalarKernel


@dataclass(frozen=True)
class StoredKernel:
    """A linear kernel whose bandwidths were found on the reference's training rows.

    Those rows are never held out, so the permutation test stays valid; every batch is measured
    in the same units; and no check spends time on medians. A column that never varies in the
    reference has no bandwidth there, yet a batch in which it does vary is what a monitor is
    for: such columns, and those unknown to the reference, are fitted on the pooled training
    rows of the check.

    Attributes
    ----------
    kernel : Kernel
        The linear kernel's settings.
    scalars : dict of str to ScalarKernel
        The scalar kernels of the columns that vary in the reference, by name.

    Examples
    --------
    >>> from tellapart.kernels import Linear
    >>> x, y = np.array([[0.0, 4.0], [1.0, 4.0]]), np.array([[3.0, 4.0], [7.0, 4.0]])
    >>> reference = Samples(x, y, ("u", "v"), ("numeric", "numeric"))
    >>> stored = StoredKernel.of(Linear(), reference, n_jobs=1)
    >>> batch = Samples(x, 100 * y, ("u", "v"), ("numeric", "numeric"))
    >>> stored.fit(batch).scalars
    (GaussianScalar(bandwidth=3.5), GaussianScalar(bandwidth=396.0))
    """

    kernel: Kernel
    scalars: dict[str, ScalarKernel]

    @classmethod
    def of(cls, kernel: Kernel, reference: Samples, n_jobs: int) -> StoredKernel:
        """Fit the kernel on the pooled rows of `reference`."""
        fitted = kernel.fit(reference, n_jobs=n_jobs)
        return cls(
            kernel,
            {
                reference.names[s]: fitted.scalar_kernels[s]
                for s in np.flatnonzero(~fitted.constant)
            },
        )

    @property
    def name(self) -> str:
        """The name of the kernel."""
        return self.kernel.name

    @property
    def abilities(self) -> Abilities:
        """What the form of the kernel allows."""
        return self.kernel.abilities

    def fit(self, samples: Samples, *, n_jobs: int = 1) -> FittedKernel:
        """Return the stored bandwidths; only columns without one are fitted on the samples."""
        unknown = [s for s, name in enumerate(samples.names) if name not in self.scalars]
        fitted = self.kernel.fit(samples.columns(unknown), n_jobs=n_jobs)
        constant = np.zeros(samples.n_columns, dtype=np.bool_)
        constant[unknown] = fitted.constant
        new = {samples.names[s]: k for s, k in zip(unknown, fitted.scalar_kernels, strict=True)}
        scalars = tuple((self.scalars | new)[name] for name in samples.names)
        return replace(fitted, scalars=scalars, constant=constant)
