"""The table of kinds of finding: words, scales and effects."""

import numpy as np
import pytest

from tellapart.effects.columns import LEVELS, NUMERIC, Column
from tellapart.effects.estimate import IndependentRows
from tellapart.scan.finding_kinds import (
    ALONE,
    FINDING_KINDS,
    PAIRS,
    POINTS,
    SD_RATIO,
    SMD,
    TRIPLES,
    kinds_of,
    percent_text,
    scale_of_measure,
)


def test_every_kind_has_words_and_a_scale():
    for name, kind in FINDING_KINDS.items():
        assert kind.name == name
        assert "{}" in kind.words.many
        assert kind.words.title
        assert callable(kind.effect)


def test_kinds_by_what_they_are_about():
    assert [kind.name for kind in kinds_of(NUMERIC)] == ["location", "spread", "shape"]
    assert [kind.name for kind in kinds_of(PAIRS, TRIPLES)] == [
        "correlation",
        "dependence",
        "triple",
    ]
    assert [kind.name for kind in kinds_of(LEVELS)] == ["share", "new values"]


def test_kinds_that_are_reported_on_their_own():
    alone = [kind.name for kind in kinds_of(NUMERIC, LEVELS) if kind.order == ALONE]
    assert alone == ["location", "share", "spread", "new values"]


def test_numbers_of_findings_are_words_up_to_ten():
    words = FINDING_KINDS["location"].words
    assert [words.count(n) for n in (1, 3, 1200)] == [
        "one mean differs",
        "three means differ",
        "1,200 means differ",
    ]


def test_values_are_printed_as_their_scale_has_it():
    assert SMD.value_texts((61.24, 58.0), 2) == ("61.24", "58")
    assert POINTS.value_texts((0.5, 0.0398), 2) == ("50 %", "4.0 %")
    assert SD_RATIO.neutral == 1
    other = scale_of_measure("L-skewness")
    assert other.title == "Differences of L-skewness"
    assert other.value_texts((0.123, -0.5), 2) == ("0.12", "−0.50")


@pytest.mark.parametrize("kind", kinds_of(NUMERIC), ids=lambda kind: kind.name)
def test_the_effect_of_a_kind_is_computed_from_a_column(kind):
    rng = np.random.default_rng(0)
    column = Column.of(rng.exponential(size=90), rng.normal(size=80), IndependentRows())
    estimate = kind.effect(column)
    assert estimate.interval[0] <= estimate.effect <= estimate.interval[1]
    assert 0 <= estimate.pvalue <= 1


def test_percentages_have_the_digits_they_need():
    assert [percent_text(p) for p in (0.0, 1.0, 0.5, 0.014, 0.0005)] == [
        "0 %", "100 %", "50 %", "1.4 %", "0.050 %",
    ]  # fmt: skip
