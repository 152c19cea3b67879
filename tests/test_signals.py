"""A real Ctrl-C in a program of its own: the call ends once, with KeyboardInterrupt.

The waits are bounded so that a hang fails; how long an ending takes is not asserted.
"""

import signal
import subprocess
import sys

import pytest

PROGRAM = """
import signal
import sys
import numpy as np
import tellapart as ta

# Shells have programs in the background ignore Ctrl-C, and the suite may run there.
signal.signal(signal.SIGINT, signal.default_int_handler)
kernel, stage = sys.argv[1:]
rng = np.random.default_rng(0)
X, Y = rng.normal(size=(400, 60)), rng.normal(size=(400, 60))

def tell(now, detail):
    if now == stage:
        print("now", flush=True)

try:
    given = {"method": "split", "n_permutations": 99_999, "random_state": 0}
    ta.two_sample_test(X, Y, kernel=kernel, progress=tell, **given)
except KeyboardInterrupt:
    print("interrupted", flush=True)
else:
    print("went on", flush=True)
"""


@pytest.mark.parametrize(
    ("kernel", "stage"),
    [
        pytest.param("gaussian", "tune", marks=pytest.mark.long),
        pytest.param("gaussian", "select", marks=pytest.mark.long),
        ("linear", "tune"),
    ],
)
def test_an_interrupt_ends_the_call_once(kernel, stage):
    command = [sys.executable, "-c", PROGRAM, kernel, stage]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout.readline() == "now\n"
        program.send_signal(signal.SIGINT)
        told = program.communicate(timeout=120)[0].split("\n")
    assert [line for line in told if line and line != "now"] == ["interrupted"]
    assert program.returncode == 0
