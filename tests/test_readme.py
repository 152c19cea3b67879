"""The README's example gives the output printed below it."""

import re
from pathlib import Path

import pytest

from file_map import with_map
from refresh_outputs import same_but_for_seconds

README = Path(__file__).parent.parent / "README.md"


def test_example_prints_what_the_readme_says(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # The example writes its report to the current folder.
    monkeypatch.chdir(tmp_path)
    text = README.read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    shown = re.search(r"```text\n(.*?)```", text, re.DOTALL)
    assert code is not None
    assert shown is not None
    exec(compile(code.group(1), str(README), "exec"), {})
    assert (tmp_path / "report.html").stat().st_size > 0
    assert same_but_for_seconds(capsys.readouterr().out, shown.group(1))


def test_the_file_map_is_that_of_the_tree() -> None:
    text = README.read_text(encoding="utf-8")
    assert with_map(text) == text, "run: .venv/bin/python tools/file_map.py"
