"""The first ever call, which compiles, and the first call of a process, which loads what was.

    python benchmarks/bench_cold.py [--before ../base/src] [--rounds 3]

Every call is the default one, in a process of its own, of 200 + 200 × 20 normal columns, the first
of which is shifted, and of the tables of `tellapart demo`: with an empty folder NUMBA_CACHE_DIR
(first ever), then again (first of a process). Seconds are those of the processor, the least of all
rounds: `import tellapart` with Numba, the call that compiles, the call that loads, and a second
call in that process. With `--before` a second source, which PYTHONPATH finds, takes turns with
this one; all answers must agree.
Writes benchmarks/results/cold.md and .csv: without `--before` of this source alone.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from store import store, table

SOURCE = Path(__file__).parents[1] / "src"
CASES = {"numbers": "200 + 200 × 20 numbers", "demo": "tables of the demo"}
SLOWEST = 10


def call(case: str) -> dict[str, Any]:
    """Return the seconds of the parts of one process, and of each function that it compiles."""
    started = time.process_time()
    from numba.core import event

    import tellapart as ta

    imported = time.process_time()
    compiled: dict[str, float] = {}
    running: list[list[float]] = []

    class Listener(event.Listener):  # type: ignore[misc]
        """Adds up the seconds of each function, without those of others that it calls."""

        def on_start(self, event: Any) -> None:  # noqa: ARG002
            running.append([time.process_time(), 0.0])

        def on_end(self, event: Any) -> None:
            started, inner = running.pop()
            seconds = time.process_time() - started
            function = event.data["dispatcher"].py_func
            ours = function.__module__.startswith("tellapart.")
            if ours:
                name = f"{function.__module__.partition('.')[2]}.{function.__name__}"
                compiled[name] = compiled.get(name, 0.0) + seconds - inner
            if running:
                running[-1][1] += seconds if ours else inner

    event.register("numba:compile", Listener())
    if case == "demo":
        from tellapart.datasets import demo_tables

        X, Y = demo_tables()
    else:
        import numpy as np

        X, Y = np.random.default_rng(0).normal(size=(2, 200, 20))
        Y[:, 0] += 0.5
    seconds = []
    for _ in range(2):
        begun = time.process_time()
        answer = ta.two_sample_test(X, Y, random_state=0).to_json()
        seconds.append(time.process_time() - begun)
    return {
        "import": imported - started,
        "call": seconds[0],
        "again": seconds[1],
        "compiled": compiled,
        "answer": re.sub(r'"seconds": [^,}]+', "", answer),
    }


def measure(source: Path, case: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the first ever call and the first call of a later process, of one source."""
    with tempfile.TemporaryDirectory() as folder:
        paths = os.pathsep.join([str(source), str(Path(__file__).parent)])
        there = os.environ | {"PYTHONPATH": paths, "NUMBA_CACHE_DIR": folder}
        command = [sys.executable, __file__, "--call", case]
        first, later = (
            json.loads(
                subprocess.run(command, env=there, check=True, stdout=subprocess.PIPE).stdout
            )
            for _ in range(2)
        )
        return first, later


def main() -> None:
    """Measure, and store the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--before", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--call", choices=CASES)
    given = parser.parse_args()
    if given.call:
        sys.stdout.write(json.dumps(call(given.call)))
        return
    sources = {"after" if given.before else "": SOURCE}
    if given.before:
        sources = {"before": given.before.resolve()} | sources
    rows, text = [], ""
    for case, title in CASES.items():
        runs: dict[str, list[Any]] = {side: [] for side in sources}
        for number in range(given.rounds):
            for side in list(sources)[:: 1 if number % 2 == 0 else -1]:
                runs[side].append(measure(sources[side], case))
        answers = {one["answer"] for pairs in runs.values() for pair in pairs for one in pair}
        if len(answers) > 1:
            raise SystemExit(f"{title}: answers differ")
        for side, pairs in runs.items():
            firsts, laters = zip(*pairs, strict=True)
            quickest = min(firsts, key=lambda one: one["call"])
            rows.append(
                {
                    "call": f"{title} {side}".strip(),
                    "import, s": f"{min(one['import'] for one in laters):.2f}",
                    "first ever, s": f"{quickest['call']:.1f}",
                    "first of a process, s": f"{min(one['call'] for one in laters):.2f}",
                    "second, s": f"{min(one['again'] for one in laters):.2f}",
                    "functions compiled": len(quickest["compiled"]),
                }
            )
            slowest = sorted(quickest["compiled"].items(), key=lambda one: -one[1])[:SLOWEST]
            text += f"\n\nSlowest to compile, {rows[-1]['call']}: "
            text += ", ".join(f"`{name}` {seconds:.2f} s" for name, seconds in slowest) + "."
    store(
        "cold",
        "# The first ever call\n\n"
        f"Seconds of the processor, one thread, the least of {given.rounds}, in turn; "
        "`python benchmarks/bench_cold.py`.\n\n" + table(rows) + text,
        rows,
    )


if __name__ == "__main__":
    main()
