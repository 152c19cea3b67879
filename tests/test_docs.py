"""Every Python block in the docs runs."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
BLOCKS = [
    pytest.param(block, id=f"{path.name}-{number}")
    for path in sorted(DOCS.glob("*.md"))
    for number, block in enumerate(
        re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)
    )
]


def test_there_are_blocks() -> None:
    assert BLOCKS


@pytest.mark.parametrize("block", BLOCKS)
def test_block_runs_and_prints(block: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(block, "docs", "exec"), {})
    assert capsys.readouterr().out.strip()
