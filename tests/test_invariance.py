"""What docs/developers/invariance.md promises, each promise on a few tables.

`benchmarks/invariance/run.py` tries hundreds more.
"""

import re
import warnings
from pathlib import Path

import pytest

import tellapart as ta
from invariance.calls import CALLS
from invariance.changes import draw_pair
from invariance.promises import BITS, CHANCE, NONE, PROMISES, ROUNDING, WAYS, table_of_promises
from invariance.run import examine

PAGE = Path(__file__).parents[1] / "docs" / "developers" / "invariance.md"
# Tables of each call, one of each kind of difference or so: a search takes longer.
SEEDS = dict.fromkeys(CALLS, (1, 4)) | {
    'select_variables(kernel="quadratic", regularization="cv")': (4,),
    'select_variables(kernel="gaussian")': (2,),
    "compare_groups": (1,),
}


# Searches under every change of a table.
TAKE_LONG = {
    'select_variables(kernel="quadratic", regularization="cv")',
    'select_variables(kernel="gaussian")',
}


@pytest.mark.parametrize(
    "call",
    [pytest.param(call, marks=pytest.mark.long if call in TAKE_LONG else ()) for call in CALLS],
)
def test_promises_are_kept(call):
    found = [(way, fault) for seed in SEEDS[call] for way, fault in examine(call, seed)]
    promised = {way for way, grade in PROMISES[call].items() if grade != NONE}
    assert {way for way, _ in found} == promised
    assert [fault for _, fault in found if fault] == []


@pytest.mark.long
def test_the_gaussian_choice_does_not_change_when_samples_are_swapped():
    """The audit's case: it changed in 14 of 18, as splits were drawn by row number."""
    found = []
    for seed in range(100, 118):
        X, Y = (frame.iloc[:24, :4] for frame in draw_pair(seed))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            one, other = (
                ta.select_variables(*pair, 2, kernel="gaussian", random_state=seed)
                for pair in ((X, Y), (Y, X))
            )
        found.append(one.weights == other.weights and one.value == other.value)
    assert found == [True] * 18


def test_the_page_says_what_is_tested():
    text = PAGE.read_text(encoding="utf-8")
    table = "\n".join(re.findall(r"^\|.*\|$", text, flags=re.MULTILINE)[: len(CALLS) + 2])
    assert table == table_of_promises()
    assert {grade for grades in PROMISES.values() for grade in grades.values()} <= {
        BITS,
        ROUNDING,
        CHANCE,
        NONE,
    }
    assert all(set(grades) == set(WAYS) for grades in PROMISES.values())
