"""Peers are scored alike, stopped at the limit, and named where they are not installed."""

import subprocess
import sys

import numpy as np
import pytest

import bench_peers
import store as writer
from peers import call, figure, measure, summary
from peers.base import Answer, Peer, matrices
from peers.measure import FAILED, MEASURED, MEMORY, OVER, Limits, Size
from peers.methods import PEERS
from peers.methods.column_tests import holm
from peers.methods.goodpoints_ctt import half_of_the_bins
from peers.task import SIGMAS, draw, planted

AT_HAND = [name for name, peer in PEERS.items() if not peer.missing()]
LIMITS = Limits(60.0, 8e9)


def test_samples_are_the_same_every_time_and_hold_the_difference():
    pair, again = draw(20_000, 6, 1), draw(20_000, 6, 1)
    assert np.array_equal(pair.values, again.values)
    assert np.shares_memory(pair.X, pair.values)
    assert (pair.labels == np.repeat([0, 1], 20_000)).all()
    answer, size = planted(6, 1), SIGMAS * np.sqrt(2 / 20_000)
    shift = pair.Y.mean(axis=0) - pair.X.mean(axis=0)
    assert np.argmax(np.abs(shift)) == answer.shifted
    assert shift[answer.shifted] == pytest.approx(size, abs=0.04)
    change = np.corrcoef(pair.Y.T) - np.corrcoef(pair.X.T)
    assert change[answer.correlated] == pytest.approx(size, abs=0.04)
    assert pair.Y.std(axis=0) == pytest.approx(np.ones(6), abs=0.03)


@pytest.mark.parametrize("name", AT_HAND)
def test_peers_at_hand_answer_in_columns_and_pvalues(name):
    pair = draw(60, 5, 0)
    pair.Y[:, planted(5, 0).shifted] += 3
    answer = PEERS[name].call(pair, 0)
    if PEERS[name].selector:
        assert answer.pvalue is None
        assert len(answer.columns) == 3
    else:
        assert 0 <= answer.pvalue <= 0.05
    if answer.columns is not None:
        assert planted(5, 0).shifted in answer.columns


def test_holm_and_bins():
    assert holm(np.array([0.5, 0.01, 0.02])) == pytest.approx([0.5, 0.03, 0.04])
    assert holm(np.array([0.9, 0.8])) == pytest.approx([1.0, 1.0])
    # From 32 to 127 bins of a power of four rows: as many rows as can be are kept.
    for rows in (400, 4_000, 40_000, 400_000, 2_000_000):
        bins = 2 * half_of_the_bins(rows)
        kept = bins * 4 ** int(np.log(rows // bins) / np.log(4) + 1e-9)
        assert 30 <= bins < 4 * 32
        assert kept > 0.9 * rows


def test_every_answer_is_scored_by_the_planted_difference():
    answer = planted(20, measure.SEED)
    size = Size(200, 20)
    everything = measure.score(size, 0.01, [answer.shifted, *answer.correlated])
    assert (everything["shift"], everything["pair"], everything["others"]) == ("1", "1", "0")
    half = measure.score(size, None, [answer.correlated[0]])
    assert (half["pvalue"], half["shift"], half["pair"]) == ("", "0", "0")
    assert measure.score(size, 0.5, None) == {"pvalue": "0.5"}


def test_what_is_over_a_limit_is_not_tried_at_a_larger_size():
    def row(rows, columns, status):
        return {"rows": str(rows), "columns": str(columns), "status": status}

    rows = [row(200, 20, MEASURED), row(2_000, 20, OVER)]
    assert not measure.hopeless(Size(200, 100), rows)
    assert measure.hopeless(Size(2_000, 100), rows)
    assert measure.hopeless(Size(20_000, 20), rows)
    # What memory forbids is said for every size: it costs nothing to say.
    assert not measure.hopeless(Size(20_000, 20), [row(2_000, 20, MEMORY)])


@pytest.fixture
def results(monkeypatch, tmp_path):
    monkeypatch.setattr(measure, "RESULTS", tmp_path)
    monkeypatch.setattr(writer, "RESULTS", tmp_path)
    monkeypatch.setattr(figure.draw_figure, "__defaults__", (tmp_path / "peers.svg",))
    absent = Peer("absent", "", call_nothing, needs=("no_such_module",), package="no-such")
    huge = Peer("huge", "", call_nothing, bytes_needed=matrices(2))
    # A process of its own does not know this one.
    unknown = Peer("unknown", "", call_nothing)
    for peer in (absent, huge, unknown):
        monkeypatch.setitem(PEERS, peer.name, peer)
    return tmp_path


def call_nothing(pair, seed):
    return Answer(0.5)


@pytest.mark.long
def test_rows_are_stored_once_and_the_page_is_made_of_them(results, capsys):
    bench_peers.main(["--only", "huge", "--sizes", "300000x5"])
    chosen = ["columns-t", "f-test", "absent", "unknown"]
    arguments = ["--only", *chosen, "--sizes", "100x5", "3000x5"]
    bench_peers.main(arguments)
    assert "absent: not installed (no_such_module); pip install no-such" in capsys.readouterr().out
    rows = measure.measurements("f-test").rows()
    assert [row["rows"] for row in rows] == ["100", "3000"]
    assert {row["status"] for row in rows} == {MEASURED}
    assert all(float(row["seconds"]) > 0 for row in rows)
    assert {row["shift"] for row in rows} == {"1"}
    bench_peers.main(arguments)
    assert measure.measurements("f-test").rows() == rows
    (failed,) = measure.measurements("unknown").rows()
    assert (failed["status"], failed["error"]) == (FAILED, "KeyError: 'unknown'")
    text = (results / "peers.md").read_text(encoding="utf-8")
    assert "would need 5,760 GB" in text
    assert "not installed: `pip install no-such`" in text
    assert "| unknown | failed: KeyError | not tried |" in text
    assert (results / "peers.svg").stat().st_size > 1_000
    capsys.readouterr()
    bench_peers.main([*arguments[:3], "--sizes", "100x5", "--again"])
    assert len(measure.measurements("f-test").rows()) == 2


def test_a_call_over_the_limit_is_stopped(monkeypatch):
    class Slow:
        def __init__(self, *sent):
            self.sent = list(sent)

        def poll(self, limit):
            return bool(self.sent)

        def recv(self):
            if self.sent[0] is None:
                raise EOFError
            return self.sent.pop(0)

    first = {"first": 1.0}
    seconds = {"seconds": 2.0, "megabytes": 3.0, "pvalue": 1.0, "columns": None}
    assert measure._messages(Slow(first), 1.0) == ([first], True)
    assert measure._messages(Slow(first, seconds, None), 1.0) == ([first, seconds], False)
    peer = Peer("slow", "", call_nothing)
    for sent, status in (
        (([first], True), OVER),
        (([], True), FAILED),
        (([], False), FAILED),
        (([first, {"error": "no"}], False), FAILED),
        (([first, seconds], True), MEASURED),
    ):
        monkeypatch.setattr(measure, "_listen", lambda *arguments, sent=sent: sent)
        assert measure.measure(peer, Size(200, 20), LIMITS)["status"] == status


def test_a_measurement_sends_the_first_call_the_later_ones_and_their_memory(monkeypatch):
    def hold(pair, seed):
        held = np.ones(25_000_000)  # too much to be found among what was freed
        return Answer(float(held[0]))

    monkeypatch.setitem(PEERS, "holder", Peer("holder", "", hold))
    sent = []
    pipe = type("Pipe", (), {"send": staticmethod(sent.append)})
    call.measure_here("holder", 10, 3, 0, pipe)
    assert sent[0]["first"] > 0
    assert [message["pvalue"] for message in sent[1:]] == [1.0] * call.REPEATS
    assert 190 < sent[1]["megabytes"] < 260


def test_memory_counts_the_processes_that_a_call_started():
    before = call._memory("VmRSS")
    hold = "held = bytearray(40_000_000); print(1, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        child.stdout.readline()
        assert call._memory("VmHWM") > before + 39_000
        child.communicate(b"\n")


def test_the_fastest_exact_peer_is_named():
    def row(seconds, status=MEASURED):
        made = dict.fromkeys(measure.measurements("any").fields, "")
        return made | {"status": status, "seconds": seconds, "limit": "60"}

    def said(**at):
        at = {name.replace("_", "-"): {summary.BESIDE: r} for name, r in at.items()}
        return summary._exact({name: {} for name in PEERS} | at)

    stopped = row("", OVER)
    text = said(tellapart_mmd=row("2"), dcor_energy=row("50"), hyppo_mmd=stopped)
    assert "tellapart-mmd is 25.0 times as fast as the fastest peer measured." in text
    assert "| hyppo-mmd | > 60 s |" in text
    # What was stopped may have been the fastest.
    text = said(tellapart_mmd=row("2"), dcor_energy=row("70"), hyppo_mmd=stopped)
    assert "tellapart-mmd is at least 30.0 times as fast as the fastest peer measured." in text
    assert said().endswith("Not measured.")
