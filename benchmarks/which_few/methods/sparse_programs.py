"""Sparsity-constrained programs by splicing (skscope): logistic loss, and kernels."""

from __future__ import annotations

import numpy as np

from which_few.methods.base import method
from which_few.table import IntArray, Table, encode

NEEDS = ("skscope", "jax")


@method("skscope-logistic", "skscope.ScopeSolver on the logistic loss, levels as groups", NEEDS)
def logistic(X: Table, Y: Table, d: int, seed: int) -> IntArray:
    """Select the d columns, or groups of levels, of the smallest logistic loss."""
    import jax.numpy as jnp
    from skscope import ScopeSolver

    data = encode(X, Y)
    # The last coefficient is the intercept, which is always in.
    design = jnp.asarray(np.column_stack([data.standardised, np.ones(len(data.labels))]))
    side = jnp.asarray(2.0 * data.labels - 1.0)
    last = len(data.owner)
    solver = ScopeSolver(
        last + 1,
        d + 1,
        preselect=[int(data.owner.max()) + 1],
        group=[*data.owner.tolist(), int(data.owner.max()) + 1],
        random_state=seed % 2**31,
    )
    found = solver.solve(lambda w: jnp.mean(jnp.logaddexp(0.0, -side * (design @ w))), jit=True)
    return data.first(np.flatnonzero(np.asarray(found)[:last]), d)


@method("skscope-kernels", "skscope.NonlinearSelection(d): Gaussian kernels, all rows", NEEDS)
def kernels(X: Table, Y: Table, d: int, seed: int) -> IntArray:  # noqa: ARG001
    """Select by kernels of single columns that add up to that of the label."""
    from skscope import NonlinearSelection

    data = encode(X, Y)
    model = NonlinearSelection(d).fit(data.standardised, data.labels.astype(float))
    return data.best(model.coef_, d)
