import numpy as np
import pytest

import tellapart as ta


@pytest.fixture(scope="module")
def plan():
    return ta.plan_sample_size(
        effects={"location": 1.5}, n_columns=2, n_simulations=30, n_permutations=39, random_state=0
    )


def test_the_curve_and_its_limits_are_drawn(plan):
    figure = plan.plot()
    (axes,) = figure.axes
    (curve, *_) = axes.lines
    np.testing.assert_allclose(curve.get_ydata(), [guess.power for guess in plan.predictions])
    assert len(axes.collections) == 1
    assert axes.get_title(loc="left").replace("\n", " ") == plan.verdict


def test_the_rows_needed_are_marked(plan):
    (axes,) = plan.plot().axes
    assert f"{plan.n_x:,} rows" in [text.get_text() for text in axes.texts]
