"""A monitor as metrics in the text format of Prometheus."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tellapart.monitor.records import CheckRecord, FailedBatch

PREFIX = "tellapart_monitor"


@dataclass(frozen=True)
class Metric:
    """One metric and its samples: labels and a value each."""

    name: str
    kind: str
    description: str
    samples: Sequence[tuple[Mapping[str, str], float]]

    def lines(self) -> Iterable[str]:
        r"""Give the lines of the metric.

        >>> for line in Metric("rows", "gauge", "Rows.", [({"column": 'a "b"'}, 2.0)]).lines():
        ...     print(line)
        # HELP tellapart_monitor_rows Rows.
        # TYPE tellapart_monitor_rows gauge
        tellapart_monitor_rows{column="a \"b\""} 2
        """
        yield f"# HELP {PREFIX}_{self.name} {self.description}"
        yield f"# TYPE {PREFIX}_{self.name} {self.kind}"
        for labels, value in self.samples:
            inner = ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items())
            shown = f"{{{inner}}}" if inner else ""
            yield f"{PREFIX}_{self.name}{shown} {_number(value)}"


def exposition(history: Sequence[CheckRecord], failures: Sequence[FailedBatch]) -> str:
    """Return counters of the sequence, and gauges of the last check and of its columns."""
    metrics = [
        Metric("checks_total", "counter", "Batches checked.", [({}, len(history))]),
        Metric(
            "alarms_total",
            "counter",
            "Checks that raised an alarm.",
            [({}, sum(record.alarm for record in history))],
        ),
        Metric(
            "failed_batches_total",
            "counter",
            "Batches that could not be checked, by reason.",
            [
                ({"reason": reason}, sum(failed.reason == reason for failed in failures))
                for reason in ("schema", "input")
            ],
        ),
    ]
    if history:
        metrics += _of_check(history[-1])
    return "".join(f"{line}\n" for metric in metrics for line in metric.lines())


def _of_check(record: CheckRecord) -> list[Metric]:
    """Return the metrics of one check."""

    def gauge(name: str, description: str, value: float | None) -> list[Metric]:
        return [] if value is None else [Metric(name, "gauge", description, [({}, value)])]

    of_columns = [
        Metric(
            name, "gauge", words, [({"column": one.column}, getattr(one, end)) for one in scores]
        )
        for name, words, end in (
            ("column_effect", "Standardised difference of a column, in SD.", "effect"),
            ("column_effect_low", "Lower end of its 95 % interval.", "low"),
            ("column_effect_high", "Upper end of its 95 % interval.", "high"),
        )
        if (scores := record.scores)
    ]
    beyond = [({"column": one.column}, float(one.column in record.beyond)) for one in record.scores]
    words = "Whether the score of a column reaches its threshold."
    return [
        Metric("last_batch_info", "gauge", "The last batch.", [({"batch": record.label}, 1.0)]),
        *gauge("last_alarm", "Whether the last check raised an alarm.", float(record.alarm)),
        *gauge("last_pvalue", "P-value of the last check.", record.pvalue),
        *gauge("last_rows", "Rows of the last batch.", record.n_rows),
        *gauge("last_findings", "Findings of the last check.", len(record.found)),
        *gauge("e_value", "E-value of the sequence.", record.capital),
        *gauge("e_value_needed", "E-value at which an alarm is raised.", record.capital_needed),
        *of_columns,
        *([Metric("column_beyond_threshold", "gauge", words, beyond)] if beyond else []),
    ]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return f"{value:.15g}"
