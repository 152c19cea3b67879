"""A process that ends while it writes: the old file or the new one, and always a whole one.

One program makes what is written, then forks for every fault. The system's killer of processes
that take too much memory sends SIGKILL, which nobody can catch, at any moment: here it comes at
every line of `tellapart.writing` in turn. A limit on memory makes allocations fail in the middle.
"""

import json
import os
import signal
import subprocess
import sys

import pytest

PROGRAM = """
import json, os, resource, signal, sys
from pathlib import Path

import numpy as np
import tellapart as ta
import tellapart.report.page  # what is loaded late would need memory of its own
import tellapart.writing as writing

folder = Path(sys.argv[1])
rng = np.random.default_rng(0)
x, y = rng.normal(size=(60, 3)), rng.normal((0, 1.5, 0), size=(40, 3))
result = ta.two_sample_test(x, y, n_permutations=99, random_state=0)
monitor = ta.compare_to_reference(x, n_permutations=99, random_state=0)
monitor.check(rng.normal(size=(2000, 3)))
WRITERS = {"out.json": result.to_json, "out.html": result.to_html, "state.json": monitor.save}
OLD = "what was there before"
STEPS = ("write_atomically", "_write", "_followed", "_hand_on")


def attempt(name, prepare):
    '''Write in a process of its own; return how it ended, and what is in the folder then.'''
    path = folder / name
    for file in folder.iterdir():
        file.unlink()
    path.write_text(OLD)
    child = os.fork()
    if child == 0:
        try:
            prepare()
            WRITERS[name](path)
        except BaseException as error:
            os._exit(100 if isinstance(error, MemoryError | KeyboardInterrupt) else 101)
        os._exit(0)
    end = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    content = path.read_text()
    whole = content.rstrip().endswith("</html>" if name.endswith("html") else "}")
    told = "old" if content == OLD else "new" if whole else "half"
    left = [file.name for file in folder.iterdir() if file != path]
    return {"writer": name, "end": end, "content": told, "left": left}


def struck(number, line):
    '''Return what makes a signal come at a line, counted from the first that runs.'''
    def prepare():
        signal.signal(signal.SIGINT, signal.default_int_handler)
        seen = 0
        def trace(frame, event, _):
            nonlocal seen
            if frame.f_code.co_filename != writing.__file__ or frame.f_code.co_name not in STEPS:
                return None
            if event in ("line", "return"):
                seen += 1
                if seen == line:
                    os.kill(os.getpid(), number)
            return trace
        sys.settrace(trace)
    return prepare


hoard = []


def limited(more):
    '''Return what uses up the memory but for so many bytes.'''
    def prepare():
        used = int(open("/proc/self/statm").read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (used + more, used + more))
        kept = [bytes(1000) for _ in range(more // 1000)]
        for size in (1 << 24, 1 << 20, 1 << 16, 1 << 12, 600):
            try:
                while True:
                    hoard.append(bytes(size))
            except MemoryError:
                pass
        kept.clear()
    return prepare


for file in WRITERS:  # once without a fault: nothing is compiled or loaded later
    WRITERS[file](folder / file)
for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
    # SIGKILL comes at every line, what can be caught at every line or at some.
    for line in range(1, 200, 1 if number == signal.SIGKILL else int(sys.argv[2])):
        ended = attempt("state.json", struck(number, line))
        print(json.dumps({"fault": number.name, "line": line} | ended))
        if ended["end"] == 0:
            break
if os.path.exists("/proc/self/statm"):
    for name in WRITERS:
        for more in (0, 1 << 16, 1 << 20, 1 << 25):
            print(json.dumps({"fault": "memory", "more": more} | attempt(name, limited(more))))
"""


@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.long)])
def test_files_are_whole_whatever_ends_the_process(tmp_path, step):
    command = [sys.executable, "-c", PROGRAM, tmp_path, str(step)]
    end = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert end.returncode == 0, end.stderr
    ends = [json.loads(line) for line in end.stdout.splitlines()]
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
        _check_a_signal_at_any_line(ends, number)
    if os.path.exists("/proc/self/statm"):  # asks Linux what is in use
        _check_memory_that_runs_out(ends)


def _check_a_signal_at_any_line(ends, number):
    of_signal = [end for end in ends if end["fault"] == number.name]
    assert of_signal[-1]["end"] == 0  # every line had its turn
    struck = of_signal[:-1]
    assert len(struck) > 5
    contents = [end["content"] for end in struck]
    assert contents == sorted(contents, reverse=True)  # old ones, then new ones: nothing between
    assert set(contents) == {"old", "new"}
    for end in struck:
        assert end["end"] in (100, -number)
        # Only what cannot be caught may leave a file behind: hidden, with a name that says whose.
        assert len(end["left"]) <= (0 if number == signal.SIGINT else 1)
        assert all(name.startswith(".tellapart-") for name in end["left"])
        assert not (end["left"] and end["content"] == "new")


def _check_memory_that_runs_out(ends):
    ends = [end for end in ends if end["fault"] == "memory"]
    for end in ends:
        assert end["content"] == ("new" if end["end"] == 0 else "old"), end
        assert end["left"] == [] or end["end"] < 0, end  # a library may abort
    # The largest limit is enough for all, the smallest for none of the large files.
    assert [end["end"] for end in ends if end["more"] == 1 << 25] == [0, 0, 0]
    short = {end["writer"] for end in ends if end["end"] == 100}
    assert short >= {"out.html", "state.json"}
