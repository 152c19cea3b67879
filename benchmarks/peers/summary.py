"""The page of the peers, made of the rows on file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from peers.base import ALPHA, CHOSEN, PERMUTATIONS, THREADS, Peer
from peers.measure import FAILED, MEASURED, MEMORY, OVER, Size, hopeless, measurements, size_of
from peers.methods import PEERS
from peers.task import SIGMAS
from store import Row, table

Found = Mapping[str, Mapping[Size, Row]]
"""The rows by peer and size."""
BESIDE = Size(2_000, 100)
"""Where the exact tests are compared."""


def rows_on_file() -> dict[str, dict[Size, Row]]:
    """Return all rows, by peer and size."""
    return {name: {size_of(row): row for row in measurements(name).rows()} for name in PEERS}


def page(found: Found) -> str:
    """Return the page: what was called, seconds, memory, answers."""
    sizes = sorted({size for rows in found.values() for size in rows})
    columns = sorted({size.columns for size in sizes})
    parts = [_heading(), _calls(found), _exact(found)]
    for title, cell in (("Seconds", seconds), ("Megabytes", megabytes), ("Answers", answer)):
        parts.append(f"## {title}\n\n{_NOTES[title]}")
        for count in columns:
            rows = sorted({size.rows for size in sizes if size.columns == count})
            for selectors in (False, True):
                kind = "Selectors" if selectors else "Tests"
                shown = [p for p in PEERS.values() if p.selector == selectors and found[p.name]]
                lines = [
                    {kind.lower()[:-1]: peer.name}
                    | {f"{n:,} + {n:,}": cell(found[peer.name], Size(n, count)) for n in rows}
                    for peer in shown
                ]
                if lines:
                    parts.append(f"{kind}, {count} columns:\n\n{table(lines)}")
    return "\n\n".join(parts)


_NOTES = {
    "Seconds": "Of one call, warm: the best of up to three where they take less than five seconds "
    "together.",
    "Megabytes": "At the peak of the first warm call, beyond the samples and what the process held "
    "before it; worker processes are counted with their libraries.",
    "Answers": f"The p-value of a test, then what it names at level {ALPHA}: the shifted column, "
    "both columns of the pair, and how many others. One pair of samples for each size: the power "
    "of tests is in [arena.md](arena.md), that of selectors in [which_few.md](which_few.md).",
}


def _heading() -> str:
    return (
        "# Other libraries side by side\n\n"
        "Two samples of normal columns; in the second one column is shifted and one pair is "
        f"correlated, each by {SIGMAS:g} standard errors, so that the question is equally hard at "
        f"every number of rows. {PERMUTATIONS} permutations for every test that permutes, "
        f"{THREADS} threads for all, selectors are asked for {CHOSEN} columns; every measurement "
        "has a process of its own. `> 60 s`: stopped at the limit. `would need`: refused by the "
        "size of what the peer holds in memory. `not tried`: over the limit at a smaller size. "
        "`python benchmarks/bench_peers.py`; the rows are in `benchmarks/results/peers`."
    )


def _calls(found: Found) -> str:
    lines = []
    for peer in PEERS.values():
        rows = found[peer.name]
        firsts = [float(row["first"]) for _, row in sorted(rows.items()) if row["first"]]
        lines.append(
            {
                "peer": peer.name,
                "called as": peer.what,
                "version": next(iter(rows.values()))["version"] if rows else _absent(peer),
                "first call, s": _number(firsts[0]) if firsts else "",
            }
        )
    return (
        "The first call is that of a fresh process on 48 + 48 rows: imports, and what is compiled "
        f"or loaded.\n\n{table(lines)}"
    )


def _absent(peer: Peer) -> str:
    if peer.missing():
        return f"not installed: `pip install {peer.package}`"
    return "not measured"


def _exact(found: Found) -> str:
    """Say how the exact tests compare: all rows, all pairs, permutations of rows."""
    title = f"## Exact tests at {BESIDE.rows:,} + {BESIDE.rows:,} × {BESIDE.columns}\n\n"
    at = {
        peer.name: found[peer.name][BESIDE]
        for peer in PEERS.values()
        if peer.exact and BESIDE in found[peer.name]
    }
    # One that was stopped took at least as long as it was let.
    least = {
        name: float(row["seconds"] or row["limit"])
        for name, row in at.items()
        if row["status"] in (MEASURED, OVER)
    }
    if not least:
        return f"{title}Not measured."
    ordered = sorted(least, key=lambda name: least[name])
    lines = [{"test": name, "seconds": seconds(found[name], BESIDE)} for name in ordered]
    return (
        f"{title}All rows, all pairs of rows, {PERMUTATIONS} permutations: of rows, and with "
        "tellapart-mmd of bins of eight rows.\n\n"
        f"{table(lines)}{_ratio(at, least, ordered)}"
    )


def _ratio(at: Mapping[str, Row], least: Mapping[str, float], ordered: Sequence[str]) -> str:
    """Say how many times as fast ours is as the fastest peer, or at least is."""
    own = [name for name in ordered if PEERS[name].own and at[name]["status"] == MEASURED]
    others = [name for name in ordered if not PEERS[name].own]
    if not own or not others:
        return ""
    sure = "" if at[others[0]]["status"] == MEASURED else "at least "
    ratio = least[others[0]] / least[own[0]]
    return f"\n\n{own[0]} is {sure}{ratio:.1f} times as fast as the fastest peer measured."


def seconds(rows: Mapping[Size, Row], size: Size) -> str:
    """Say how long a peer took, or why it is not known."""
    row = rows.get(size)
    if row is None:
        return "not tried" if hopeless(size, rows.values()) else ""
    said = {
        OVER: f"> {row['limit']} s",
        MEMORY: f"would need {float(row['megabytes'] or 0) / 1e3:,.0f} GB",
        FAILED: f"failed: {row['error'].split(':')[0]}",
    }
    return said.get(row["status"]) or _number(float(row["seconds"]))


def megabytes(rows: Mapping[Size, Row], size: Size) -> str:
    """Say what a peer held at its peak."""
    row = rows.get(size)
    return f"{float(row['megabytes']):,.0f}" if row and row["status"] == MEASURED else ""


def answer(rows: Mapping[Size, Row], size: Size) -> str:
    """Say what a peer found."""
    row = rows.get(size)
    if row is None or row["status"] != MEASURED:
        return ""
    parts = [f"p = {row['pvalue']}"] if row["pvalue"] else []
    if row["shift"]:
        named = [name for name in ("shift", "pair") if row[name] == "1"]
        others = int(row["others"])
        named += [f"{others} other{'s' if others > 1 else ''}"] if others else []
        parts.append(", ".join(named) or "names nothing")
    return "; ".join(parts)


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 99.5 else f"{value:.2g}"


def flat(found: Found) -> list[Row]:
    """Return all rows in one table."""
    ordered: Iterable[tuple[str, Row]] = (
        (name, row) for name, rows in found.items() for _, row in sorted(rows.items())
    )
    return [{"peer": name} | row for name, row in ordered]


def known(found: Found) -> Sequence[str]:
    """Return the peers that have rows."""
    return [name for name, rows in found.items() if rows]
