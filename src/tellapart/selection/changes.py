"""What each chosen variable differs in: which way, how much, with an interval, and how sure.

What a scan names is told as the scan found it. Of the others the sizes are those of the rows, with
the adjusted p-value of the column: they were chosen together with others, and are not sure by
themselves. Sizes of variables that the same rows chose are somewhat too large, as the best of many
always look better than they are; on held-out rows they are not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice

import numpy as np

from tellapart.data.samples import Samples
from tellapart.permutation.keyed_bins import KeyedBins
from tellapart.scan.finding import LOCATION, MISSING, SHAPE, SHARE, SPREAD, Finding
from tellapart.scan.sizes import UNTESTED, Sizes, clearness, strongest
from tellapart.selection.selection import Selection

MOST_TOLD = 200
"""Variables that are told of at most, the heaviest."""
MOST_JOINT = 10
"""Variables chosen by a joint kernel among whose pairs a change of dependence is looked for."""
CLEAR = 1.0
"""Such a change is told where it is so many widths of its interval away from none."""

ANY = (LOCATION, SPREAD, SHAPE)
KINDS_OF = {
    "shift": (LOCATION, SHARE),
    "spread": (SPREAD,),
    "shape": (SHAPE,),
    "missing": (MISSING,),
}
"""The kinds of finding that each reason of a choice by evidence stands for."""


@dataclass(frozen=True)
class Named:
    """What a scan says at its level: its findings, and the adjusted p-value of every column."""

    findings: tuple[Finding, ...]
    pvalues: Mapping[str, float]
    alpha: float


def with_changes(
    selection: Selection,
    samples: Samples,
    rng: np.random.Generator,
    *,
    scanned: Named | None = None,
    train: Samples | None = None,
    joint: bool = False,
    labels: KeyedBins | None = None,
) -> Selection:
    """Return the selection with what its variables differ in.

    Parameters
    ----------
    selection : Selection
        The choice.
    samples : Samples
        The rows that sizes and intervals are those of.
    rng : numpy Generator
        Draws the resamples of the intervals.
    scanned : Named or None
        What a scan says of the same rows; None where none was made.
    train : Samples or None
        Rows that decide what to tell of each variable, where the others were not to choose.
    joint : bool
        Whether the variables were chosen by a kernel that sees how columns depend on each other:
        then the clearest change of a pair is told where it is clearer than those of its columns.
    labels : KeyedBins or None
        The bins that the resamples draw, where these are known.
    """
    chosen = list(islice(selection.weights, MOST_TOLD))
    wanted = {name: _wanted(selection, name) for name in chosen}
    found: dict[str, Finding] = {}
    if scanned is not None:
        known = ((name, _named(scanned, name, wanted[name], chosen)) for name in chosen)
        found = {name: finding for name, finding in known if finding is not None}
    left = [name for name in chosen if name not in found]
    joint = joint and scanned is None and len(chosen) <= MOST_JOINT
    pairs = list(combinations(sorted(selection.support.tolist()), 2)) if joint else []
    if left:
        sizes, decide = _measured(selection, left, pairs, samples, train, rng, labels)
        for name in left:
            size = _size(wanted[name], sizes, decide, pairs)
            if size is not None:
                found[name] = _judged(size, name, scanned)
    return replace(selection, changes={name: found[name] for name in chosen if name in found})


@dataclass(frozen=True)
class _Wanted:
    """What to tell of a variable: its column, the group it was chosen in, the kinds of change."""

    column: int
    group: tuple[int, ...]
    members: frozenset[str]
    kinds: tuple[str, ...]


def _wanted(selection: Selection, name: str) -> _Wanted:
    column = selection.names.index(name)
    group = next((group for group in selection.groups if column in group), ())
    reason = dict(zip(selection.variables, selection.reasons, strict=False)).get(name, "")
    members = frozenset(selection.names[s] for s in group)
    return _Wanted(column, group, members, KINDS_OF.get(reason, ANY))


def _named(scanned: Named, name: str, wanted: _Wanted, chosen: Sequence[str]) -> Finding | None:
    """Return the finding that tells what a variable was chosen for, else its surest."""
    findings = scanned.findings
    if wanted.group:
        return next((f for f in findings if frozenset(f.variables) == wanted.members), None)
    own = [finding for finding in findings if finding.variables == (name,)]
    fitting = [finding for finding in own if finding.kind in wanted.kinds]
    # A kernel does not say what it chose a variable for: it may be how it depends on others.
    joint = [f for f in findings if name in f.variables and set(f.variables) <= set(chosen)]
    return next(iter([*fitting, *own, *(joint if wanted.kinds == ANY else [])]), None)


def _measured(
    selection: Selection,
    left: Sequence[str],
    pairs: Sequence[tuple[int, ...]],
    samples: Samples,
    train: Samples | None,
    rng: np.random.Generator,
    labels: KeyedBins | None,
) -> tuple[Sizes, Sizes]:
    """Return the sizes in the rows to tell of, and in those that decide what is told."""
    places = {selection.names.index(name) for name in left}
    groups = [group for group in selection.groups if places & set(group)]
    groups += [pair for pair in pairs if pair not in groups]
    columns = sorted(places.union(*groups))
    sizes = Sizes(samples, columns, groups, rng, labels)
    return sizes, sizes if train is None else Sizes(train, columns, groups, rng)


def _size(
    wanted: _Wanted, sizes: Sizes, decide: Sizes, pairs: Sequence[tuple[int, ...]]
) -> Finding | None:
    """Return the size of the clearest change among those wanted; None of what never varies."""
    where = wanted.group or (wanted.column,)
    best = strongest(decide.aspects(where, wanted.kinds))
    floor = CLEAR if best is None else max(CLEAR, clearness(best[1]))
    for pair in pairs:
        joint = strongest(decide.aspects(pair)) if wanted.column in pair else None
        if joint is not None and clearness(joint[1]) > floor:
            where, best, floor = pair, joint, clearness(joint[1])
    if best is not None and sizes is decide:
        return best[1]
    own = sizes.aspects(where, wanted.kinds)
    if best is not None and best[0] in own:
        return own[best[0]]()
    # A level, say, that the rows to tell of do not have.
    clearest = strongest(own)
    return None if clearest is None else clearest[1]


def _judged(size: Finding, name: str, scanned: Named | None) -> Finding:
    """Return a size with the p-value of its column, where a scan gives one."""
    if scanned is None:
        return replace(size, named=None)
    pvalue = scanned.pvalues.get(name, UNTESTED) if len(size.variables) == 1 else UNTESTED
    return replace(size, pvalue=pvalue, named=pvalue <= scanned.alpha)
