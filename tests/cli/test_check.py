"""`tellapart check` and `--smallest-effect`: exit statuses and one line on why."""

import json

import numpy as np
import pandas as pd
import pytest

from tellapart.cli import run
from tellapart.cli.options import effect_sizes
from tellapart.errors import InputError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name, shift in (("a", 0.0), ("b", 0.0), ("c", 1.0)):
        table = pd.DataFrame(rng.normal(size=(300, 2)), columns=["u", "v"])
        table["v"] += shift
        table.to_csv(f"{name}.csv", index=False)
    pd.read_csv("a.csv").head(20).to_csv("few.csv", index=False)
    return tmp_path


def test_alike_is_0_different_is_1_bad_input_is_2(folder, capsys):
    assert run(["check", "a.csv", "b.csv", "--smallest-effect", "0.3"]) == 0
    assert capsys.readouterr().out.startswith("a and b are alike within the margin")
    assert run(["check", "a.csv", "c.csv", "--smallest-effect", "0.3", "--quiet"]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "a and c differ by more than the smallest effect of interest: v: SMD" in shown.err
    assert shown.err.count("\n") == 1
    assert run(["check", "a.csv", "b.csv", "--smallest-effect", "w=1"]) == 2
    assert "--smallest-effect must have columns or kinds" in capsys.readouterr().err
    assert run(["check", "a.csv", "b.csv"]) == 2


def test_strict_wants_proof(folder, capsys):
    command = ["check", "few.csv", "b.csv", "--smallest-effect", "location=0.3"]
    assert run(command) == 0
    assert run([*command, "--strict"]) == 1
    assert "not shown to be alike" in capsys.readouterr().err


def test_json_has_the_verdict_whatever_it_is(folder, capsys):
    run(["check", "a.csv", "c.csv", "--smallest-effect", "location=0.3", "--json", "-"])
    record = json.loads(capsys.readouterr().out)
    assert record["verdict"] == "different"
    assert [effect["decision"] for effect in record["effects"]][1] == "different"


def test_compare_takes_sizes(folder, capsys):
    command = ["compare", "a.csv", "c.csv", "--seed", "1", "--permutations", "99"]
    sizes = "location=2,distribution=0.95,correlation=1,u:spread=3"
    assert run([*command, "--smallest-effect", sizes]) == 0
    assert "by less than you care for" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["wide", "location=", "0.2,location=1", "a=1,a:location=2"])
def test_wrong_sizes_are_refused(text):
    with pytest.raises(InputError, match="smallest_effect must"):
        effect_sizes("smallest_effect", text)
