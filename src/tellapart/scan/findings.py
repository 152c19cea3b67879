"""What the scan names: columns, pairs and triples with adjusted p-values and effect sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.effects.raw_columns import RawColumns
from tellapart.scan.adjusted import TableUnits, Units, step_down
from tellapart.scan.column_changes import column_changes
from tellapart.scan.column_contest import ColumnContest
from tellapart.scan.describe import Describer, NamedGroup, describe_groups
from tellapart.scan.families.correlation import PairScan
from tellapart.scan.families.missingness import MissingScan
from tellapart.scan.families.triple import TripleKind, TripleScan
from tellapart.scan.finding import Finding, sort_findings
from tellapart.scan.groups_of_columns import GroupScores, Kind
from tellapart.scan.new_values import ValuesScan
from tellapart.scan.pool import Pool
from tellapart.scan.wide_names import OTHERS, OtherUnits


@dataclass(frozen=True)
class Findings:
    """The findings, most significant first, and the adjusted p-value of every column.

    `columns`, `pairs` and `triples` are the places of what they are about, `unlisted` the numbers
    of further pairs and triples that are significant.
    """

    findings: tuple[Finding, ...]
    column_pvalues: FloatArray
    columns: tuple[int, ...] = ()
    pairs: tuple[tuple[int, ...], ...] = ()
    triples: tuple[tuple[int, ...], ...] = ()
    unlisted: Mapping[str, int] = field(default_factory=dict)


def find(
    names: tuple[str, ...],
    pool: Pool,
    pair_scans: list[PairScan],
    triple_scan: TripleScan | None,
    missing_scan: MissingScan | None,
    values_scan: ValuesScan | None = None,
    *,
    pvalue: float,
    alpha: float,
    raw: RawColumns,
    contest: ColumnContest | None = None,
) -> Findings:
    """Name what differs and describe it by the values of `raw`.

    Where the `contest` of all columns is known, `pool` is that of pairs and triples. No adjusted
    p-value is smaller than that of the scan itself, so nothing is named where the samples as a
    whole do not differ.
    """
    parent = pool.tables.column
    place_of = {name: place for place, name in enumerate(names)}
    contest = contest or ColumnContest.of(column_changes(pool))
    pairs = GroupScores(_pair_kinds(pair_scans), parent)
    triples = GroupScores(_triple_kinds(triple_scan), parent)
    columns_left = contest.units()
    classes: dict[str, Units] = {"columns": columns_left}
    if pairs.candidates:
        classes["pairs"] = pairs
    if triples.candidates:
        classes["triples"] = triples
    missing_left = None if missing_scan is None else TableUnits(missing_scan.scores)
    if missing_left is not None:
        classes["missing"] = missing_left
    values_left = None if values_scan is None else values_scan.units()
    if values_left is not None:
        classes["values"] = values_left
    shifts = pool.shifts
    others_left = None if shifts is None else OtherUnits(shifts)
    if others_left is not None:
        classes[OTHERS] = others_left
    named_of = step_down(classes, alpha)
    adjusted = contest.adjusted(columns_left, named_of["columns"])
    of_column = np.ones(len(names))
    of_column[contest.columns] = np.maximum(adjusted, pvalue)
    if shifts is not None and others_left is not None:
        of_others = np.maximum(others_left.adjusted(named_of[OTHERS]), pvalue)
        of_column[shifts.columns[shifts.named]] = of_others[shifts.named]
    by_values = of_column.copy()
    of_missing = np.empty(0)
    if missing_scan is not None and missing_left is not None:
        of_missing = np.maximum(missing_left.adjusted(named_of["missing"]), pvalue)
        for name, p in zip(missing_scan.names, of_missing.tolist(), strict=True):
            # A column differs where its values do, or what is missing of it.
            if name in place_of:
                place = place_of[name]
                of_column[place] = min(of_column[place], p)
    apart: list[tuple[int, list[tuple[float, float]], float]] = []
    if values_scan is not None and values_left is not None:
        of_values = values_left.adjusted(named_of["values"])
        places, p_of = values_scan.column_pvalues(of_values)
        of_column[places] = np.minimum(of_column[places], np.maximum(p_of, pvalue))
        apart = values_scan.named(of_values, alpha)
    if pvalue > alpha:
        return Findings((), of_column)
    floor = 0.0 if pool.labels.exact else 1 / pool.count
    describer = Describer(raw)
    columns = [int(c) for c in np.argsort(by_values, kind="stable") if by_values[c] <= alpha]
    n_columns = int(contest.columns.size)
    if shifts is not None:
        n_columns += int(shifts.named.sum())
    found = describer.columns(
        [(column, float(by_values[column])) for column in columns], n_columns, alpha, floor
    )
    reported = {(finding.variables, finding.values) for finding in found}
    for column, ranges, p in apart:
        values = describer.values_apart(column, ranges, max(p, pvalue), n_columns, floor)
        if (values.variables, values.values) not in reported:
            found.append(values)
    found += [
        describer.missing(int(place), float(of_missing[place]), n_columns, floor)
        for place in np.argsort(of_missing, kind="stable")
        if of_missing[place] <= alpha
    ]
    tables = pool.tables
    levels = [one or other for one, other in zip(tables.told_by, tables.level, strict=True)]
    explained = {*columns, *(column for column, _, _ in apart)}
    unlisted = {}
    described: list[list[NamedGroup]] = []
    for scored, of_class, n_groups in (
        (pairs, "pairs", _most(pairs_of.size for s in pair_scans for pairs_of in s.pairs.values())),
        (triples, "triples", _most(kind.triples.size for kind in _kinds(triple_scan))),
    ):
        groups = scored.named(named_of[of_class], alpha) if scored.taken else []
        if groups:
            unlisted[of_class] = scored.n_unlisted(named_of[of_class], alpha)
        # What columns and pairs show already is not reported again of the triples they are in.
        if of_class == "triples":
            known = [set(group.columns) for group in described[0]] + [{c} for c in columns]
            groups = [(c, p) for c, p in groups if not any(own <= set(c.columns) for own in known)]
        named = [
            NamedGroup(
                tuple(int(parent[s]) for s in candidate.score_columns),
                tuple(levels[s] for s in candidate.score_columns),
                max(p, pvalue),
            )
            for candidate, p in groups
        ]
        about = describe_groups(describer, named, n_groups, alpha, floor, explained)
        found += [finding for _, finding in about]
        described.append([group for group, _ in about])
    return Findings(
        sort_findings(found),
        of_column,
        tuple(sorted(explained)),
        tuple(tuple(sorted(group.columns)) for group in described[0]),
        tuple(tuple(sorted(group.columns)) for group in described[1]),
        {name: count for name, count in unlisted.items() if count},
    )


def _pair_kinds(scans: list[PairScan]) -> list[Kind]:
    return [
        Kind(kind, largest, np.column_stack([scan.pairs[kind].s, scan.pairs[kind].t]))
        for scan in scans
        for kind, largest in scan.largest.items()
    ]


def _triple_kinds(scan: TripleScan | None) -> list[Kind]:
    return [
        Kind(kind.score, kind.largest, np.column_stack([*kind.triples.columns()]))
        for kind in _kinds(scan)
    ]


def _kinds(scan: TripleScan | None) -> tuple[TripleKind, ...]:
    return () if scan is None else scan.kinds


def _most(counts: Iterable[int]) -> int:
    return max(counts, default=1)
