"""Measure the chosen variables in every group: which way each differs, and how much."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.columns import place_of_yes
from tellapart.data.grouping import UNLABELLED, GroupedTable
from tellapart.groups.result import REST, Comparison, Profile

MOST_PER_COMPARISON = 5
"""Of each comparison the heaviest variables, so many at most…"""
MOST_VARIABLES = 60
"""…and so many in all: more can be neither drawn nor read."""
COMMON = 0.1
"""A value that so many rows share is common: the rows above it are counted."""
# Groups that do not vary within themselves have no SD to count in but this share of all rows'.
LEAST_SHARE = 0.01


def profile_groups(grouped: GroupedTable, comparisons: Sequence[Comparison]) -> Profile:
    """Return the heaviest variables of the comparisons that differ, in every group.

    The effect is Hedges' g of the group's rows against all other rows, as in
    `tellapart.effects.columns.location`.
    """
    chosen = _chosen(grouped, comparisons)
    rows = np.flatnonzero(grouped.groups != UNLABELLED)
    own = grouped.groups[rows]
    columns = np.array(list(chosen), dtype=np.intp)
    values = np.asarray(grouped.values[:, columns], dtype=np.float64)[rows]
    table, shares, names = _measured(grouped, columns, values, own)
    of_group = np.array([_listed_under(table[i], chosen[c]) for i, c in enumerate(chosen)])
    order = np.lexsort((np.arange(of_group.size), of_group)) if of_group.size else of_group
    picked = np.zeros(table.shape, dtype=bool)
    pvalues = np.ones(table.shape)
    for i, column in enumerate(chosen):
        for g, p in chosen[column].items():
            picked[i, g], pvalues[i, g] = True, p
    order = order.astype(np.intp)
    return Profile(
        variables=tuple(names[i] for i in order),
        groups=grouped.labels,
        listed_under=tuple(int(g) for g in of_group[order]),
        effects=table[order],
        shares=shares[order],
        chosen=picked[order],
        pvalues=pvalues[order],
    )


def _chosen(
    grouped: GroupedTable, comparisons: Sequence[Comparison]
) -> dict[int, dict[int, float]]:
    """Return for each variable the groups it was chosen for, with its smallest p-value there."""
    found: dict[int, dict[int, float]] = {}
    places = {name: s for s, name in enumerate(grouped.names)}
    for comparison in comparisons:
        if not comparison.reject:
            continue
        sides = [label for label in (comparison.group, comparison.against) if label != REST]
        known = {} if comparison.result.scan is None else comparison.result.variable_pvalues
        for name in comparison.variables[:MOST_PER_COMPARISON]:
            if places[name] not in found and len(found) == MOST_VARIABLES:
                continue
            groups = found.setdefault(places[name], {})
            for label in sides:
                place = grouped.labels.index(label)
                groups[place] = min(groups.get(place, 1.0), known.get(name, 1.0))
    return found


def _listed_under(effects: FloatArray, groups: dict[int, float]) -> int:
    """Return the group that a variable is listed under: the clearest of those it was chosen for."""
    return max(groups, key=lambda g: abs(float(effects[g])))


def _measured(
    grouped: GroupedTable, columns: IntArray, values: FloatArray, own: IntArray
) -> tuple[FloatArray, FloatArray, list[str]]:
    """Return effects and shares of every variable and group, and what the variables are called."""
    members = own[np.newaxis] == np.arange(len(grouped.labels))[:, np.newaxis]
    effects = np.zeros((columns.size, len(grouped.labels)))
    shares = np.zeros_like(effects)
    names = [grouped.names[c] for c in columns]
    for i, column in enumerate(columns):
        # A row without a value of this variable has no part in it.
        there = ~np.isnan(values[:, i])
        name, value, member = grouped.names[column], values[there, i], members[:, there]
        if grouped.kinds[column] == "categorical":
            levels = np.unique(value)
            every = [_effects((value == level).astype(np.float64), member) for level in levels]
            best = int(np.argmax([np.abs(of_level).max() for of_level in every]))
            labels = [grouped.categories[name][int(level)] for level in levels]
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
