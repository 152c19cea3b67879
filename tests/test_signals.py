"""A real Ctrl-C in a program of its own: the call ends once, with KeyboardInterrupt.

The waits are bounded so that a hang fails; how long an ending takes is not asserted.
"""

import signal
import subprocess
import sys

import pytest

from tellapart.strs import SOLVERS

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


SOLVING = """
import signal
import sys
import threading
import numpy as np
from tellapart.strs import SparseTrustRegion, solve

signal.signal(signal.SIGINT, signal.default_int_handler)
solver, moment = sys.argv[1:]
rng = np.random.default_rng(0)
size, d = {"truncation": (600, 20), "local-search": (400, 40), "brute-force": (22, 8)}.get(
    solver, (80, 12)
)
B = rng.normal(size=(size, size))
curved = {"convex-integer": B.T @ B / size, "outer-approximation": -B.T @ B / size}
A = curved.get(solver, (B + B.T) / size**0.5)
problem = SparseTrustRegion(A, 0.3 * rng.normal(size=size), d)

def press(*_):
    signal.raise_signal(signal.SIGINT)

if moment == "thread":
    # As a thread begins that runs a solver written in C++: pressed before anyone watches it.
    begin = threading.Thread.start

    def start(thread):
        begin(thread)
        if not isinstance(thread, threading.Timer):
            press()

    threading.Thread.start = start
elif moment == "compiled":
    # In a callback of compiled code, which turns KeyboardInterrupt into SystemError.
    import tellapart.strs.bounds.admm as admm

    def project_rows(*_):
        try:
            press()
        except KeyboardInterrupt as error:
            raise SystemError("returned a result with an exception set") from error

    admm.project_rows = project_rows
try:
    if moment == "soon":
        print("now", flush=True)
    found = solve(problem, solver, gap=1e-9, time_limit=60)
except KeyboardInterrupt:
    print("interrupted", flush=True)
else:
    bound = found.upper_bound
    honest = found.interrupted and found.status == "feasible"
    honest = honest and (bound is None or bound >= found.value)
    print("answered" if honest else "went on", flush=True)
"""


def solving(solver, moment):
    """Return a program that solves, as started."""
    command = [sys.executable, "-c", SOLVING, solver, moment]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.long
@pytest.mark.parametrize(
    ("solver", "moment"),
    [
        ("outer-approximation", "thread"),
        ("convex-integer", "thread"),
        ("sdp", "compiled"),
        ("misdp", "compiled"),
    ],
)
def test_a_solver_interrupted_in_compiled_code_answers_and_the_program_ends(solver, moment):
    with solving(solver, moment) as program:
        out, err = program.communicate(timeout=120)
    assert (out, err, program.returncode) == ("answered\n", "", 0)


@pytest.mark.long
@pytest.mark.parametrize("solver", SOLVERS)
def test_an_interrupt_ends_any_solver(solver):
    with solving(solver, "soon") as program:
        assert program.stdout.readline() == "now\n"
        program.send_signal(signal.SIGINT)
        # Where a callback of LLVM swallows it, Python says so on standard error; it is not lost.
        out = program.communicate(timeout=120)[0]
    assert (out in ("answered\n", "interrupted\n"), program.returncode) == (True, 0)
