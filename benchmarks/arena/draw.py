"""Make the tables and the figure of the arena from the rows on file; it measures nothing.

    python benchmarks/arena/draw.py

Writes benchmarks/results/arena.md and arena.csv, docs/images/arena.svg and the tables of
docs/benchmarks/power.md, those of the public studies (`bench_public_tables.py`) among them.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scipy.stats import binom

from arena.figure import draw_figure
from arena.kinds import GROUPS, KINDS
from arena.measure import MEMORY_KIND, memory
from arena.methods import ALPHA, METHODS
from arena.page import fill_page
from arena.summary import LEAD, Cell, beside, cells, lead, mean_power, on_file, wins
from public.summary import FUSE_SAID, MD_SAID, fuse_rows, goals, md2sample_rows, pairs_said
from store import store, table

FIGURE = Path(__file__).resolve().parents[2] / "docs" / "images" / "arena.svg"
SCAN = "scan"
Cells = Mapping[tuple[str, str], Cell]
Rows = list[dict[str, object]]


def main() -> None:
    """Write the tables and the figure."""
    methods = on_file()
    if not methods:
        sys.exit("nothing is on file: run benchmarks/arena/run.py first")
    found = cells(methods)
    measured = {kind for kind, _ in found}
    differences = [name for name, kind in KINDS.items() if not kind.null and name in measured]
    nulls = [name for name, kind in KINDS.items() if kind.null and name in measured]
    text = "\n\n".join(
        [
            "# The arena: power of two-sample tests by kind of difference",
            _introduction(found, differences),
            table(overview(found, methods, differences, nulls)),
            "## Power",
            "Share of pairs rejected, with Wilson's 95 % interval.",
            table(rates(found, methods, differences)),
            "## Rejections where nothing differs",
            _band(found, nulls),
            table(rates(found, methods, nulls)),
            f"## Where another test is ahead of the {SCAN}",
            *_leads(found, methods, differences),
            "## Failures",
            *_failures(found, methods),
            "## The kinds",
            table([{"kind": name, "what": KINDS[name].what} for name in (*differences, *nulls)]),
        ]
    )
    store("arena", text, [_flat(cell) for cell in found.values()])
    if SCAN in methods:
        fill_page(
            {
                "overview": table(overview(found, methods, differences, nulls)),
                "kinds": "\n\n".join(
                    f"### {group.capitalize()}\n\n{table(beside_the_best(found, methods, names))}"
                    for group, names in _groups(differences).items()
                ),
                "leads": "\n\n".join(_leads(found, methods, differences)),
                "winners": "\n\n".join([_beside(found, methods), table(winners(found, methods))]),
                **_public(),
            }
        )
    draw_figure(found, methods, differences, FIGURE)


def _introduction(found: Cells, differences: Sequence[str]) -> str:
    counts = sorted(
        {len(cell.rejected) for (kind, _), cell in found.items() if kind in differences}
    )
    pairs = " to ".join(str(count) for count in {counts[0]: 0, counts[-1]: 0})
    return (
        f"{len(differences)} kinds of difference, {pairs} pairs of samples each, level {ALPHA}; "
        "all methods see the same pairs. Distances are given standardised columns, and methods "
        "that know no categories a column of zeros and ones for each level. "
        "`python benchmarks/arena/run.py`, then `python benchmarks/arena/draw.py`; the rows are "
        "in `benchmarks/results/arena`, the summary in [arena.csv](arena.csv).\n\n"
        "Mean power is that over the kinds of difference of a group, given where a method was run "
        "on all of them. Seconds are the median over the kinds of the median over their pairs, one "
        "thread; memory is what one call adds to the process at "
        f"its peak, on one pair of the kind `{MEMORY_KIND}`."
    )


def overview(
    found: Cells, methods: Sequence[str], differences: Sequence[str], nulls: Sequence[str]
) -> Rows:
    """Return one row for each method: power, level, time, memory."""
    peaks = {row["method"]: row["megabytes"] for row in memory().rows()}
    rows: Rows = []
    for method in methods:
        levels = [found[kind, method].rate for kind in nulls if (kind, method) in found]
        seconds = [cell.seconds for (_, name), cell in found.items() if name == method]
        rows.append(
            {
                "method": method,
                **{
                    group: _number(mean_power(found, method, names))
                    for group, names in _groups(differences).items()
                },
                "rejected nulls": f"{fmean(levels):.3f}" if levels else "–",
                "seconds": f"{median(seconds):.3f}",
                "memory (MB)": peaks.get(method, "–"),
                "called as": METHODS[method].what if method in METHODS else "",
            }
        )
    return rows


def rates(found: Cells, methods: Sequence[str], kinds: Sequence[str]) -> Rows:
    """Return one row for each kind: the rate of each method with its interval."""
    return [
        {"kind": kind, **{method: _shown(found.get((kind, method))) for method in methods}}
        for kind in kinds
    ]


def beside_the_best(found: Cells, methods: Sequence[str], kinds: Sequence[str]) -> Rows:
    """Return one row for each kind: our tests, and the strongest of the others."""
    own = [method for method in methods if method in METHODS and METHODS[method].own]
    rows: Rows = []
    for kind in kinds:
        others = [name for name in methods if name not in own and (kind, name) in found]
        best = max(others, key=lambda method: found[kind, method].rate)
        rows.append(
            {
                "kind": kind,
                "what": KINDS[kind].what,
                **{name: _rate(found.get((kind, name))) for name in own},
                "strongest other": f"{found[kind, best].rate:.2f} ({best})",
            }
        )
    return rows


def winners(found: Cells, methods: Sequence[str]) -> Rows:
    """Return one row for each method: on how many kinds of a group it is the best or close to."""
    groups = _groups([kind for kind, _ in found])
    counts = {group: wins(found, methods, names) for group, names in groups.items()}
    ordered = sorted(methods, key=lambda name: -sum(own[name] for own in counts.values()))
    return [
        {
            "method": method,
            **{f"{group} ({len(groups[group])})": own[method] for group, own in counts.items()},
        }
        for method in ordered
    ]


def _beside(found: Cells, methods: Sequence[str]) -> str:
    others = [method for method in methods if method not in METHODS or not METHODS[method].own]
    said = []
    for group, names in _groups([kind for kind, _ in found]).items():
        ours = beside(found, SCAN, others, names)
        if ours is not None:
            said.append(
                f"{group}: {SCAN} {ours.own:.3f}, best other test {ours.best:.3f} ({ours.method}), "
                f"best other test of each kind {ours.each:.3f}"
            )
    return f"Mean power by group of kinds. {'; '.join(said).capitalize()}."


def _public() -> dict[str, str]:
    of_fuse, of_md = fuse_rows(), md2sample_rows()
    return {
        "goals": f"{goals(of_fuse, of_md)} Pairs measured: {pairs_said()}.",
        "fuse": f"{FUSE_SAID}\n\n{table(of_fuse)}",
        "md2sample": f"{MD_SAID}\n\n{table(of_md)}",
    }


def _groups(kinds: Sequence[str]) -> dict[str, list[str]]:
    """Return the kinds of difference among these by group; a group without any is left out."""
    among = {
        group: [name for name in names if name in kinds and not KINDS[name].null]
        for group, names in GROUPS.items()
    }
    return {group: names for group, names in among.items() if names}


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _rate(cell: Cell | None) -> str:
    return "–" if cell is None else f"{cell.rate:.2f}"


def _shown(cell: Cell | None) -> str:
    if cell is None:
        return "–"
    low, high = cell.interval
    return f"{cell.rate:.2f} ({low:.2f}–{high:.2f})"


def _band(found: Cells, nulls: Sequence[str]) -> str:
    counts = sorted({len(cell.rejected) for (kind, _), cell in found.items() if kind in nulls})
    bands = []
    for count in counts:
        low, high = (binom.ppf(end, count, ALPHA) / count for end in (0.025, 0.975))
        bands.append(f"{count} pairs {low:.2f} to {high:.2f}")
    return (
        f"A test whose level is exactly {ALPHA} has its rate in this band 95 % of the time: "
        f"of {'; of '.join(bands)}."
    )


def _leads(found: Cells, methods: Sequence[str], differences: Sequence[str]) -> list[str]:
    if SCAN not in methods:
        return [f"The {SCAN} is not on file yet."]
    leads = [
        ahead
        for kind in differences
        for method in methods
        if method != SCAN and (kind, method) in found and (kind, SCAN) in found
        if (ahead := lead(found[kind, method], found[kind, SCAN])) is not None
    ]
    said = (
        f"By more than {LEAD:.2f}, and by more than chance explains: on pairs that just one of "
        "the two rejects, McNemar's exact test at 5 %."
    )
    if not leads:
        return [said, "None."]
    rows = [
        {
            "kind": ahead.kind,
            "method": ahead.method,
            "power": f"{ahead.rate:.2f}",
            SCAN: f"{ahead.other:.2f}",
            "p-value": f"{ahead.pvalue:.2g}",
        }
        for ahead in leads
    ]
    return [said, table(rows)]


def _failures(found: Cells, methods: Sequence[str]) -> list[str]:
    rows = [
        {"method": method, "kind": kind, "pairs failed": cell.failed, "of": len(cell.rejected)}
        for method in methods
        for (kind, name), cell in found.items()
        if name == method and cell.failed
    ]
    if not rows:
        return ["No method failed on any pair."]
    return ["Counted as no rejection; the messages are with the rows.", table(rows)]


def _flat(cell: Cell) -> dict[str, object]:
    low, high = cell.interval
    return {
        "kind": cell.kind,
        "method": cell.method,
        "pairs": len(cell.rejected),
        "rejected": sum(cell.rejected.values()),
        "rate": f"{cell.rate:.4f}",
        "low": f"{low:.4f}",
        "high": f"{high:.4f}",
        "failed": cell.failed,
        "seconds": f"{cell.seconds:.4f}",
    }


if __name__ == "__main__":
    main()
