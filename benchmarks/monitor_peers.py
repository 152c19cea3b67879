"""Alerts of nannyml and evidently on days of flights: run by `monitor_flights.py`.

nannyml: every univariate method of its defaults (Jensen-Shannon distance) per column and day, with
thresholds of three standard deviations over the days of the reference. evidently: its default test
of drift per column, each day against all rows of the reference. A day alerts if any column does;
"dataset" if half of the columns do, which is evidently's own verdict.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import pandas as pd

warnings.simplefilter("ignore")
NUMBERS = ["dep_delay", "arr_delay", "air_time", "distance", "hour"]
COLUMNS = [*NUMBERS, "carrier", "origin"]


def read(path: Path) -> pd.DataFrame:
    """Return a table with its days as times."""
    return pd.read_csv(path).assign(date=lambda t: pd.to_datetime(t["date"]))


def nannyml_alerts(reference: pd.DataFrame, batches: pd.DataFrame) -> list[bool]:
    """Return whether any column of a day is out of its thresholds."""
    import nannyml

    calculator = nannyml.UnivariateDriftCalculator(
        column_names=COLUMNS, timestamp_column_name="date", chunk_period="D"
    )
    calculator.fit(reference)
    found = calculator.calculate(batches).filter(period="analysis").to_df()
    alerts = found.xs("alert", axis=1, level=-1)
    return [bool(one) for one in alerts.any(axis=1)]


def evidently_alerts(
    reference: pd.DataFrame, batches: pd.DataFrame
) -> tuple[list[bool], list[bool]]:
    """Return whether any column of a day drifts, and whether half of them do."""
    from evidently import DataDefinition, Dataset, Report
    from evidently.presets import DataDriftPreset

    definition = DataDefinition(
        numerical_columns=NUMBERS, categorical_columns=["carrier", "origin"]
    )
    usual = Dataset.from_pandas(reference[COLUMNS], data_definition=definition)
    any_column, half = [], []
    for _, day in batches.groupby("date"):
        current = Dataset.from_pandas(day[COLUMNS], data_definition=definition)
        snapshot = Report([DataDriftPreset()]).run(current, usual)
        metrics = snapshot.dict()["metrics"]
        drifted = next(m["value"] for m in metrics if "DriftedColumnsCount" in str(m))
        any_column.append(drifted["count"] > 0)
        half.append(drifted["share"] >= 0.5)
    return any_column, half


def main(folder: Path) -> None:
    """Print the alerts of every sequence as JSON."""
    reference = read(folder / "reference.csv")
    found: dict[str, dict[str, list[bool]]] = {
        "nannyml, any column": {},
        "evidently, any column": {},
        "evidently, half of the columns": {},
    }
    for path in sorted(folder.glob("[0-9]*.csv")):
        batches = read(path)
        found["nannyml, any column"][path.stem] = nannyml_alerts(reference, batches)
        one, half = evidently_alerts(reference, batches)
        found["evidently, any column"][path.stem] = one
        found["evidently, half of the columns"][path.stem] = half
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
