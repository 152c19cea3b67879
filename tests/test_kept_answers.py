"""The answers of version 0.1, kept: what is rebuilt must go on giving them.

An answer that changes on purpose is changed in `kept_answers.json` by the commit that means it, and
the commit says why. Changed so far: the words of two warnings (permutations, not relabellings); the
number of annealed runs of one search on more rows than it searches on, which are now drawn in one
way everywhere; and the Gram matrix of a linear kernel with a weight on a constant column, which it
now leaves out like every kernel of the family (a constant added to K changes no MMD²). The answers
of `split=False` are gone with that test. Weights are at least 0 by default now: calls that can ask
for signed ones do (`signed`, `by_kernel`) and groups and monitors answer with the others; and where
λ is tuned, rows decide how large it may be, so that fewer λ are scored and some calls take another.
Of two groups, each against the rest is one comparison, not the same one twice. Too few rows are
told what would help, and missing values that they can be compared pair by pair. Splits, rows drawn
for a search and its starts are drawn by the content of rows, not by their numbers, so that the
order of a table says nothing: what is tuned, searched for or held out has other draws (151 calls).
Permutations of a split have the content of the rows in their seed, as splits have (92 calls: null
distributions, critical values and p-values, and nothing else). Verdicts are in the words of the
field, with the Monte Carlo error of their p-values (149 verdicts, and nothing else). Small problems
of the Gaussian and quadratic kernels are proved now, and bounds come from other relaxations
(bounds, gaps, status, iterations); verdicts of monitors speak of the batch (7 calls).

`kept_scans.json` has the answers of the default path, scans and choices by evidence, in the same
way: numbers and keys, without words.
"""

import json
from pathlib import Path

import pytest

import kept_answers
import kept_scans
from kept_answers import calls, differences

FOLDER = Path(__file__).parent
# Sections of quick calls: those of searches, groups, monitors and baselines take longer.
QUICK = ("linear_tests", "table_tests", "solvers", "inner")


def changed(module, section):
    """Return what differs from the kept answers of a section, by call."""
    file = FOLDER / f"{module.__name__}.json"
    kept = {
        name: answer
        for name, answer in json.loads(file.read_text(encoding="utf-8")).items()
        if name.startswith(f"{section}/")
    }
    every = calls(module.TABLE, words=module is kept_answers)
    mine = {name: call for name, call in every.items() if name.startswith(f"{section}/")}
    assert mine.keys() == kept.keys()
    lines = {name: differences(kept[name], call()) for name, call in mine.items()}
    return {name: differing for name, differing in lines.items() if differing}


@pytest.mark.parametrize(
    "section",
    [
        pytest.param(section.__name__, marks=[] if section.__name__ in QUICK else pytest.mark.long)
        for section in kept_answers.TABLE
    ],
)
def test_answers_are_as_they_were(section):
    assert changed(kept_answers, section) == {}


@pytest.mark.parametrize("section", [section.__name__ for section in kept_scans.TABLE])
def test_scans_are_as_they_were(section):
    assert changed(kept_scans, section) == {}


def test_kept_scans_have_findings_of_every_kind():
    kept = json.loads((FOLDER / "kept_scans.json").read_text(encoding="utf-8"))
    kinds = kept_scans.finding_kinds(kept.values())
    assert kinds.keys() == {
        "location",
        "share",
        "spread",
        "shape",
        "missing",
        "new values",
        "distribution",
        "correlation",
        "dependence",
        "triple",
        "joint",
    }
    assert min(kinds.values()) >= 4
