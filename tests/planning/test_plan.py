import numpy as np
import pytest

from tellapart.planning.plan import SamplePlan
from tellapart.planning.power_curve import RisingCurve, Strength
from tellapart.planning.settings import Sizes

CURVE = RisingCurve(-1.645, 16.0, 0.5, np.tile([-1.645, 16.0, 0.5], (3, 1)), ())


def plan(strength=None, n_x=100, interval=(50, 200)):
    return SamplePlan(
        n_x=n_x,
        n_y=n_x,
        interval=interval,
        power=0.8,
        alpha=0.05,
        ratio=1.0,
        confidence=0.9,
        method="scan",
        effects={},
        description="A test.",
        curve=CURVE,
        strength=strength,
    )


def test_a_pilot_of_half_the_strength_needs_four_times_the_rows():
    half = plan(Strength(0.5, 0.25, 1.0, 0.01, CURVE))
    guess = half.predict(400)
    assert guess.power == pytest.approx(float(CURVE(100)))
    assert guess.low == pytest.approx(float(CURVE(25)))
    assert guess.high == pytest.approx(float(CURVE(400)))


def test_rows_within_grow_with_the_inverse_square_of_strength():
    sizes = Sizes(1.0)
    assert sizes.rows_within(100.0, 0.5, 10_000) == 400
    assert sizes.rows_within(100.0, 0.01, 10_000) is None
    assert sizes.rows_within(100.0, 0.0, 10_000) is None


def test_verdicts_of_every_kind():
    assert "100 and 100 rows are predicted" in plan().verdict
    assert "50 or more" in plan(interval=(50, None)).verdict
    assert "No number of rows up to" in plan(n_x=None, interval=(None, None)).verdict
    nothing = Strength(0.3, 0.0, 1.0, 0.4, CURVE)
    assert "as large as the pilot allows, 50 rows" in plan(nothing, interval=(50, None)).verdict
    none_at_all = Strength(0.0, 0.0, 0.0, 0.99, CURVE)
    told = plan(none_at_all, n_x=None, interval=(None, None))
    assert told.verdict.endswith("without any difference (p = 0.99).")
    assert told.summary().startswith("This pilot cannot say")
