"""What the scan names: columns, pairs and triples with adjusted p-values, sizes and intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.data.samples import Samples
from tellapart.scan.adjusted import Reference, TableUnits, Units, step_down
from tellapart.scan.column_contest import Contestants
from tellapart.scan.describe import Describer
from tellapart.scan.families.correlation import PairScan
from tellapart.scan.families.missingness import MissingScan
from tellapart.scan.families.triple import TripleScan
from tellapart.scan.finding import SHAPE, Finding
from tellapart.scan.groups_of_columns import Candidate, GroupScores, Kind
from tellapart.scan.pool import Pool
from tellapart.scan.wide_names import OTHERS, OtherUnits, describe_others


@dataclass(frozen=True)
class Findings:
    """The findings, the surest first, and the adjusted p-value of every column of the samples.

    `n_undescribed` columns are named by their p-values alone: of very many, the surest have
    findings.
    """

    findings: tuple[Finding, ...]
    column_pvalues: FloatArray
    columns: tuple[int, ...] = ()
    pairs: tuple[tuple[int, ...], ...] = ()
    triples: tuple[tuple[int, ...], ...] = ()
    n_undescribed: int = 0


def find(
    names: tuple[str, ...],
    pool: Pool,
    pair_scans: list[PairScan],
    triple_scan: TripleScan | None,
    missing_scan: MissingScan | None,
    *,
    pvalue: float,
    alpha: float,
    rng: np.random.Generator,
    samples: Samples | None = None,
    contestants: Contestants | None = None,
) -> Findings:
    """Name what differs; `samples` are the rows of a wide table, of which `pool` has some columns.

    So it has where all columns are `contestants` already: it is then that of pairs and triples. No
    adjusted p-value is smaller than that of the scan itself, so nothing is named where the samples
    as a whole do not differ.
    """
    parent = pool.tables.column
    place_of = {name: place for place, name in enumerate(names)}
    contestants = contestants or Contestants.of(pool)
    contest = contestants.contest
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
    shifts = pool.shifts
    others_left = None if shifts is None else OtherUnits(shifts)
    if others_left is not None:
        classes[OTHERS] = others_left
    named_of = step_down(classes, alpha)
    adjusted = contest.adjusted(columns_left, named_of["columns"])
    of_column = np.ones(len(names))
    of_column[contest.columns] = np.maximum(adjusted, pvalue)
    of_others = np.empty(0)
    if shifts is not None and others_left is not None:
        of_others = np.maximum(others_left.adjusted(named_of[OTHERS]), pvalue)
        of_column[shifts.columns[shifts.named]] = of_others[shifts.named]
    of_missing = np.empty(0)
    if missing_scan is not None and missing_left is not None:
        of_missing = np.maximum(missing_left.adjusted(named_of["missing"]), pvalue)
        for name, p in zip(missing_scan.names, of_missing.tolist(), strict=True):
            # A column differs where its values do, or what is missing of it.
            if name in place_of:
                place = place_of[name]
                of_column[place] = min(of_column[place], p)
    if pvalue > alpha:
        return Findings((), of_column)
    describer = Describer(names, pool, rng)
    named = contest.strongest(adjusted, alpha)
    described = named[: contestants.most]
    found = []
    if described.size:
        own, changes = contestants.look_closer(np.sort(contest.columns[described]))
        places = np.searchsorted(changes.columns, contest.columns[described])
        close = Describer(names, own, rng, like=describer)
        found = [
            close.column(changes, int(places[j]), kind, max(p, pvalue))
            for j, kind, p in _named_kinds(
                named_of["columns"].references,
                changes.scores[:, 0, places],
                adjusted[described],
                alpha,
            )
        ]
    if shifts is not None and samples is not None:
        found += describe_others(samples, shifts, of_others, alpha, rng, pool.labels, describer)
    columns = tuple(dict.fromkeys(place_of[f.variables[0]] for f in found))
    moved = {place_of[f.variables[0]] for f in found if f.kind != SHAPE}
    moved |= set(contest.columns[named[described.size :]].tolist())
    found += [
        describer.missing(int(place), float(of_missing[place]))
        for place in np.argsort(of_missing, kind="stable")
        if of_missing[place] <= alpha
    ]
    paired = pairs.named(named_of["pairs"], alpha) if pairs.taken else []
    # A shift or another spread of one column bends its dependence on others: that is one change.
    paired = [(c, p) for c, p in paired if c.what.is_correlation or not moved & set(c.columns)]
    found += [describer.pair(candidate, max(p, pvalue)) for candidate, p in paired]
    tripled = triples.named(named_of["triples"], alpha) if triples.taken else []
    # Nor is what columns and pairs say already said again of the triples they are part of.
    known = [set(candidate.columns) for candidate, _ in paired] + [{column} for column in columns]
    tripled = [(c, p) for c, p in tripled if not any(group <= set(c.columns) for group in known)]
    found += [describer.triple(candidate, max(p, pvalue)) for candidate, p in tripled]
    undescribed = int(np.count_nonzero(adjusted <= alpha)) - described.size
    return Findings(
        tuple(found), of_column, columns, _members(paired), _members(tripled), undescribed
    )


def _members(named: list[tuple[Candidate, float]]) -> tuple[tuple[int, ...], ...]:
    return tuple(candidate.columns for candidate, _ in named)


def _named_kinds(
    references: Sequence[Reference],
    scores: FloatArray,
    adjusted: FloatArray,
    alpha: float,
) -> list[tuple[int, int, float]]:
    """Return (place, kind, p-value) of what is named of the strongest columns, in their order.

    A kind is named where it alone would name the column; shape only where nothing simpler does.
    `references` are what they were compared with, `scores` those of the kinds at the true labels,
    (kinds × columns).
    """
    named: list[tuple[int, int, float]] = []
    for j in range(adjusted.size):
        own = np.maximum(references[j].pvalues(scores[:, j]), adjusted[j])
        kinds = [kind for kind in (0, 1) if own[kind] <= alpha] or [2]
        named += [(j, kind, float(own[kind])) for kind in kinds if own[kind] <= alpha]
    return named


def _pair_kinds(scans: list[PairScan]) -> list[Kind]:
    return [
        Kind(kind, largest, np.column_stack([scan.pairs[kind].s, scan.pairs[kind].t]))
        for scan in scans
        for kind, largest in scan.largest.items()
    ]


def _triple_kinds(scan: TripleScan | None) -> list[Kind]:
    if scan is None:
        return []
    return [
        Kind(kind.score, kind.largest, np.column_stack([*kind.triples.columns()]))
        for kind in scan.kinds
    ]
