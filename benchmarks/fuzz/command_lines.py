"""Hypothesis strategies for command lines, and a run of one within this process."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from pathlib import Path

from hypothesis import strategies as st

from fuzz.outcome import FaultError, check_line
from tellapart.cli.app import run

WORDS = st.one_of(
    st.sampled_from(
        ["0", "1", "2", "-1", "0.05", "1e9", "nan", "inf", "", "age", "größe", "group"]
    ),
    st.sampled_from(["--", "-", "--seed", "a,b", "../..", "😀", "\x1b[31m", "x" * 200, "auto"]),
    st.text(max_size=5),
)
NUMBERS = st.sampled_from(["1", "2", "5", "0.1", "0", "-3", "x", "1e3"])
OPTIONS: dict[str, st.SearchStrategy[str]] = {
    "--variables": NUMBERS,
    "--kernel": st.sampled_from(["auto", "linear", "gaussian", "quadratic", "cubic"]),
    "--alpha": st.sampled_from(["0.1", "0.2", "1", "0", "x"]),
    "--permutations": st.sampled_from(["9", "19", "0", "-1", "1e3"]),
    "--seed": NUMBERS,
    "--method": st.sampled_from(["scan", "split", "neither"]),
    "--missing": st.sampled_from(["error", "drop-rows", "drop-columns", "keep"]),
    "--by": st.sampled_from(["group", "count", "nothing"]),
    "--columns": st.sampled_from(["count", "größe,count", "nothing", ""]),
    "--drop": st.sampled_from(["count", "group", "nothing"]),
    "--time-limit": st.sampled_from(["5", "0", "x"]),
    "--solver": st.sampled_from(["auto", "branch-and-bound", "magic"]),
}
MONITOR: dict[str, st.SearchStrategy[str]] = {
    "--run-length": st.sampled_from(["100", "1", "0", "x"]),
    "--checks": NUMBERS,
    "--smallest-effect": st.sampled_from(["0.5", "0", "-1", "x"]),
    "--label": st.sampled_from(["monday", "", "1"]),
}
PLAN: dict[str, st.SearchStrategy[str]] = {
    "--power": st.sampled_from(["0.5", "1", "x"]),
    "--ratio": st.sampled_from(["1", "0", "2.5"]),
}
OUTPUTS = ("--json", "--report", "--plot", "--csv", "--latex", "--figure", "--state")
QUICK = ("--permutations", "19", "--alpha", "0.1", "--seed", "0")
PLANNED = ("--simulations", "20", "--seed", "0")
# A plan simulates hundreds of tests: one in forty lines is enough.
COMMANDS = [*["compare"] * 24, *["groups"] * 5, *["monitor"] * 8, "plan", "compar", ""]


@st.composite
def command_lines(draw: st.DrawFn, files: Sequence[str]) -> list[str]:
    """Draw the words behind `tellapart`; outputs go to the folder of the first file, or nowhere."""
    command = draw(st.sampled_from(COMMANDS))
    words = [command] if command else []
    whole = files[0]
    some = st.lists(st.sampled_from(list(files)), max_size=3)
    words += draw(st.one_of(st.just([whole, whole]), st.just([whole, "--by", "group"]), some))
    words += PLANNED if command == "plan" else QUICK
    options = OPTIONS | {"monitor": MONITOR, "plan": PLAN}.get(command, {})
    for option in draw(st.lists(st.sampled_from(list(options)), max_size=3, unique=True)):
        value = draw(st.one_of(*[options[option]] * 5, WORDS))
        words += [option, value]
    if draw(st.booleans()) and draw(st.booleans()):
        words.insert(draw(st.integers(0, len(words))), draw(WORDS))
    # Last, so that no drawn word becomes a path to write to.
    if draw(st.integers(0, 4)) == 0:
        words += [draw(st.sampled_from(OUTPUTS)), draw(places(Path(whole)))]
    return words


def places(whole: Path) -> st.SearchStrategy[str]:
    """Return where outputs are asked for: beside an input, in its place, nowhere, on screen."""
    made = [str(whole.with_name(f"out.{end}")) for end in ("json", "html", "png", "csv", "tex")]
    wrong = [str(whole), str(whole.parent), str(whole.with_name("absent") / "out.json"), "", "-"]
    return st.sampled_from([*made, *wrong])


def run_quietly(words: Sequence[str]) -> str:
    """Return "result" or "refused"; raise a FaultError for any other end than those."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run(list(words))
    complaints = [
        line for line in err.getvalue().splitlines() if not line.startswith("tellapart: warning:")
    ]
    if status == 0:
        return "result"
    # A monitor goes on after a batch that it cannot check: a line for each.
    batches = bool(complaints) and all(": not checked: " in line for line in complaints)
    if status != 2 and not (batches and status == 5):
        raise FaultError(f"exit status {status} of {words}")
    told = all(line.startswith("tellapart: error: ") for line in complaints)
    if not told or not (batches or len(complaints) == 1):
        raise FaultError(f"not one line on standard error: {err.getvalue()!r} of {words}")
    check_line(complaints[0])
    return "refused"
