"""What the console shows on a terminal and off it."""

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from rich.console import Console

import tellapart as ta
from scanned import make_finding, run_scan, shared_scan
from tellapart.report.console import complain, say, show_groups, show_result

NAME = "[red]a bracketed, very long name of a variable, longer than the console is wide"


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    left = {NAME: rng.normal(size=40), "other": rng.normal(size=40)}
    right = {NAME: rng.normal(3, size=40), "other": rng.normal(size=40)}
    return ta.two_sample_test(
        pa.table(left),
        pa.table(right),
        method="split",
        n_variables=1,
        n_permutations=99,
        random_state=0,
    )


def shown(result, *, terminal, width=60, **options):
    file = io.StringIO()
    show_result(result, Console(file=file, force_terminal=terminal, width=width), **options)
    return file.getvalue()


def test_off_a_terminal_it_is_the_summary(result):
    assert shown(result, terminal=False) == result.summary() + "\n"


def test_on_a_terminal_it_is_a_table(result):
    text = shown(result, terminal=True)
    assert "\x1b[" in text
    assert "█" in text
    assert "weight" in text
    # Folded over lines, but every word of the name is there.
    assert all(word in text for word in NAME.replace(",", "").split())


def test_complaints_are_one_line(capsys):
    complain("first\n  second")
    assert capsys.readouterr().err == "tellapart: first second\n"


def test_say_leaves_text_alone():
    file = io.StringIO()
    text = "[bold]kept[/bold] :smile: " + "x" * 200
    say(text, Console(file=file, width=40))
    assert file.getvalue() == text + "\n"


def test_a_scan_shows_what_differs():
    found = shared_scan("[red]dose")
    text = shown(found, terminal=True)
    assert found.verdict in text.replace("\x1b[1;32m", "").replace("\x1b[0m", "")
    assert found.story()[0] in text
    assert "Significant differences, most significant first" in text
    assert "95 % CI" in " ".join(text.split())
    assert "[red]dose" in text
    assert "Unadjusted p-values by family" in text
    assert "weight" in text
    many = tuple(make_finding(variables=(f"v{i}",), effect=0.1 * i + 0.1) for i in range(30))
    longer = replace(found, scan=replace(found.scan, findings=many))
    first = shown(longer, terminal=True, width=100)
    assert "and 10 more: --all-findings prints all, --csv FILE writes all" in first
    assert "v19" in first
    assert "v20" not in first
    none = shown(replace(found, pvalue=0.5), terminal=True)
    assert "Significant differences" not in none
    assert none.index("the best of what may be noise") < none.index("Certificate")


@pytest.mark.parametrize("terminal", [True, False])
def test_all_findings_can_be_shown(terminal):
    rng = np.random.default_rng(0)
    found = run_scan(rng.normal(size=(30, 2)), rng.normal(2.0, size=(30, 2)))
    many = tuple(make_finding(variables=(f"v{i}",)) for i in range(60))
    longer = replace(found, scan=replace(found.scan, findings=many))
    few = shown(longer, terminal=terminal, width=100)
    assert "and 40 more: --all-findings prints all" in few
    every = shown(longer, terminal=terminal, all_findings=True)
    assert "v59" in every
    assert "more:" not in every


def test_numbers_of_groups_stay_whole_on_a_narrow_terminal():
    rng = np.random.default_rng(0)
    kind = np.repeat(["B", "NK", "T"], 400)
    x = rng.normal(size=(1200, 6)) + 2 * (kind == "T")[:, np.newaxis]
    names = [f"a rather long name {i}" for i in range(6)]
    result = ta.compare_groups(pd.DataFrame(x, columns=names), by=kind, random_state=0)
    for width in (80, 100):
        out = io.StringIO()
        show_groups(result, Console(file=out, width=width, force_terminal=True, color_system=None))
        for c in result.comparisons:
            assert f" {c.n_rows[0]}, {c.n_rows[1]} " in out.getvalue()
            assert f" {c.adjusted_text.removeprefix('p ')} " in out.getvalue()
        assert max(map(len, out.getvalue().splitlines())) <= width
