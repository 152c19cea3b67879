"""The tasks of "which few" have an answer that holds, and every selector is scored alike."""

import numpy as np
import pandas as pd
import pytest

from which_few import draw, draw_real, measure, real, run
from which_few.kinds import FIRST_SEED, KINDS, Group, Task, draw_task
from which_few.methods import METHODS
from which_few.methods.base import Method
from which_few.real_data import DATA, Labelled
from which_few.summary import Cell, lead
from which_few.table import encode

AT_HAND = [name for name, method in METHODS.items() if not method.missing()]


@pytest.mark.parametrize("kind", list(KINDS))
def test_tasks_are_whole_and_their_answer_fits(kind):
    task = draw_task(kind, 0)
    X, Y = pd.DataFrame(task.X), pd.DataFrame(task.Y)
    assert list(X.columns) == list(Y.columns)
    assert not pd.concat([X, Y]).isna().any(axis=None)
    hit = [column for group in task.groups for column in group.columns]
    assert len(set(hit)) == len(hit)
    assert set(hit) <= set(range(X.shape[1]))
    # The whole answer fits into d columns.
    enough = [column for group in task.groups for column in group.columns[: group.enough]]
    assert len(enough) == task.d
    assert task.score(enough) == 1
    assert KINDS[kind].what.endswith(".")


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_task_is_the_same_every_time_and_no_other_is(kind):
    task, again, other = (draw_task(kind, seed) for seed in (3, 3, 4))
    assert pd.DataFrame(task.X).equals(pd.DataFrame(again.X))
    assert task.groups == again.groups
    assert not pd.DataFrame(task.X).equals(pd.DataFrame(other.X))


@pytest.mark.parametrize("kind", list(KINDS))
def test_what_is_told_the_kind_finds_most(kind):
    tasks = [draw_task(kind, seed) for seed in range(8)]
    found = [task.score(KINDS[kind].oracle(task.X, task.Y, task.d)) for task in tasks]
    assert np.mean(found) >= 0.6


def test_groups_are_found_whole_or_by_any_of_them():
    X = np.zeros((3, 6))
    groups = (Group((0,), 1), Group((1, 2), 2), Group((3, 4, 5), 1))
    task = Task(X, X, groups, 4)
    assert task.score([0, 1, 2, 5]) == 1
    assert task.score([0, 1, 3]) == pytest.approx(2 / 3)
    assert task.score([]) == 0
    for wrong in ([0, 1, 2, 3, 4], [0, 0]):
        with pytest.raises(ValueError, match="at most 4 different columns"):
            task.score(wrong)


def test_levels_speak_for_their_column():
    frame = pd.DataFrame({"a": [1.0, 2.0], "c": ["u", "v"], "b": [3.0, 5.0]})
    data = encode(frame, frame)
    assert data.owner.tolist() == [0, 1, 1, 2]
    assert data.labels.tolist() == [0, 0, 1, 1]
    assert data.best(np.array([1.0, 0.0, 3.0, 2.0]), 2).tolist() == [1, 2]
    assert data.first(np.array([2, 1, 3]), 2).tolist() == [1, 2]


@pytest.mark.long
@pytest.mark.parametrize("name", AT_HAND)
def test_selectors_find_a_large_shift_beside_categories(name):
    rng = np.random.default_rng(0)
    X, Y = (pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abde")) for _ in range(2))
    for table in (X, Y):
        table.insert(1, "c", rng.choice(["u", "v", "w"], size=60))
    Y["d"] += 3
    assert 3 in METHODS[name].select(X, Y, 2, 0)


@pytest.fixture
def results(monkeypatch, tmp_path):
    def broken(X, Y, d, seed):
        raise ZeroDivisionError("no\nrows")

    monkeypatch.setattr(measure, "SCORES", tmp_path)
    monkeypatch.setattr(draw, "SCORES", tmp_path)
    monkeypatch.setattr(real, "REAL", tmp_path / "real")
    monkeypatch.setattr(draw_real, "REAL", tmp_path / "real")
    monkeypatch.setitem(METHODS, "broken", Method("broken", "", broken))
    monkeypatch.setitem(METHODS, "absent", Method("absent", "", broken, ("no_such_module",)))
    return tmp_path


def test_rows_are_stored_once_and_failures_find_nothing(results, capsys):
    chosen = ["--methods", "f-test", "tellapart", "broken", "absent", "--kinds", "flags"]
    run.main([*chosen, "--pairs", "2"])
    assert "absent: left out, cannot import no_such_module" in capsys.readouterr().out
    run.main([*chosen, "--pairs", "3"])
    rows = measure.scores("f-test").rows()
    assert [row["seed"] for row in rows] == [str(FIRST_SEED + i) for i in range(3)]
    failed = measure.scores("broken").rows()
    assert {row["error"] for row in failed} == {"ZeroDivisionError: no rows"}
    assert {row["score"] for row in failed} == {"0"}
    capsys.readouterr()
    draw.main([])
    text = capsys.readouterr().out
    assert "| flags | f-test" in text
    assert "## Ours minus the best peer of each kind" in text
    assert not (results / "absent.csv").exists()


@pytest.mark.long
def test_real_data_are_split_without_overlap_and_judged(results, capsys):
    learn, judge = DATA["tumours"].split(1)
    assert isinstance(learn, Labelled)
    assert len(learn.labels) + len(judge.labels) == 569
    assert abs(len(learn.labels) - len(judge.labels)) <= 2
    chosen = ["--methods", "f-test", "tellapart", "all-columns", "--data", "tumours"]
    real.main([*chosen, "--splits", "2"])
    rows = real.accuracies("f-test").rows()
    assert len(rows) == 4
    assert min(float(row["logistic"]) for row in rows) > 0.85
    capsys.readouterr()
    draw_real.main([])
    text = capsys.readouterr().out
    assert "tumours 3 logistic" in text
    assert "| best |" in text


def test_a_lead_is_taken_over_common_trials():
    ahead, behind = Cell({"1": 1.0, "2": 0.5, "3": 0.0}, 0, 0.1), Cell({"1": 0.5, "2": 0.5}, 0, 0.1)
    found = lead(ahead, behind)
    assert (found.value, found.error, found.count) == (0.25, pytest.approx(0.25), 2)
    assert lead(ahead, Cell({"9": 1.0}, 0, 0.1)) is None
