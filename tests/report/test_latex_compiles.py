"""Exported tables with hostile names go through LaTeX itself, where it is installed."""

import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

import tellapart as ta

NAMES = [
    "50 % of max",
    "a_b_c",
    "R&D #1",
    "{brace} $5",
    "tilde~hat^",
    "back\\slash",
    "naïve ± Δ ≤ µ λ²",
    '<a> "q" | -- x',
]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_hostile_names(tmp_path):
    rng = np.random.default_rng(0)
    x, y = (pd.DataFrame(rng.normal(size=(80, len(NAMES))) + k, columns=NAMES) for k in range(2))
    x["k & k"], y["k & k"] = ["x_1", "50%"] * 40, ["50%"] * 80
    result = ta.two_sample_test(x, y, labels=("A_1 & B", "100%"), n_permutations=99, random_state=0)
    table = result.to_latex(label="tab:differ")
    for name in NAMES:
        assert name not in table or name.isalnum()
    head = "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n"
    (tmp_path / "t.tex").write_text(f"{head}{table}\n\\end{{document}}\n", encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    assert (tmp_path / "t.pdf").stat().st_size > 0
