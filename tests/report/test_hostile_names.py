"""Names from data are shown, not obeyed: not by terminals, pages or plots."""

import csv
import io
import json
import re
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

import tellapart as ta
from tellapart.errors import ConstantColumnWarning, InputError, MissingDependencyError
from tellapart.report.console import complain, say, show_groups, show_result
from tellapart.report.tables import write_csv

# Colour, title of the window, bell, carriage return, C1, bidi, markup of rich; half a character.
EVIL = "a\x1b[31m\x1b]0;title\x07\r\n\x85\x9b31m\x7f\u202efdp.\u2066\u2069\u200f[/red]:smile:"
HALF = EVIL + "\udcff"
UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
SEEN = r"a\x1b[31m\x1b]0;title\x07  \x9b31m\x7f\u202efdp.\u2066\u2069\u200f[/red]:smile:"


def is_safe(text):
    return not UNSAFE.search(text)


def table(rows, shift, seed):
    rng = np.random.default_rng(seed)
    kinds = rng.choice(["x", EVIL + "kind"], size=rows, p=(0.5, 0.5) if shift else (0.05, 0.95))
    values = (rng.normal(shift, size=rows), kinds, rng.normal(size=rows))
    frame = pd.DataFrame(dict(enumerate(values)))
    return frame.set_axis(pd.Index([HALF, EVIL + "kinds", "u"], dtype=object), axis=1)


@pytest.fixture(scope="module")
def result():
    tested = ta.two_sample_test(
        table(40, 0, 0),
        table(40, 3, 1),
        method="split",
        n_variables=2,
        regularization=0.1,
        n_permutations=99,
        random_state=0,
    )
    return replace(tested, labels=(HALF + "old", EVIL + "new"))


@pytest.fixture(scope="module")
def groups():
    data = pd.concat([table(40, 3 * (g == 2), g) for g in range(3)], ignore_index=True)
    data[EVIL + "by"] = np.repeat([EVIL + str(g) for g in range(3)], 40)
    data.iloc[0, 0] = np.nan
    return ta.compare_groups(
        data,
        EVIL + "by",
        method="split",
        n_variables=2,
        regularization=0.1,
        random_state=0,
        missing="drop-rows",
    )


def test_texts_of_a_result(result):
    assert set(result.variables) == {HALF, EVIL + "kinds"}
    stability = result.stability(2)
    texts = [result.summary(), result.verdict, stability.summary(), result.selection.certificate]
    assert all(map(is_safe, [*texts, *result.evidence()]))
    assert SEEN in stability.summary()
    assert f"{SEEN}\\udcffold and {SEEN}new differ" in result.summary()
    # One line of a text is one line, whatever the labels hold.
    assert "\n" not in result.verdict + "".join(result.evidence())


def test_texts_of_groups(groups):
    texts = [groups.summary(), groups.verdict, *groups.notes()]
    texts += [c.verdict for c in groups.comparisons]
    assert all(map(is_safe, texts))
    assert SEEN + "by" in groups.verdict
    assert all("\n" not in text for text in texts[1:])


def test_pages_and_cards(result, groups, tmp_path):
    pages = [
        result.to_html(tmp_path / "a.html", stability=2),
        result.to_html(reproduce=f"tellapart compare {EVIL}", stability=2),
        groups.to_html(tmp_path / "b.html"),
    ]
    cards = [result._repr_html_(), result.selection._repr_html_(), groups._repr_html_()]
    assert all(map(is_safe, pages + cards))
    assert all(SEEN.rpartition("[")[0].partition("  ")[0] in text for text in pages + cards)
    for name, page in (("a.html", pages[0]), ("b.html", pages[2])):
        assert (tmp_path / name).read_text(encoding="utf-8") == page


def test_plots(result):
    content = io.StringIO()
    result.plot().savefig(content, format="svg")
    assert is_safe(content.getvalue())
    for what in ("weights", "null", "marginal", "stability", "embedding"):
        axes = result.plot(what, **({"n_resamples": 2} if what == "stability" else {}))
        texts = [axes.get_title(), axes.get_xlabel(), axes.get_ylabel()]
        texts += [label.get_text() for label in axes.get_xticklabels() + axes.get_yticklabels()]
        texts += axes.get_legend_handles_labels()[1]
        assert all(map(is_safe, texts))


def test_json_keeps_the_names_and_is_safe_to_show(result, groups, tmp_path):
    """As escapes that JSON knows; halves of characters, which it does not, are replaced."""
    for answer in (result, groups):
        text = answer.to_json(tmp_path / "a.json")
        assert is_safe(text)
        assert (tmp_path / "a.json").read_text(encoding="utf-8") == f"{text}\n"
    expected = {name.replace("\udcff", "?") for name in result.variables}
    assert set(json.loads(result.to_json())["variables"]) == expected


def shown(show, answer, *, terminal):
    file = io.StringIO()
    show(answer, Console(file=file, force_terminal=terminal, color_system=None, width=300))
    return file.getvalue()


def test_the_console(result, groups):
    for terminal in (True, False):
        for show, answer in ((show_result, result), (show_groups, groups)):
            text = shown(show, answer, terminal=terminal)
            assert is_safe(re.sub("\x1b\\[[0-9;]*m", "", text) if terminal else text)
            assert SEEN.partition("  ")[0] in text
            assert "[/red]:smile:" in text


def test_lines_of_the_console(capsys):
    complain(f"two\nlines {EVIL}")
    assert capsys.readouterr().err == f"tellapart: two lines {' '.join(SEEN.split())}\n"
    file = io.StringIO()
    say(f"two\nlines {EVIL}", Console(file=file))
    assert is_safe(file.getvalue())
    assert file.getvalue().startswith("two\nlines a")


def test_errors_and_warnings():
    for kind in (InputError, MissingDependencyError, ConstantColumnWarning):
        assert str(kind(EVIL)) == SEEN
    data = {"u": np.arange(9.0), EVIL: np.full(9, np.nan)}
    with pytest.raises(InputError) as raised:
        ta.two_sample_test(pd.DataFrame(data), pd.DataFrame(data), method="split")
    assert is_safe(str(raised.value))
    data[EVIL] = np.zeros(9)
    with warnings.catch_warnings(record=True) as held:
        warnings.simplefilter("always")
        ta.select_variables(pd.DataFrame(data), pd.DataFrame(data), 1)
    assert held
    assert all(is_safe(str(warning.message)) for warning in held)


@pytest.fixture(scope="module")
def scanned():
    rng = np.random.default_rng(0)

    def wider(shift, seed):
        """Two more columns, of categories that go together in one sample only."""
        first = rng.choice([EVIL + "u", "v"], 60)
        second = first if shift else rng.choice([EVIL + "u", "v"], 60)
        narrow = table(60, shift, seed)
        columns = [*(narrow.iloc[:, s] for s in range(3)), first, second]
        names = pd.Index([*narrow.columns, EVIL + "p", HALF + "q"], dtype=object)
        return pd.DataFrame({s: list(c) for s, c in enumerate(columns)}).set_axis(names, axis=1)

    left, right = wider(0, 0), wider(3, 1)
    labels = (HALF + "old", EVIL + "new")
    return ta.two_sample_test(left, right, n_permutations=199, random_state=0, labels=labels)


def test_a_scan(scanned):
    assert {len(finding.variables) for finding in scanned.findings} == {1, 2}
    texts = [scanned.summary(), *scanned.story(), scanned._repr_html_()]
    texts += [scanned.to_html(stability=2), shown(show_result, scanned, terminal=False)]
    on_terminal = shown(show_result, scanned, terminal=True)
    texts.append(re.sub("\x1b\\[[0-9;]*m", "", on_terminal))
    for panel in (None, "findings", "families", "columns", "pair"):
        content = io.StringIO()
        drawn = scanned.plot() if panel is None else scanned.plot(panel).figure
        drawn.savefig(content, format="svg")
        texts.append(content.getvalue())
    assert all(map(is_safe, texts))
    assert all("\n" not in line for line in scanned.story())


FORMULAS = {
    "=cmd|' /C calc'!A0": "'=cmd|' /C calc'!A0",
    "+1+1": "'+1+1",
    "@SUM(A1)": "'@SUM(A1)",
    "-2+3": "'-2+3",
    "\t=1+1": "' =1+1",
    "\r\n@x": "' @x",
    "  =1": "'  =1",
    "\x1b[31mred": "\\x1b[31mred",
    "a\nb": "a b",
    "-1.5": "-1.5",
    "age": "age",
    "a=b": "a=b",
}


def test_cells_of_csv_are_no_formulas():
    text = write_csv({"=name": list(FORMULAS), "p": [-0.5] * len(FORMULAS)})
    header, *rows = csv.reader(io.StringIO(text))
    assert header == ["'=name", "p"]
    assert rows == [[cell, "-0.5"] for cell in FORMULAS.values()]


def test_csv_of_results_is_safe():
    rng = np.random.default_rng(0)
    names = ["=cmd|' /C calc'!A0", "@x"]
    x = ta.with_names(rng.normal(size=(40, 2)), names)
    y = ta.with_names(rng.normal(size=(40, 2)) + 5, names)
    text = ta.two_sample_test(x, y, n_permutations=99, random_state=0).to_csv()
    assert "'=cmd|" in text
    assert not re.search(r'(^|,)"?[=@]', text, re.MULTILINE)
