"""The selected variables in every group: direction and size of their differences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.columns import place_of_yes
from tellapart.data.grouping import UNLABELLED, GroupedTable
from tellapart.groups.result import REST, Comparison, Profile

MOST_PER_COMPARISON = 5
"""Variables of each comparison, those with the largest weights…"""
MOST_VARIABLES = 60
"""…and in all: more can be neither drawn nor read."""
COMMON = 0.1
"""A value that at least this share of the rows has is common: the rows above it are counted."""
LEAST_SHARE = 0.01
"""The SD within groups is taken as at least this share of the SD of all rows."""


def profile_groups(grouped: GroupedTable, comparisons: Sequence[Comparison]) -> Profile:
    """Return the heaviest variables of the comparisons that differ, in every group.

    The effect is Hedges' g of the group's rows against all other rows, as in
    `tellapart.effects.columns.location`.
    """
    selected = _selected_variables(grouped, comparisons)
    rows = np.flatnonzero(grouped.groups != UNLABELLED)
    columns = np.array(list(selected), dtype=np.intp)
    values = np.asarray(grouped.rows.values[:, columns], dtype=np.float64)[rows]
    effects, shares, names = _measure(grouped, columns, values, grouped.groups[rows])
    chosen = np.zeros(effects.shape, dtype=bool)
    pvalues = np.ones(effects.shape)
    listed_under = np.zeros(columns.size, dtype=np.intp)
    for i, group_pvalues in enumerate(selected.values()):
        listed_under[i] = max(group_pvalues, key=lambda g: abs(float(effects[i, g])))
        for g, pvalue in group_pvalues.items():
            chosen[i, g], pvalues[i, g] = True, pvalue
    order = np.argsort(listed_under, kind="stable")
    return Profile(
        variables=tuple(names[i] for i in order),
        groups=grouped.labels,
        listed_under=tuple(listed_under[order].tolist()),
        effects=effects[order],
        shares=shares[order],
        chosen=chosen[order],
        pvalues=pvalues[order],
    )


def _selected_variables(
    grouped: GroupedTable, comparisons: Sequence[Comparison]
) -> dict[int, dict[int, float]]:
    """Return for each selected column its groups, with its smallest p-value in each of them."""
    selected: dict[int, dict[int, float]] = {}
    position = {name: s for s, name in enumerate(grouped.rows.names)}
    for comparison in comparisons:
        if not comparison.reject:
            continue
        labels = [label for label in (comparison.group, comparison.against) if label != REST]
        pvalues = comparison.result.variable_pvalues
        for name in comparison.variables[:MOST_PER_COMPARISON]:
            if position[name] not in selected and len(selected) == MOST_VARIABLES:
                continue
            groups = selected.setdefault(position[name], {})
            for group in map(grouped.labels.index, labels):
                groups[group] = min(groups.get(group, 1.0), pvalues.get(name, 1.0))
    return selected


def _measure(
    grouped: GroupedTable, columns: IntArray, values: FloatArray, groups: IntArray
) -> tuple[FloatArray, FloatArray, list[str]]:
    """Return effects and shares of every variable and group, and the names of the variables."""
    members = groups[np.newaxis] == np.arange(len(grouped.labels))[:, np.newaxis]
    effects = np.zeros((columns.size, len(grouped.labels)))
    shares = np.zeros_like(effects)
    names = [grouped.rows.names[c] for c in columns]
    for i, column in enumerate(columns):
        present = ~np.isnan(values[:, i])
        name, value, member = grouped.rows.names[column], values[present, i], members[:, present]
        if grouped.rows.kinds[column] == "categorical":
            levels = np.unique(value)
            every = [_effects((value == level).astype(np.float64), member) for level in levels]
            best = int(np.argmax([np.abs(of_level).max() for of_level in every]))
            labels = [grouped.rows.categories[name][int(level)] for level in levels]
            if len(labels) == 2:  # one says as much as the other
                yes = place_of_yes(labels)
                best = best if yes is None else yes
            names[i] = f"{name} = {labels[best]}"
            effects[i], above = every[best], value == levels[best]
        else:
            effects[i], above = _effects(value, member), value > _usual(value)
        shares[i] = member @ above.astype(np.float64) / np.maximum(member.sum(axis=1), 1)
    return effects, shares, names


def _effects(value: FloatArray, member: NDArray[np.bool_]) -> FloatArray:
    """Return Hedges' g of each group against all other rows; 0 where nothing varies."""
    # Centred, squares are small and their sums exact enough.
    value = value - value.mean()
    n = np.maximum(member.sum(axis=1), 1)
    others = np.maximum(value.size - n, 1)
    sums = member @ value
    mean, mean_others = sums / n, -sums / others
    within = np.square(value).sum() - n * np.square(mean) - others * np.square(mean_others)
    spare = np.maximum(n + others - 2, 1)
    overall = float(np.square(value).mean())
    variance = np.maximum(within / spare, LEAST_SHARE**2 * overall)
    correction = 1 - 3 / np.maximum(4 * spare - 1, 3.5)
    shift = correction * (mean - mean_others)
    return np.asarray(shift / np.sqrt(np.where(variance > 0, variance, 1.0)))


def _usual(value: FloatArray) -> float:
    """Return the most common value where one is common, else the median."""
    present, counts = np.unique(value, return_counts=True)
    if counts.max() >= COMMON * value.size:
        return float(present[int(counts.argmax())])
    return float(np.median(value))
