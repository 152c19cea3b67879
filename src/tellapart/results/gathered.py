"""Findings that repeat one cause, gathered: columns that move together, pairs that share a column.

Columns whose means or proportions differ are clustered by their rank correlation within samples,
with the signs of their effects: s_ij = sgn(e_i) sgn(e_j) r_ij is large where both differ in the
direction that their correlation predicts. Clusters of average linkage with s ≥ 0.5 and three or
more columns move together. Pairs and triples of one kind are gathered by the column that most of
them contain, columns that move together counting as one, as long as three or more do. Labels decide
which columns have findings and in which direction, but take no part in correlations. Findings are
gathered, not tested.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from tellapart.arrays import FloatArray
from tellapart.budget import current_budget
from tellapart.data.samples import Samples
from tellapart.effects.raw_columns import RawColumns
from tellapart.errors import InputError
from tellapart.optional import stats
from tellapart.scan.finding import Finding
from tellapart.text import counted, listed, number_word, safe

if TYPE_CHECKING:
    from tellapart.results.result import TestResult

ALIKE = 0.5
"""Mean correlation within a cluster, at least."""
FEWEST = 3
"""Findings that are worth gathering."""
MOST_COLUMNS = 1_000
"""Columns that are clustered, the most significant."""
MOST_NAMES = 3
MOST_GROUPS = 4
"""Groups that the sentence has."""
MOVING = ("location", "share")
NOUNS = {
    "correlation": "correlations",
    "dependence": "non-linear dependences of pairs",
    "triple": "three-way interactions",
}


@dataclass(frozen=True)
class Gathered:
    """Findings of one kind that belong together.

    Attributes
    ----------
    kind : str
        Their kind.
    column : str
        The column that all of them contain; of columns that move together, the one most correlated
        with the others.
    findings : tuple of int
        Their places in `TestResult.findings`.
    variables : tuple of str
        The columns that move together, or that one of which all of them contain; the most
        significant first.
    correlation : float
        The mean rank correlation, within samples, of columns that move together; NaN for pairs.
    """

    kind: str
    column: str
    findings: tuple[int, ...]
    variables: tuple[str, ...]
    correlation: float = math.nan

    def summary(self) -> str:
        """Return the findings as part of a sentence.

        >>> Gathered("correlation", "alcohol", (0, 2, 3), ("alcohol",)).summary()
        'three correlations all contain alcohol'
        """
        count = number_word(len(self.findings))
        if math.isnan(self.correlation):
            what = NOUNS.get(self.kind, "findings of several columns")
            or_others = ""
            if len(self.variables) > 1:
                others = len(self.variables) - 1
                or_others = f" or {'one of ' if others > 1 else ''}{counted(others, 'column')} that"
                or_others += " move with it" if others > 1 else " moves with it"
            return f"{count} {what} all contain {safe(self.column)}{or_others}"
        rest = [name for name in self.variables if name != self.column]
        return (
            f"{count} columns move together: {safe(self.column)}, "
            f"{listed(rest, MOST_NAMES)} (mean rank correlation {self.correlation:.2f})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values, ready for JSON."""
        plain = asdict(self)
        plain["findings"], plain["variables"] = list(self.findings), list(self.variables)
        plain["correlation"] = None if math.isnan(self.correlation) else self.correlation
        return plain


def gather_findings(result: TestResult) -> tuple[Gathered, ...]:
    """Return the findings of a result that repeat one cause, the largest groups first."""
    findings = result.findings if result.reject else ()
    groups = _moving(findings, result.held_out)
    cluster_of = {name: group for group in groups for name in group.variables}
    for kind in dict.fromkeys(f.kind for f in findings if len(f.variables) > 1):
        groups = groups + _sharing(findings, kind, cluster_of)
    return tuple(sorted(groups, key=lambda group: (-len(group.findings), group.findings)))


def describe_gathered(gathered: Sequence[Gathered]) -> str:
    """Return the largest groups of findings in one sentence; empty where there are none."""
    if not gathered:
        return ""
    parts = [group.summary() for group in gathered[:MOST_GROUPS]]
    if len(gathered) > MOST_GROUPS:
        parts.append(counted(len(gathered) - MOST_GROUPS, "smaller group"))
    return f"In short: {'; '.join(parts)}."


def _sharing(
    findings: Sequence[Finding], kind: str, cluster_of: Mapping[str, Gathered]
) -> list[Gathered]:
    """Return pairs or triples of one kind, by the column that most of those left contain.

    A column that moves with others stands for all of them.
    """

    def column_of(name: str) -> str:
        return cluster_of[name].column if name in cluster_of else name

    left = [k for k, f in enumerate(findings) if f.kind == kind and len(f.variables) > 1]
    groups = []
    while left:
        columns = {k: dict.fromkeys(map(column_of, findings[k].variables)) for k in left}
        counts = Counter(column for k in left for column in columns[k])
        # The first of equally frequent ones: that of the most significant finding.
        column, count = counts.most_common(1)[0]
        if count < FEWEST:
            break
        members = [k for k in left if column in columns[k]]
        names = (name for k in members for name in findings[k].variables)
        contained = dict.fromkeys(name for name in names if column_of(name) == column)
        variables = tuple(contained)
        first = column if column in contained else variables[0]
        groups.append(Gathered(kind, first, tuple(members), variables))
        left = [k for k in left if column not in columns[k]]
    return groups


def _moving(findings: Sequence[Finding], samples: Samples) -> list[Gathered]:
    """Return columns of numbers that differ in the direction which their correlation predicts."""
    place_of = {name: k for k, name in enumerate(samples.names)}
    places: dict[str, int] = {}
    for k, finding in enumerate(findings):
        name = finding.variables[0]
        numeric = name in place_of and samples.kinds[place_of[name]] == "numeric"
        alone = len(finding.variables) == 1 and finding.kind in MOVING
        if numeric and alone and math.isfinite(finding.effect) and finding.effect:
            places.setdefault(name, k)
    names = list(places)[:MOST_COLUMNS]
    if len(names) < FEWEST:
        return []
    try:
        correlations = _correlations(samples, [place_of[name] for name in names])
    except InputError:
        # A result that holds the rows of some columns only.
        return []
    signs = np.sign([findings[places[name]].effect for name in names])
    alike = correlations * np.outer(signs, signs)
    apart = np.maximum(1 - alike, 0.0)[np.triu_indices(len(names), 1)]
    clusters = fcluster(linkage(apart, "average"), 1 - ALIKE, "distance")
    groups = []
    for number in dict.fromkeys(clusters.tolist()):
        members = np.flatnonzero(clusters == number)
        if members.size < FEWEST:
            continue
        within = alike[np.ix_(members, members)]
        totals = within.sum(axis=1) - 1
        mean = float(totals.sum() / (members.size * (members.size - 1)))
        chosen = [names[m] for m in members]
        found = tuple(sorted(places[name] for name in chosen))
        kind = findings[found[0]].kind
        groups.append(Gathered(kind, chosen[int(totals.argmax())], found, tuple(chosen), mean))
    return groups


def _correlations(samples: Samples, columns: Sequence[int]) -> FloatArray:
    """Return rank correlations within samples, from evenly spaced rows where there are many."""
    most = max(current_budget().described_entries // len(columns), 2)
    total = samples.n_x + samples.n_y
    sides = []
    for values in RawColumns(samples).values(columns):
        kept = max(min(len(values), round(most * len(values) / total)), 2)
        sides.append(values[np.linspace(0, len(values) - 1, kept).astype(np.intp)])
    ranks = stats.rankdata(np.concatenate(sides), axis=0, nan_policy="omit")
    parts = []
    for part in np.split(ranks, [len(sides[0])]):
        centred = part - np.nanmean(part, axis=0)
        parts.append(np.where(np.isnan(centred), 0.0, centred))
    within = np.concatenate(parts)
    lengths = np.sqrt(np.square(within).sum(axis=0))
    scaled = within / np.where(lengths > 0, lengths, 1.0)
    return np.asarray(scaled.T @ scaled)
