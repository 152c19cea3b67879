"""The calls whose answers are compared, and what of an answer counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

import tellapart as ta
from invariance.changes import Form

Found = Mapping[tuple[str, frozenset[str]], float]
SEED = 3


@dataclass(frozen=True)
class Answer:
    """What a call answered, by names and not by places.

    Attributes
    ----------
    choice : frozenset of str
        The chosen variables; of several comparisons, with the comparison.
    weights, numbers : mapping
        Weights of the chosen; value and bound of the choice, statistic and critical value.
    pvalues : tuple of float
        The p-values of the call.
    findings : mapping
        What was named, by kind and columns, with its adjusted p-value.
    """

    choice: frozenset[str]
    weights: Mapping[str, float]
    numbers: Mapping[str, float | None]
    pvalues: tuple[float, ...] = ()
    findings: Found = field(default_factory=dict)


def of_selection(chosen: Any) -> Answer:
    """Return what counts of a selection."""
    numbers = {"value": chosen.value, "bound": chosen.upper_bound}
    return Answer(frozenset(chosen.variables), chosen.weights, numbers)


def of_test(result: Any) -> Answer:
    """Return what counts of a test."""
    own = of_selection(result.selection)
    numbers = {"statistic": result.statistic, "threshold": result.threshold}
    named = {(f.kind, frozenset(f.variables)): f.pvalue for f in result.findings}
    return Answer(own.choice, own.weights, {**own.numbers, **numbers}, (result.pvalue,), named)


def _select(**options: Any) -> Call:
    def call(X: pd.DataFrame, Y: pd.DataFrame, form: Form, **more: Any) -> Answer:
        found = ta.select_variables(form(X), form(Y), 2, random_state=SEED, **options, **more)
        return of_selection(found)

    return call


def _test(**options: Any) -> Call:
    def call(X: pd.DataFrame, Y: pd.DataFrame, form: Form, **more: Any) -> Answer:
        found = ta.two_sample_test(form(X), form(Y), random_state=SEED, **options, **more)
        return of_test(found)

    return call


def _selector(X: pd.DataFrame, Y: pd.DataFrame, form: Form, **more: Any) -> Answer:
    """Return the choice of the scikit-learn selector, number of variables and λ tuned."""
    both, labels = pd.concat([X, Y]), np.repeat([0, 1], [len(X), len(Y)])
    options: dict[str, Any] = {"kernel": "linear", "regularization": "cv", "random_state": SEED}
    found = ta.MMDSelector(**options, **more).fit(form(both), labels)
    return of_selection(found.selection_)


def _groups(X: pd.DataFrame, Y: pd.DataFrame, form: Form, **more: Any) -> Answer:
    """Return the comparisons of three groups: half of X, the other half, and Y."""
    half = np.where(X["x1"] > X["x1"].median(), "high", "low")
    labels = np.concatenate([half, np.repeat("other", len(Y))])
    options: dict[str, Any] = {"mode": "pairwise", "random_state": SEED}
    result = ta.compare_groups(form(pd.concat([X, Y])), labels, **options, **more)
    choice, weights, findings, numbers, pvalues = set(), {}, {}, {}, []
    for one in result.comparisons:
        of, pair = of_test(one.result), f"{one.group}-{one.against}"
        choice |= {f"{pair}: {name}" for name in of.choice}
        weights |= {f"{pair}: {name}": weight for name, weight in of.weights.items()}
        numbers |= {f"{pair}: {name}": number for name, number in of.numbers.items()}
        findings |= {(f"{pair}: {kind}", names): p for (kind, names), p in of.findings.items()}
        pvalues.append(one.pvalue)
    return Answer(frozenset(choice), weights, numbers, tuple(pvalues), findings)


def _monitor(X: pd.DataFrame, Y: pd.DataFrame, form: Form, **more: Any) -> Answer:
    """Return the first check of a monitor."""
    monitor = ta.compare_to_reference(form(X), random_state=SEED, **more)
    return of_test(monitor.check(form(Y)))


Call = Callable[..., Answer]
CALLS: dict[str, Call] = {
    "two_sample_test": _test(),
    'two_sample_test(method="split")': _test(method="split"),
    "select_variables": _select(),
    'select_variables(kernel="linear")': _select(kernel="linear"),
    'select_variables(kernel="linear", regularization="cv")': _select(
        kernel="linear", regularization="cv"
    ),
    'select_variables(kernel="quadratic", regularization="cv")': _select(
        kernel="quadratic", regularization="cv"
    ),
    'select_variables(kernel="gaussian")': _select(kernel="gaussian"),
    "MMDSelector": _selector,
    "compare_groups": _groups,
    "compare_to_reference": _monitor,
}
