"""Which few variables tell two samples apart: checked samples in, Selection out."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from tellapart.arrays import FloatArray, IntArray
from tellapart.search import Trace
from tellapart.strs.solution import Status, relative_gap
from tellapart.text import safe

ROUNDING = 1e-9
"""A relative gap this small is not worth a word."""


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """The chosen variables, their weights, and what is proved about the choice.

    The weights z maximise F(z) = MMD²(z) − λ σ²(z) over ‖z‖₂ = 1, ‖z‖₀ ≤ d.

    Attributes
    ----------
    support : sorted int array
        Positions of the chosen columns.
    z : array of length D
        The weights: 0 outside the support.
    value : float
        F(z).
    upper_bound : float or None
        A proved bound on the best F of any choice; None if none is proved.
    status : "optimal", "feasible" or "time_limit"
        "optimal" only if the bound is within the gap asked for.
    solver : str
        The solver that ran.
    seconds : float
        Wall time of the solver.
    kernel : str
        Name of the kernel.
    names : tuple of str
        Names of all columns.
    regularization : float
        λ.
    constant : tuple of str
        Columns that never vary: weight 0.
    history : tuple of Trace
        How the annealed runs of the search went; empty where an exact solver did the work.
    method : str
        The baseline that chose, by an objective of its own; empty for tellapart's own choice.
    nonnegative : bool
        Whether only weights of at least 0 were allowed; the certificate is then for these.
    """

    support: IntArray
    z: FloatArray
    value: float
    upper_bound: float | None
    status: Status
    solver: str
    seconds: float
    kernel: str
    names: tuple[str, ...]
    regularization: float
    constant: tuple[str, ...] = ()
    history: tuple[Trace, ...] = ()
    method: str = ""
    nonnegative: bool = False

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the chosen columns, in the order of `support`."""
        return tuple(self.names[s] for s in self.support)

    @property
    def weights(self) -> dict[str, float]:
        """Weight of each chosen variable, the heaviest first."""
        order = sorted(self.support.tolist(), key=lambda s: (-abs(self.z[s]), s))
        return {self.names[s]: float(self.z[s]) for s in order}

    @property
    def maker(self) -> str:
        """What chose the variables: kernel and λ, or the baseline."""
        return self.method or f"{self.kernel} kernel, λ = {self.regularization:g}"

    @property
    def gap(self) -> float | None:
        """Relative gap between `upper_bound` and `value`, or None without a bound."""
        return None if self.upper_bound is None else relative_gap(self.value, self.upper_bound)

    @property
    def certificate(self) -> str:
        """What is proved about the choice, in words."""
        chosen = f"{self.support.size} variable{'s' if self.support.size > 1 else ''}"
        by = f"{self.solver}, {self.seconds:.2f} s"
        if self.method:
            return self._certificate_of_method(chosen)
        if self.gap is None or not math.isfinite(self.gap):
            return f"a good choice of {chosen}, not proved to be the best ({by})"
        margin = _margin(self.gap)
        if self.nonnegative:
            chosen += " with weights of at least 0"
        better = f"do better{margin}"
        if self.status == "optimal":
            return f"proved: no other choice of at most {chosen} can {better} ({by})"
        if self.status == "time_limit":
            by += "; a longer time_limit may prove more"
        return f"proved only that no other choice of at most {chosen} can {better} ({by})"

    def _certificate_of_method(self, chosen: str) -> str:
        if self.support.size + len(self.constant) == len(self.names):
            return f"none needed: {self.method} uses all variables that vary"
        if self.gap is None or not math.isfinite(self.gap):
            return f"none: {self.method} chose {chosen} and proves nothing about the choice"
        margin = _margin(self.gap)
        return (
            f"proved for the objective of {self.method} only: no other choice of at most "
            f"{chosen} can do better{margin}"
        )

    def summary(self) -> str:
        """Return the chosen variables and the certificate as plain text.

        Examples
        --------
        >>> import numpy as np, tellapart as ta
        >>> rng = np.random.default_rng(0)
        >>> Y = rng.normal(size=(60, 3)) + [0, 3, 0]
        >>> print(ta.select_variables(rng.normal(size=(50, 3)), Y, 1).summary())
        1 of 3 variables chosen (linear kernel, λ = 0.1):
          x1  1.000
        Certificate: proved: no other choice ...
        """
        head = f"{self.support.size} of {len(self.names)} variables chosen ({self.maker}):"
        return "\n".join([head, *weight_lines(self), f"Certificate: {self.certificate}."])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values, ready for JSON."""
        return {
            "variables": list(self.variables),
            "weights": self.weights,
            "support": self.support.tolist(),
            "z": self.z.tolist(),
            "value": self.value,
            "upper_bound": self.upper_bound,
            "gap": self.gap if self.gap is None or math.isfinite(self.gap) else None,
            "status": self.status,
            "solver": self.solver,
            "seconds": self.seconds,
            "kernel": self.kernel,
            "regularization": self.regularization,
            "names": list(self.names),
            "constant": list(self.constant),
            "history": [asdict(trace) for trace in self.history],
            "method": self.method or None,
            "nonnegative": self.nonnegative,
        }

    def _repr_html_(self) -> str:
        from tellapart.report.notebook import selection_card

        return selection_card(self)

    def __repr__(self) -> str:
        return f"<Selection of {self.support.size} of {len(self.names)} variables, {self.status}>"


def _margin(gap: float) -> str:
    if gap <= ROUNDING:
        return ""
    digits = ".2g" if gap < 1 else ".0f"
    return f" by more than {100 * gap:{digits}} %"


def weight_lines(selection: Selection) -> list[str]:
    """Return one aligned line per chosen variable, the heaviest first."""
    rows = [(safe(name), weight) for name, weight in selection.weights.items()]
    width = max((len(name) for name, _ in rows), default=0)
    return [f"  {name:<{width}}  {weight: .3f}" for name, weight in rows]
