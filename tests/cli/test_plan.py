import json

import numpy as np
import pytest

from tellapart.cli import run


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    paths = []
    for name, shift in (("a", 0.0), ("b", 1.5)):
        path = tmp_path / f"{name}.csv"
        np.savetxt(path, rng.normal(size=(20, 2)) + shift, delimiter=",", header="u,v", comments="")
        paths.append(str(path))
    return paths


def test_a_plan_is_shown_written_and_drawn(files, tmp_path, capsys):
    target, figure = tmp_path / "plan.json", tmp_path / "plan.svg"
    options = ["--power", "0.7", "--ratio", "2", "--simulations", "30", "--seed", "1"]
    status = run(["plan", *files, *options, "--json", str(target), "--plot", str(figure)])
    assert status == 0
    told = json.loads(target.read_text())
    assert told["power"] == 0.7
    assert told["n_y"] == 2 * told["n_x"]
    assert capsys.readouterr().out.startswith(f"{told['n_x']} and {told['n_y']} rows are predicted")
    assert "<svg" in figure.read_text()


def test_bad_input_is_one_line(files, capsys):
    assert run(["plan", *files, "--power", "0.01"]) == 2
    assert capsys.readouterr().err.strip() == (
        "tellapart: error: --power must be above alpha = 0.05, which a test of any size has; "
        "got 0.01"
    )


def test_columns_are_chosen_and_named(files, capsys):
    assert run(["plan", *files, "--drop", "w"]) == 2
    assert "--drop must name columns; got 'w'; there are 'u', 'v'" in capsys.readouterr().err
    options = ["--simulations", "30", "--seed", "1", "--columns", "u", "--json", "-"]
    assert run(["plan", *files, *options, "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["n_x"] > 3
    assert run(["plan", *files, "--confidence", "2"]) == 2
    assert "error: --confidence must be" in capsys.readouterr().err
    assert run(["plan", *files, "--ratio", "-1"]) == 2
    assert "error: --ratio must be" in capsys.readouterr().err


def test_one_of_two_comes_from_standard_input(capsys):
    assert run(["plan", "-", "-"]) == 2
    assert "not both" in capsys.readouterr().err
