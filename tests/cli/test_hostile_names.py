"""Names of files, columns and groups reach the terminal written out, never as commands to it."""

import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from tellapart.cli.app import run

EVIL = "a\x1b[31m\x1b]0;title\x07\x85\x9b31m\x7f\u202efdp.\u2066\u2069[/red]:smile:"
FILE = EVIL.replace("/", "") + "\udcff"
UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
QUICK = ["--method", "split", "--variables", "1", "--regularization", "0.1", "--seed", "0"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    rng = np.random.default_rng(0)
    tables = [
        pd.DataFrame({EVIL: rng.normal(shift, size=40), "constant": 1.0, EVIL + "0": 2.0})
        for shift in (0, 3)
    ]
    for name, table in zip((f"{FILE}.csv", f"{FILE}2.csv"), tables, strict=True):
        (folder / name).write_text(table.to_csv(index=False), encoding="utf-8")
    both = pd.concat(tables).assign(**{EVIL + "by": [EVIL + "1"] * 40 + [EVIL + "2"] * 40})
    (folder / "both.csv").write_text(both.to_csv(index=False), encoding="utf-8")
    ragged = f"a,b\n1,2\n1,2,{EVIL}\n"
    (folder / "ragged.csv").write_text(ragged, encoding="utf-8")
    (folder / "gaps.csv").write_text(f"{EVIL},b\n1,2\n,2\n,3\n1,4\n", encoding="utf-8")
    return folder


CALLS = {
    "compare": (["compare", f"{FILE}.csv", f"{FILE}2.csv", *QUICK], 0),
    "page": (["compare", f"{FILE}.csv", f"{FILE}2.csv", *QUICK, "--report", "a.html"], 0),
    "by": (["compare", "both.csv", "--by", EVIL + "by", *QUICK], 0),
    "json": (["compare", "both.csv", "--by", EVIL + "by", *QUICK, "--json", "-"], 0),
    "groups": (["groups", "both.csv", "--by", EVIL + "by", *QUICK, "--report", "b.html"], 0),
    "absent": (["compare", f"{FILE}.csv", f"{FILE}none.csv"], 2),
    "column": (["compare", "both.csv", "--by", EVIL], 2),
    "ragged": (["compare", "ragged.csv", "ragged.csv"], 2),
    "gaps": (["compare", "gaps.csv", "gaps.csv"], 2),
    "usage": (["compare", f"--{EVIL}", "gaps.csv"], 2),
    "command": ([EVIL], 2),
    "output": (["compare", "both.csv", "--by", "constant", "--json", f"no/{FILE}"], 2),
    "solver": (["compare", "both.csv", "--by", EVIL + "by", "--solver", EVIL], 2),
}


ONE_AS_USERS_RUN_IT = "page"
"""A process takes seconds to start; the others run in this one."""


@pytest.mark.parametrize("call", CALLS)
def test_nothing_steers_the_terminal_or_the_page(folder, call, monkeypatch, capfdbinary):
    arguments, expected = CALLS[call]
    monkeypatch.chdir(folder)
    if call == ONE_AS_USERS_RUN_IT:
        status = subprocess.run([sys.executable, "-m", "tellapart", *arguments]).returncode
    else:
        status = run(arguments)
    out, err = (said.decode() for said in capfdbinary.readouterr())  # UTF-8, strictly
    pages = [page.read_text(encoding="utf-8") for page in folder.glob("*.html")]
    for page in folder.glob("*.html"):
        page.unlink()
    assert status == expected, err
    assert not UNSAFE.search(out), out
    assert not UNSAFE.search(err), err
    assert out or err.count("\n") == 1
    assert len(pages) == ("--report" in arguments)
    assert not any(map(UNSAFE.search, pages))
