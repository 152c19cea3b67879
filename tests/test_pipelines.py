"""The recipes of docs/howto/pipelines.md in the programs they are for, where these are installed.

`make test-pipelines` installs all of them. The page itself runs in test_docs.py.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tellapart as ta
from refresh_outputs import ROOT, blocks

PAGE = ROOT / "docs" / "howto" / "pipelines.md"
CODE = [b.code for b in blocks(PAGE.read_text(encoding="utf-8")) if b.language == "python"]


def recipe(word):
    """Return the block of the page with this word in it."""
    (code,) = (code for code in CODE if word in code)
    return code


@pytest.fixture
def names(tmp_path, monkeypatch):
    """The names of the page's first block, whose files are in the current folder."""
    monkeypatch.chdir(tmp_path)
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    monkeypatch.setenv("PATH", programs)
    held = {"__name__": "recipe"}
    exec(CODE[0], held)
    return held


class Outcomes:
    """A plugin of pytest that keeps what became of every test."""

    def __init__(self):
        self.of = {}
        self.messages = []

    def pytest_runtest_logreport(self, report):
        if report.when == "call":
            self.of[report.nodeid.split("::")[1]] = report.outcome
            self.messages.append(report.longreprtext)


def test_pytest_names_the_table_that_differs(names, tmp_path):
    file = tmp_path / "test_months.py"
    file.write_text(CODE[0] + recipe("@pytest.fixture"), encoding="utf-8")
    outcomes = Outcomes()
    options = ["-q", "-c", os.devnull, "--rootdir", str(tmp_path), "-p", "no:cacheprovider"]
    status = pytest.main([str(file), *options], plugins=[outcomes])
    assert status == pytest.ExitCode.TESTS_FAILED
    assert outcomes.of == {
        "test_month_is_like_may[june]": "passed",
        "test_month_is_like_may[july]": "failed",
    }
    assert "lactate: SMD" in outcomes.messages[1]


def test_mlflow_keeps_metrics_json_and_page(names):
    mlflow = pytest.importorskip("mlflow")
    exec(recipe("import mlflow"), names)
    result, run = names["result"], mlflow.get_run(names["run"].info.run_id)
    assert run.info.status == "FINISHED"
    assert run.data.metrics == {"p_value": result.pvalue, "n_findings": len(result.findings)}
    assert mlflow.artifacts.load_dict(f"{run.info.artifact_uri}/july.json") == json.loads(
        result.to_json()
    )
    page = mlflow.artifacts.load_text(f"{run.info.artifact_uri}/july.html")
    assert page == result.to_html(stability=False)


def test_airflow_fails_by_exit_status(names, tmp_path):
    exceptions = pytest.importorskip("airflow.sdk.exceptions")
    exec(recipe("import BashOperator"), names)
    (task,) = names["dag"].tasks
    assert task.retries == 0
    task.cwd = str(tmp_path)
    command = task.bash_command
    task.bash_command = command.replace("{{ ds }}", "june")
    assert "no alarm" in task.execute({})
    task.bash_command = command.replace("{{ ds }}", "july")
    with pytest.raises(exceptions.AirflowException, match="exit code 1"):
        task.execute({})


def test_dagster_fails_by_exit_status(names):
    pytest.importorskip("dagster")
    exec(recipe("import dagster"), names)

    def run(month):
        config = {"ops": {"check": {"config": {"month": month}}}}
        return names["drift"].execute_in_process(config, raise_on_error=False)

    assert run("june").success
    failed = run("july").failure_data_for_node("check")
    failure = failed.user_failure_data
    assert "lactate: mean" in failure.description
    assert failure.metadata["status"].value == 1
    assert (
        run("gone").failure_data_for_node("check").user_failure_data.metadata["status"].value == 2
    )


@pytest.mark.long
def test_a_task_gets_the_exit_statuses_that_the_page_lists(names):
    names["june"].rename(columns={"age": "years"}).to_parquet("renamed.parquet")

    def status(month):
        command = ["monitor", "may.parquet", f"{month}.parquet", "--state", "s.json"]
        return subprocess.run(["tellapart", *command, "--fail-on-alarm"], check=False).returncode

    assert [status(month) for month in ("june", "july", "gone", "renamed")] == [0, 1, 2, 5]
    assert status("july") == 0  # it was checked before: a second attempt hides the alarm


def test_the_page_lists_the_statuses_of_the_command_line():
    from tellapart.cli import monitor

    text = PAGE.read_text(encoding="utf-8")
    for name in ("ALARM", "BAD_INPUT", "SCHEMA_CHANGE"):
        assert f"{getattr(monitor, name)} (" in text
    assert ta.assert_similar.__name__ in text
