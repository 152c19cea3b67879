"""The result of a selection of variables: names, weights, and what is proved about them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol

from tellapart.arguments import check_number
from tellapart.arrays import FloatArray, IntArray
from tellapart.budget import current_budget
from tellapart.data.samples import Samples
from tellapart.data.sources.table import make_frame
from tellapart.errors import InputError
from tellapart.scan.finding import Finding
from tellapart.search import Trace
from tellapart.selection.alternatives import NEAR, Alternatives, RunnerUp
from tellapart.strs.contract import Control, Status, relative_gap
from tellapart.text import counted, listed, safe

SIZES = (
    "effect", "low", "high", "first", "second", "pvalue", "simultaneous_low", "simultaneous_high",
)  # fmt: skip
COLUMNS = ("variable", "weight", "kind", "with", "measure", *SIZES, "named", "differs")


def variable_rows(selection: Selection) -> dict[str, list[Any]]:
    """Return the columns of a table with one row per selected variable, the largest weight first.

    Where it is not known what a variable differs in, numbers are NaN and words are empty.
    """
    description, rows = selection.description, []
    for name, weight in selection.weights.items():
        change = selection.changes.get(name)
        row = {"variable": name, "weight": weight, **_sized(name, change)}
        rows.append({**row, "named": change and change.named, "differs": description[name]})
    return {key: [row[key] for row in rows] for key in COLUMNS}


def _sized(name: str, change: Finding | None) -> dict[str, Any]:
    if change is None:
        return {"kind": "", "with": "", "measure": "", **dict.fromkeys(SIZES, math.nan)}
    (low, high), (first, second) = change.interval, change.values
    return {
        "kind": change.kind,
        "with": ", ".join(other for other in change.variables if other != name),
        "measure": change.measure,
        "effect": change.effect,
        "low": low,
        "high": high,
        "first": first,
        "second": second,
        "pvalue": change.pvalue,
        "simultaneous_low": change.simultaneous[0],
        "simultaneous_high": change.simultaneous[1],
    }


REGULARIZED, RATIO, EVIDENCE = "regularized", "ratio", "evidence"
"""What a choice may maximise; see `Selection`."""
FEW_SUBSTITUTES = 3
"""Substitutes of a variable that a summary names."""
ROUNDING = 1e-9
"""A relative gap this small is not worth a word."""


class Proof(Protocol):
    """A proof that was stopped before it was complete, with all that the search left open."""

    @property
    def gap(self) -> float:
        """The relative gap at which it is complete."""

    def resume(
        self, selection: Selection, samples: Samples, control: Control, *, keep: bool
    ) -> Selection:
        """Go on with the search, and return the selection with what is proved by then.

        A better choice that the search meets takes the place of the one made, unless that is to be
        kept: its bound is then that of all choices.
        """


class ChoiceProblem(Protocol):
    """The problem that a choice solves, kept for questions about other choices."""

    def alternatives(self, selection: Selection, within: float, control: Control) -> Alternatives:
        """Return all choices that are nearly as good as the one made."""

    def look_around(self, selection: Selection, control: Control) -> Selection:
        """Return the selection with what can be proved about the next best choices."""


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """The chosen variables, their weights, and what is proved about the choice.

    By its `objective` the weights z maximise, over ‖z‖₂ = 1, ‖z‖₀ ≤ d and, unless signed weights
    were requested, z ≥ 0:

    - "regularized": F(z) = MMD²(z) − λ σ²(z);
    - "ratio": aᵀz/√(zᵀ(V + r·median(diag V)·I)z), MMD² in units of its noise, r = λ;
    - "evidence": the joint evidence of columns, pairs and triples
      (`tellapart.evidence.evidence`).

    Attributes
    ----------
    support : sorted int array
        Positions of the chosen columns.
    z : array of length D
        The weights: 0 outside the support.
    value : float
        The objective at z.
    upper_bound : float or None
        A proved bound on the objective of any choice; None if none is proved.
    status : "optimal", "feasible" or "time_limit"
        "optimal" only if the bound is within the requested gap.
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
    objective : str
        What the choice maximises: "regularized", "ratio" or "evidence".
    n_variables : int or None
        The largest number of variables that was allowed; None where that is not known.
    reasons : tuple of str
        What each chosen variable differs in, in the order of `support`: "shift", "spread",
        "shape" or its dependence on others. Empty but for a choice by evidence.
    substitutes : mapping from str to tuple of str
        For a chosen variable, those it is interchangeable with, the most similar first.
    n_candidates : int or None
        Columns that took part in the choice; None for all that vary.
    drawn_rows : pair of int or None
        Rows of X and Y, drawn at random, that the choice was made on; None for all. A choice by
        evidence judges single columns and correlations by all rows all the same.
    n_features : int or None
        Features (of each column, or random frequencies of the kernel) by which `value` and weights
        were computed, where all pairs of rows would have been too many; None for exact sums.
    groups : tuple of tuples of int
        Columns that were chosen together, for how they depend on each other.
    runner_up : RunnerUp or None
        The runner-up subset that was found, how near it is, and whether that is proved; None but
        for a choice by evidence.
    near : Alternatives or None
        All subsets within 1 % of the criterion, where listing them took next to no time or
        `TestResult.prove` did; see `alternatives`.
    changes : mapping from str to Finding
        What each chosen variable differs in, which way and how much, with an interval
        (`tellapart.selection.changes`); of the 200 heaviest at most.
    proof : Proof or None
        The search that `TestResult.prove` goes on with; None where there is nothing left to prove.
    problem : ChoiceProblem or None
        The problem that was solved, for `alternatives`; None where it was not kept.
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
    objective: str = REGULARIZED
    n_variables: int | None = None
    reasons: tuple[str, ...] = ()
    substitutes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    n_candidates: int | None = None
    drawn_rows: tuple[int, int] | None = None
    n_features: int | None = None
    groups: tuple[tuple[int, ...], ...] = ()
    changes: Mapping[str, Finding] = field(default_factory=dict)
    runner_up: RunnerUp | None = None
    near: Alternatives | None = None
    proof: Proof | None = field(default=None, repr=False, compare=False)
    problem: ChoiceProblem | None = field(default=None, repr=False, compare=False)

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the selected columns, in the order of `support`."""
        return tuple(self.names[s] for s in self.support)

    @property
    def weights(self) -> dict[str, float]:
        """Weight of each selected variable, the largest first."""
        order = sorted(self.support.tolist(), key=lambda s: (-abs(self.z[s]), s))
        return {self.names[s]: float(self.z[s]) for s in order}

    @property
    def told(self) -> dict[str, str]:
        """Deprecated alias of `description`."""
        warnings.warn(
            "Selection.told is deprecated; use Selection.description",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.description

    @property
    def description(self) -> dict[str, str]:
        """How each selected variable differs, in words, the largest weight first."""
        reasons = dict(zip(self.variables, self.reasons, strict=False))
        return {
            name: self.changes[name].description_for(name)
            if name in self.changes
            else safe(reasons.get(name, ""))
            for name in self.weights
        }

    def labelled(self, labels: tuple[str, str]) -> Selection:
        """Return the selection with changes that call the samples by these names."""
        named = {name: replace(change, labels=labels) for name, change in self.changes.items()}
        return replace(self, changes=named)

    def with_bound(self, bound: float | None, control: Control) -> Selection:
        """Return the selection with another bound, if it is lower, and with the time it took."""
        bounds = [b for b in (bound, self.upper_bound) if b is not None]
        lowest = min(bounds, default=None)
        return replace(
            self,
            upper_bound=lowest,
            status=control.status(self.value, lowest),
            seconds=self.seconds + control.elapsed,
        )

    def alternatives(self, within: float = 0.01, time_limit: float = 10.0) -> Alternatives:
        """Return all subsets that are nearly as good as the one selected.

        Subsets of at most `n_variables` variables whose criterion is lower by at most `within` of
        that of the one selected, proved to be all of them; where the time ends before, those that
        were found, and how far the proof reaches. With a subset, every larger one that contains it
        is as good: those are listed from which no variable can be dropped.

        Parameters
        ----------
        within : float
            The relative distance, at least 0 and below 1.
        time_limit : float
            Seconds at most.

        Returns
        -------
        Alternatives
            `subsets`, `complete`, what is in all of them, in none, and what substitutes for each
            other; `summary()`.

        Raises
        ------
        InputError
            Where no problem was kept: kernels without a certificate, baselines, large problems and
            comparisons of many groups.

        Examples
        --------
        >>> import numpy as np, tellapart as ta
        >>> rng = np.random.default_rng(0)
        >>> Y = rng.normal(size=(60, 3)) + [0, 3, 0]
        >>> near = ta.select_variables(rng.normal(size=(50, 3)), Y, 1).alternatives(within=0.5)
        >>> near.subsets, near.complete
        ((('x1',),), True)
        """
        share = check_number("within", within, 0.0, 1.0, open_high=True)
        seconds = check_number("time_limit", time_limit, 0.0, open_low=True)
        if self.problem is None:
            reason = self.why_unproved or (
                "that of a large table, of a kernel other than the linear one, or of one "
                "comparison of many, is not kept"
            )
            raise InputError(f"alternatives() has no problem to search: {reason}")
        return self.problem.alternatives(self, share, Control(time_limit=seconds))

    @property
    def why_unproved(self) -> str:
        """Why nothing is proved about the choice; empty if something is."""
        if self.method:
            return f"{self.method} selects without one"
        if self.upper_bound is None:
            budget = current_budget()
            return (
                f"a selection by {self.maker} with solver {self.solver!r} has no certificate; the "
                "default selection and kernel='linear' have, and kernel='gaussian' and 'quadratic' "
                f"for at most {budget.certified_columns} columns and "
                f"{budget.certified_variables} variables"
            )
        return ""

    def to_frame(self) -> Any:
        """Return the selected variables as a table (pandas, or pyarrow), largest weight first."""
        return make_frame(variable_rows(self))

    @property
    def maker(self) -> str:
        """What chose the variables: evidence, kernel and λ, or the baseline."""
        if self.method:
            return self.method
        if self.objective == EVIDENCE:
            return "joint criterion"
        what = "r" if self.objective == RATIO else "λ"
        by = "ratio criterion, " if self.objective == RATIO else ""
        return f"{by}{self.kernel} kernel, {what} = {self.regularization:g}"

    @property
    def unused(self) -> int:
        """How many of the places that were allowed are left empty: no more variables would help."""
        varying = len(self.names) - len(self.constant)
        allowed = self.support.size if self.n_variables is None else self.n_variables
        return max(min(allowed, varying) - self.support.size, 0)

    @property
    def remarks(self) -> list[str]:
        """What a reader of the choice should know beside the certificate, one sentence each."""
        remarks = []
        if self.unused > 0:
            allowed = self.unused + self.support.size
            remarks.append(
                f"{self.unused} fewer than the {allowed} variables allowed were selected: no "
                "other variable improves the criterion"
            )
        if self.drawn_rows is not None:
            x, y = self.drawn_rows
            drawn = f"{x:,} and {y:,} rows, drawn at random"
            if self.objective == EVIDENCE:
                remarks.append(
                    f"Columns and correlations were judged by all rows, the rest by {drawn}"
                )
            else:
                remarks.append(f"Selected on {drawn}")
        if self.n_features is not None:
            remarks.append(
                f"Objective and weights were computed from {self.n_features:,} features of the "
                "kernel instead of all pairs of rows"
            )
        if self.runner_up is not None:
            hint = ""
            if self.near is None and self.problem is not None and self.runner_up.share >= NEAR:
                hint = "; selection.alternatives() lists all subsets within 1 %"
            remarks.append(f"{self.runner_up.description()}{hint}")
        if self.near is not None:
            remarks.append(self.near.description())
        for name in self.weights:
            others = self.substitutes.get(name, ())
            if others:
                shown = listed(others, FEW_SUBSTITUTES)
                remarks.append(f"{safe(name)} is interchangeable with {shown}")
        return remarks

    @property
    def gap(self) -> float | None:
        """Relative gap between `upper_bound` and `value`, or None without a bound."""
        return None if self.upper_bound is None else relative_gap(self.value, self.upper_bound)

    @property
    def certificate(self) -> str:
        """What is proved about the choice, in words."""
        chosen = counted(self.support.size, "variable")
        by = f"{self.solver}, {self.seconds:.2f} s"
        if self.method:
            return self._certificate_of_method(chosen)
        if self.gap is None or not math.isfinite(self.gap):
            if self.proof is not None:
                by += "; a longer time_limit, or result.prove(time_limit=60), may prove more"
            return f"a heuristic subset of {chosen}, not proved to be optimal ({by})"
        allowed = self.support.size if self.n_variables is None else self.n_variables
        chosen = counted(allowed, "variable")
        if self.n_candidates is not None and self.n_candidates < len(self.names) - len(
            self.constant
        ):
            chosen += f" of the {self.n_candidates:,} with the most evidence"
        elif self.nonnegative and self.objective != EVIDENCE:
            chosen += ", with non-negative weights"
        subsets = f"among all subsets of at most {chosen} (relative gap {_percent(self.gap)}; {by}"
        if self.status == "optimal":
            return f"optimal {subsets})"
        if self.status == "time_limit":
            longer = "" if self.proof is None else ", or result.prove(time_limit=60),"
            subsets += f"; a longer time_limit{longer} may prove more"
        return f"not proved to be optimal {subsets})"

    def _certificate_of_method(self, chosen: str) -> str:
        if self.support.size + len(self.constant) == len(self.names):
            return f"not applicable: {self.method} uses all variables that vary"
        if self.gap is None or not math.isfinite(self.gap):
            return f"none: {self.method} selects {chosen} without a proof of optimality"
        return (
            f"optimal for the objective of {self.method} among all subsets of at most {chosen} "
            f"(relative gap {_percent(self.gap)})"
        )

    def summary(self) -> str:
        """Return the selected variables and the certificate as plain text.

        Examples
        --------
        >>> import numpy as np, tellapart as ta
        >>> rng = np.random.default_rng(0)
        >>> Y = rng.normal(size=(60, 3)) + [0, 3, 0]
        >>> print(ta.select_variables(rng.normal(size=(50, 3)), Y, 1).summary())
        1 of 3 variables selected (joint criterion):
          x1   1.000  mean ... in X, ... in Y; SMD ...
        Certificate: optimal among all subsets of at most 1 variable (relative gap 0 %; ...).
        Runner-up subset (proved): x2 instead of x1, with 14.6 % of the criterion.
        """
        head = f"{self.support.size} of {len(self.names)} variables selected ({self.maker}):"
        remarks = [f"{remark}." for remark in self.remarks]
        lines = [head, *weight_lines(self), f"Certificate: {self.certificate}.", *remarks]
        return "\n".join(lines)

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
            "objective": self.objective,
            "n_variables": self.n_variables,
            "reasons": dict(zip(self.variables, self.reasons, strict=False)),
            "substitutes": {name: list(others) for name, others in self.substitutes.items()},
            "runner_up": None if self.runner_up is None else self.runner_up.to_dict(),
            "near": None if self.near is None else self.near.to_dict(),
            "n_candidates": self.n_candidates,
            "drawn_rows": None if self.drawn_rows is None else list(self.drawn_rows),
            "n_features": self.n_features,
            "groups": [[self.names[s] for s in group] for group in self.groups],
            "changes": {name: change.to_dict() for name, change in self.changes.items()},
        }

    def _repr_html_(self) -> str:
        from tellapart.report.notebook import selection_card

        return selection_card(self)

    def __repr__(self) -> str:
        return f"<Selection of {self.support.size} of {len(self.names)} variables, {self.status}>"


def _percent(gap: float) -> str:
    if gap <= ROUNDING:
        return "0 %"
    digits = ".2g" if gap < 1 else ".0f"
    return f"{100 * gap:{digits}} %"


def weight_lines(selection: Selection) -> list[str]:
    """Return one aligned line per selected variable, the largest weight first."""
    description, weights = selection.description, selection.weights
    width = max((len(safe(name)) for name in weights), default=0)
    return [
        f"  {safe(name):<{width}}  {weight: .3f}  {description[name]}".rstrip()
        for name, weight in weights.items()
    ]
