"""A hundred thousand tables, files and command lines: each must end in a result or one clear error.

    .venv/bin/python benchmarks/fuzz/run.py [--tables 80000] [--files 10000] [--lines 10000]
    .venv/bin/python benchmarks/fuzz/run.py --tables 0 --files 0 --lines 0 --annotated 500

Every tenth table goes through the whole test, the others through the door, where they are read and
checked. A case that falls is shown whole and stops the run. Each kind is stored in results/fuzz.md
and results/fuzz.csv when it is done; kinds that are not asked for stay as they were.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1]))
import tellapart as ta
from fuzz.annotated import fuzz_annotated
from fuzz.command_lines import QUICK, command_lines, run_quietly
from fuzz.files import spoiled_files, write
from fuzz.outcome import FaultError, outcome
from fuzz.tables import pairs_of_tables
from store import RESULTS, store, table
from tellapart.data.reader import read_samples

MISSING = st.sampled_from(["error", "drop-rows", "drop-columns"])


def examples(count: int, *, shrink: bool = True) -> settings:
    """Return the settings of one kind of fuzzing: so many cases, the same ones every time."""
    phases = [Phase.generate, *([Phase.shrink] if shrink else [])]
    return settings(
        max_examples=count,
        derandomize=True,
        deadline=None,
        database=None,
        phases=phases,
        suppress_health_check=list(HealthCheck),
    )


def read(pair: tuple[object, object], missing: str) -> str:
    """Read two tables; what is read must be whole."""

    def call() -> object:
        samples = read_samples(*pair, missing=missing)
        assert samples.n_x >= 1
        assert samples.n_y >= 1
        return _Read()

    return outcome(call)


class _Read:
    """Stands for a result where tables were read and no more."""

    pvalue, variables = 1.0, ("x",)

    def summary(self) -> str:
        return "read"

    def to_json(self) -> str:
        return "{}"


def test(pair: tuple[object, object], missing: str) -> str:
    """Run the whole default test on two tables, with few permutations."""
    return outcome(
        lambda: ta.two_sample_test(
            *pair, missing=missing, n_permutations=19, alpha=0.1, random_state=0, time_limit=5
        )
    )


def fuzz_tables(count: int, call: Callable[[tuple[object, object], str], str]) -> Counter[str]:
    """Return how many pairs of tables were answered and how many refused."""
    tally: Counter[str] = Counter()

    @examples(count)
    @given(pairs_of_tables(), MISSING)
    def cases(pair: tuple[object, object], missing: str) -> None:
        tally[call(pair, missing)] += 1

    cases()
    return tally


def fuzz_files(count: int, folder: Path) -> Counter[str]:
    """Return how many pairs of files were answered and how many refused."""
    tally: Counter[str] = Counter()

    @examples(count)
    @given(spoiled_files(), spoiled_files())
    def cases(first: tuple[str, bytes], second: tuple[str, bytes]) -> None:
        paths = [str(write(folder, name, file)) for name, file in (("a", first), ("b", second))]
        tally[run_quietly(["compare", *paths, *QUICK, "--missing", "drop-rows"])] += 1

    cases()
    return tally


def fuzz_lines(count: int, folder: Path) -> Counter[str]:
    """Return how many command lines were answered and how many refused."""
    tally: Counter[str] = Counter()
    folder = folder / "lines"
    folder.mkdir()
    table = b"group,count,age\n"
    table += b"".join(b"a,%d,%d\nb,%d,1.5\n" % (i, i * i, i) for i in range(9))
    whole = write(folder, "whole", (".csv", table))
    files = [str(whole), str(folder / "absent.csv"), str(folder), str(folder / "whole.c*")]

    @examples(count)
    @given(command_lines(files))
    def cases(words: list[str]) -> None:
        with contextlib.chdir(folder):
            tally[run_quietly(words)] += 1
        if whole.read_bytes() != table:
            raise FaultError(f"an input was written over: {words}")
        for made in set(folder.iterdir()) - {whole}:
            if not made.name.startswith("out."):
                raise FaultError(f"{made.name} was left by {words}")
            made.unlink()

    cases()
    return tally


def main() -> None:
    """Run all kinds, and count and store each when it is done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=80_000)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--annotated", type=int, default=0, help="AnnData files; needs anndata")
    asked = parser.parse_args()
    whole = asked.tables // 10
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for kind, count, run in (
            ("tables, read", asked.tables - whole, lambda n: fuzz_tables(n, read)),
            ("tables, the whole test", whole, lambda n: fuzz_tables(n, test)),
            ("files, on the command line", asked.files, lambda n: fuzz_files(n, folder)),
            ("command lines", asked.lines, lambda n: fuzz_lines(n, folder)),
            ("AnnData files, in a process of their own", asked.annotated, fuzz_annotated),
        ):
            if count > 0:
                started = time.perf_counter()
                keep(kind, run(count))
                print(f"{time.perf_counter() - started:.0f} s", flush=True)


def keep(kind: str, tally: Counter[str]) -> None:
    """Store the counts of one kind beside those of the others that were tried before."""
    counts = {
        "kind": kind,
        "cases": sum(tally.values()),
        "answered": tally["result"],
        "refused in one line": tally["refused"],
        "fell": sum(tally.values()) - tally["result"] - tally["refused"],
        "command": " ".join(["python benchmarks/fuzz/run.py", *sys.argv[1:]]),
    }
    rows: list[dict[str, object]] = []
    stored = RESULTS / "fuzz.csv"
    if stored.exists():
        with stored.open(encoding="utf-8", newline="") as file:
            rows = [dict(row) for row in csv.DictReader(file) if row["kind"] != kind]
    rows.append(counts)
    text = (
        "# Fuzzing\n\nEach case ended in a result, or in one clear line: a case that does not "
        "stops the run, but for AnnData, where it counts.\n\n" + table(rows)
    )
    store("fuzz", text, rows)


if __name__ == "__main__":
    main()
