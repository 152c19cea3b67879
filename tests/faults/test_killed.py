"""A process that is killed while it saves: the old state or the new one, and always a whole one."""

import json
import signal
import subprocess
import sys

import pytest

SAVING = """
import os, signal, sys
from pathlib import Path
from tellapart.writing import write_atomically

number, moment = int(sys.argv[2]), sys.argv[3]
real = {"before": (os, "fsync"), "after": (os, "replace")}[moment]
done = getattr(*real)

def struck(*arguments):
    if moment == "after":
        done(*arguments)
    os.kill(os.getpid(), number)
    signal.pause()

setattr(*real, struck)
if number == signal.SIGINT:
    signal.signal(number, signal.default_int_handler)
write_atomically(Path(sys.argv[1]), b'{"state": "new"}' + b" " * 100_000)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize(("moment", "state"), [("before", "old"), ("after", "new")])
def test_a_state_is_whole(tmp_path, number, moment, state):
    path = tmp_path / "state.json"
    path.write_text('{"state": "old"}')
    command = [sys.executable, "-c", SAVING, path, str(int(number)), moment]
    end = subprocess.run(command, capture_output=True, check=False, timeout=120)
    assert end.returncode != 0
    assert json.loads(path.read_text()) == {"state": state}
    # Only what cannot be caught may leave a hidden file behind, beside the state.
    left = [file for file in tmp_path.iterdir() if file != path]
    assert len(left) <= 1
    assert all(file.name.startswith(".tellapart-") for file in left)
    if number == signal.SIGINT:
        assert left == []
