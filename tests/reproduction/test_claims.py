import re
from pathlib import Path

import pytest

from reproduction.claims import (
    OURS,
    RETIRED,
    Best,
    Results,
    behind,
    best_of,
    claims_table,
    clearly_above,
    standing,
)
from reproduction.curves import Share
from reproduction.paper import (
    BEGIN,
    CLAIMS,
    END,
    claims_text,
    fill,
    scan_sentence,
    scan_table,
    verdicts_text,
)
from reproduction.registry import EXPERIMENTS
from tellapart.errors import InputError

ROOT = Path(__file__).parent.parent.parent
RESULTS = ROOT / "experiments" / "results"
DOCUMENT = ROOT / "docs" / "paper" / "evaluation.md"

POWERS = {
    ("laplace", 50.0, "linear"): Share(10, 40),
    ("laplace", 50.0, "quadratic"): Share(20, 40),
    ("laplace", 50.0, "standard-linear"): Share(40, 40),
    ("laplace", 100.0, "linear"): Share(39, 40),
    ("laplace", 100.0, "standard-linear"): Share(40, 40),
    ("laplace", 100.0, "wasserstein"): Share(2, 40),
    ("laplace", 100.0, "l1-mmd"): Share(2, 2),
}


def test_clearly_above_asks_for_both_intervals():
    assert clearly_above(Share(40, 40), Share(20, 40))
    assert not clearly_above(Share(20, 40), Share(40, 40))
    assert not clearly_above(Share(3, 3), Share(30, 40))


def test_the_best_is_found_among_those_measured():
    best = best_of(POWERS, "laplace", 50.0, ("linear", "quadratic", "gaussian"))
    assert best is not None
    assert best.method == "quadratic"
    assert best_of(POWERS, "mixture", 50.0, ("linear",)) is None
    assert best_of(POWERS, "laplace", 100.0, ("l1-mmd",)) is None  # two trials say too little


def test_standing_tells_error_bars_from_values():
    for ours, other, expected in (
        (Share(40, 40), Share(2, 40), "ahead"),
        (Share(39, 40), Share(39, 40), "not lower"),
        (Share(38, 40), Share(40, 40), "lower, within error bars"),
        (Share(10, 40), Share(40, 40), "behind"),
    ):
        assert standing(Best("linear", ours), Best("wasserstein", other)) == expected
        assert standing(Best("linear", ours), None) == "not measured"


def test_behind_names_the_places():
    assert behind(POWERS, "laplace", ("standard-linear", "wasserstein")) == [50.0]
    assert behind(POWERS, "laplace", ("wasserstein",)) == []


def test_the_document_says_what_the_rows_say():
    before, _, rest = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)
    shown, end, _ = rest.partition(END)
    assert before
    assert end
    assert shown.strip() == verdicts_text(RESULTS).strip()
    table = (RESULTS / "claims.md").read_text(encoding="utf-8")
    assert table.endswith(f"{claims_text(RESULTS).strip()}\n")


def test_every_claim_has_numbers_and_a_verdict():
    results = Results(RESULTS)
    for claim in CLAIMS:
        finding = claim.judge(results)
        assert any(character.isdigit() for character in finding.measured)
        assert finding.holds.startswith(("holds", "does not hold", "in part"))
    assert len(claims_table(results, CLAIMS).splitlines()) == len(CLAIMS) + 2


def test_the_scan_is_compared_wherever_it_was_measured():
    results = Results(RESULTS)
    table, sentence = scan_table(results), scan_sentence(results)
    measured = {place for place in results.by_n() if place[2] == "scan"}
    assert table.count(", n = ") == len(measured) > 0
    assert "patients, 20 per group" in table
    counts = [map(int, pair) for pair in re.findall(r"in (\d+) and (\d+) of", sentence)]
    for word, counted in zip(("ahead", "behind"), map(sum, zip(*counts, strict=True)), strict=True):
        assert counted == table.count(f"| {word} |")


def test_the_retired_test_is_not_counted_as_ours():
    assert "scan" in OURS
    assert "linear-reselected" in RETIRED
    assert "linear-reselected" not in OURS


def test_rows_of_all_experiments_are_committed():
    for experiment in EXPERIMENTS.values():
        assert experiment.store(RESULTS).rows()


def test_a_folder_without_rows_is_refused(tmp_path):
    with pytest.raises(InputError, match="has no rows of"):
        CLAIMS[0].judge(Results(tmp_path))


def test_fill_replaces_what_was_there(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    fill(page, "new")
    assert page.read_text() == f"before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"
    fill(page, "new")
    assert page.read_text().count("new") == 1
    page.write_text("no marks\n")
    with pytest.raises(InputError, match="must have the lines"):
        fill(page, "new")
