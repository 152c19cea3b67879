"""Metrics in the text format of Prometheus."""

import math
import re

import pytest

from tellapart.monitor.prometheus import exposition
from tellapart.monitor.records import CheckRecord, ColumnScore, FailedBatch

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\\\|\\"|\\n)*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\S+)")


def parsed(text):
    """Return the samples, having checked that every line is one of the format."""
    assert text.endswith("\n")
    kinds, samples = {}, {}
    for line in text[:-1].split("\n"):
        if line.startswith("# TYPE "):
            name, kind = line.split()[2:]
            assert name not in kinds
            assert kind in ("counter", "gauge")
            kinds[name] = kind
        elif not line.startswith("# HELP "):
            match = SAMPLE.fullmatch(line)
            assert match, line
            name, labels, value = match.groups()
            assert name in kinds
            assert (name, labels) not in samples
            samples[name.removeprefix("tellapart_monitor_"), labels] = float(value)
    return samples


def two_checks():
    """Return the metrics of two alarms, with a column whose name must be escaped."""
    scores = (
        ColumnScore('a "b"\\\n', "mean", 0.25, -0.1, 0.6),
        ColumnScore("c", "levels", math.nan, math.nan, math.inf),
    )
    record = CheckRecord(
        2, "3 May", 50, 0.01, 0.0, True, (), capital=21.5, capital_needed=20.0, scores=scores
    )
    failed = FailedBatch("x", "schema", "other columns", 1)
    return exposition([record, record], [failed])


def test_every_line_is_of_the_format():
    found = parsed(two_checks())
    assert found["checks_total", None] == found["alarms_total", None] == 2
    assert found["failed_batches_total", 'reason="schema"'] == 1
    assert found["failed_batches_total", 'reason="input"'] == 0
    assert found["e_value", None] == 21.5
    assert found["last_pvalue", None] == 0.01
    assert found["column_effect", r'column="a \"b\"\\\n"'] == 0.25
    assert math.isnan(found["column_effect", 'column="c"'])
    assert found["column_effect_high", 'column="c"'] == math.inf
    assert found["column_beyond_threshold", 'column="c"'] == 0


def test_nothing_checked_yet():
    assert parsed(exposition([], []))["checks_total", None] == 0


def test_prometheus_reads_the_same():
    parser = pytest.importorskip("prometheus_client.parser")
    families = list(parser.text_string_to_metric_families(two_checks()))
    assert {family.type for family in families} == {"counter", "gauge"}
    assert all(family.documentation for family in families)
    read = {(s.name, *s.labels.items()): s.value for family in families for s in family.samples}
    assert len(read) == len(parsed(two_checks()))
    assert read["tellapart_monitor_alarms_total",] == 2
    assert read["tellapart_monitor_failed_batches_total", ("reason", "schema")] == 1
    assert read["tellapart_monitor_column_effect", ("column", 'a "b"\\\n')] == 0.25
    assert math.isnan(read["tellapart_monitor_column_effect", ("column", "c")])
    assert read["tellapart_monitor_column_effect_high", ("column", "c")] == math.inf
