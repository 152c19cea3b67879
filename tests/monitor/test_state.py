"""A monitor as a JSON file: the same answers as one that was never stored."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import tellapart as ta
from tellapart.data.samples import CodedRows
from tellapart.monitor.state import checksum, coded_rows, plain_rows

QUICK = {"n_permutations": 99, "random_state": 5}


def mixed(n, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "bytes": rng.lognormal(size=n),
            "verb": rng.choice(["get", "put", f"verb {seed}"], size=n),
            "cached": rng.random(n) < 0.5,
        }
    )


def dense(n, seed):
    return np.random.default_rng(seed).normal(size=(n, 3))


def thin(n, seed):
    return sparse.csr_array(np.maximum(dense(n, seed) - 0.5, 0.0))


@pytest.mark.parametrize(
    ("make", "settings"),
    [
        (mixed, {}),
        (dense, {"n_checks": 9, "alpha": 0.1}),
        (dense, {"run_length": 50, "smallest_effect": {"location": 0.1}, "pool_rows": 70}),
        (dense, {"method": "split", "n_variables": 1, "regularization": 0.1}),
        (thin, {"reference_ratio": None}),
    ],
)
def test_stored_after_every_check_it_answers_the_same(tmp_path, make, settings):
    path = tmp_path / "monitor.json"
    reference, batches = make(60, 0), [make(25, seed) for seed in range(1, 5)]
    whole = ta.compare_to_reference(reference, **QUICK, **settings)
    stored = ta.compare_to_reference(reference, **QUICK, **settings)
    for batch in batches:
        once = whole.check(batch, label="day")
        stored.save(path)
        stored = ta.load_monitor(path, reference)
        assert stored.check(batch, label="day").statistic == once.statistic
    assert stored.history == whole.history
    assert stored.settings.to_dict() == whole.settings.to_dict()
    assert stored.alarm_level() == whole.alarm_level()


def test_rows_are_the_same_to_the_bit():
    values = np.array([[0.1, 1.0], [np.nan, 0.0], [1e-300, np.nan]])
    rows = CodedRows(values, ("a", "b"), ("numeric", "categorical"), {"b": ("x\ud800", "y")})
    again = coded_rows(json.loads(json.dumps(plain_rows(rows))))
    np.testing.assert_array_equal(again.values, values)
    assert (again.names, again.kinds, again.categories) == (rows.names, rows.kinds, rows.categories)


def test_another_reference_is_refused(tmp_path):
    path = tmp_path / "monitor.json"
    reference = dense(60, 0)
    monitor = ta.compare_to_reference(reference, **QUICK)
    monitor.check(dense(20, 1))
    monitor.save(path)
    altered = reference.copy()
    altered[3, 1] += 1e-9
    for other in (altered, reference[:-1], reference[:, :2], ta.with_names(reference, list("abc"))):
        with pytest.raises(ta.InputError, match=r"reference must be the one that .* made with"):
            ta.load_monitor(path, other)
    assert ta.load_monitor(path, reference).history == monitor.history


def test_what_is_no_monitor_is_refused(tmp_path):
    path = tmp_path / "monitor.json"
    with pytest.raises(ta.InputError, match=r"saved; .*monitor.json': No such file"):
        ta.load_monitor(path, dense(60, 0))
    path.write_text("{")
    with pytest.raises(ta.InputError, match="it holds no JSON"):
        ta.load_monitor(path, dense(60, 0))
    path.write_text("[]")
    with pytest.raises(ta.InputError, match="is of the format None"):
        ta.load_monitor(path, dense(60, 0))
    monitor = ta.compare_to_reference(dense(60, 0), **QUICK)
    monitor.save(path)
    content = json.loads(path.read_text())
    for part, value in (("bets", {"number": 1}), ("settings", {"alpha": 3}), ("history", [{}])):
        path.write_text(json.dumps(content | {part: value}))
        with pytest.raises(ta.InputError, match=r"must be a file that a monitor saved; .* altered"):
            ta.load_monitor(path, dense(60, 0))
    with pytest.raises(ta.InputError, match="path must be the path of a file; got 3"):
        ta.load_monitor(3, dense(60, 0))


def test_what_has_no_name_cannot_be_stored(tmp_path):
    kernel = ta.kernels.Gaussian("median")
    monitor = ta.compare_to_reference(dense(60, 0), kernel=kernel, **QUICK)
    with pytest.raises(ta.InputError, match=r"kernel must be one that has a name.*pickle"):
        monitor.save(tmp_path / "monitor.json")
    assert not (tmp_path / "monitor.json").exists()


def loads(path, reference):
    """Say how a state file loads: the history and the next alarm level, or None if refused."""
    try:
        monitor = ta.load_monitor(path, reference)
    except ta.InputError:
        return None
    return monitor.history, monitor.alarm_level()


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Return a path, a reference and the bytes of a state of two checks with a category."""
    path = tmp_path_factory.mktemp("state") / "monitor.json"
    reference = mixed(12, 0)
    monitor = ta.compare_to_reference(reference, n_permutations=19, random_state=5)
    monitor.check(mixed(4, 1), label="one")
    monitor.check(mixed(4, 2), label="two")
    monitor.save(path)
    return path, reference, path.read_bytes()


def test_a_state_that_was_cut_is_refused(saved):
    path, reference, content = saved
    end = len(content) - 1  # the line feed may go
    for length in [*range(40), *range(40, end - 40, 97), *range(end - 40, end)]:
        path.write_bytes(content[:length])
        assert loads(path, reference) is None, length


def test_a_state_with_an_altered_byte_is_refused_or_means_the_same(saved):
    path, reference, content = saved
    path.write_bytes(content)
    whole = loads(path, reference)
    assert whole is not None
    rng = np.random.default_rng(0)
    for place in range(0, len(content), 7):
        altered = bytearray(content)
        altered[place] = rng.choice(list(b'0123456789 ,:"[]{}-eax\x00\xff'))
        path.write_bytes(altered)
        # A zero more at the end of a fraction, or a blank for the last line feed, is no change.
        assert loads(path, reference) in (None, whole), (place, bytes(altered[place - 20 :][:40]))


def places(value, place=()):
    """Yield where every part of nested lists and dicts stands."""
    if place:
        yield place
    if isinstance(value, dict | list):
        keys = value if isinstance(value, dict) else range(min(len(value), 2))
        for key in keys:
            yield from places(value[key], (*place, key))


def with_part(content, place, change):
    copied = json.loads(json.dumps(content))
    holder = copied
    for key in place[:-1]:
        holder = holder[key]
    change(holder, place[-1])
    return copied


CHANGES = {
    "removed": lambda holder, key: holder.pop(key),
    "null": lambda holder, key: holder.__setitem__(key, None),
    "text": lambda holder, key: holder.__setitem__(key, "text"),
    "number": lambda holder, key: holder.__setitem__(key, -7.25),
    "large": lambda holder, key: holder.__setitem__(key, 10**30),
    "list": lambda holder, key: holder.__setitem__(key, [[], {}]),
    "empty": lambda holder, key: holder.__setitem__(key, {}),
    "nan": lambda holder, key: holder.__setitem__(key, float("nan")),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_state_with_an_altered_field_is_refused(saved, change):
    path, reference, content = saved
    plain = json.loads(content)
    n_same = 0
    for place in places(plain):
        altered = with_part(plain, place, CHANGES[change])
        if altered == plain:
            n_same += 1  # None was None already
            continue
        path.write_text(json.dumps(altered))
        assert loads(path, reference) is None, place
    assert n_same < 20


def test_a_state_that_was_laid_out_again_answers_the_same(saved):
    path, reference, content = saved
    path.write_bytes(content)
    whole = loads(path, reference)
    path.write_text(json.dumps(json.loads(content), indent=2))
    assert loads(path, reference) == whole


# Free text, and numbers that another sequence of batches could have led to.
FREE = {"label", "findings", "variables", "fingerprint", "columns", "sums", "names", "unchosen"}
FREE |= {"n_rows", "pvalue", "alarm_level", "capital", "capital_needed", "kept", "bytes", "verb"}
FREE |= {"alpha", "gap", "time_limit", "memory_budget", "reference_ratio", "keep", "moments"}
FREE |= {"regularization", "naming_rows", "cached", "row_labels", "split_into_parts"}
FREE |= {"n_variables", "smallest_effect", "thresholds", "scores", "beyond"}


@pytest.mark.parametrize("change", [change for change in CHANGES if change != "nan"])
def test_a_state_of_the_wrong_shape_is_refused_whatever_its_checksum(saved, change):
    """As another program, or another version, could write it."""
    path, reference, content = saved
    plain = json.loads(content)
    n_refused = 0
    for place in places(plain):
        if place == ("checksum",):
            continue
        altered = with_part(plain, place, CHANGES[change])
        altered["checksum"] = checksum(altered)
        path.write_text(json.dumps(altered))
        try:
            ta.load_monitor(path, reference)
        except ta.InputError:
            n_refused += 1
        else:
            assert altered == plain or FREE & set(place), place
    assert n_refused > 50


def test_a_state_without_a_checksum_is_to_be_begun_again(saved):
    path, reference, content = saved
    plain = json.loads(content)
    del plain["checksum"]
    path.write_text(json.dumps(plain | {"format": "tellapart monitor, version 1"}))
    with pytest.raises(ta.InputError, match=r"version 1.*start a new state"):
        ta.load_monitor(path, reference)


def test_a_state_of_version_2_is_read_or_refused_with_a_reason(saved):
    path, reference, content = saved
    plain = json.loads(content)
    plain |= {"format": "tellapart monitor, version 2"}
    del plain["failures"], plain["checksum"]
    for name in ("thresholds", "batches"):
        del plain["settings"][name]
    for record in plain["history"]:
        record["findings"] = ["a: mean 1 in one, 0 in reference"]
        del record["scores"], record["beyond"]
    path.write_text(json.dumps(plain | {"checksum": checksum(plain)}))
    monitor = ta.load_monitor(path, reference)
    path.write_bytes(content)
    assert monitor.history[0].findings == ("a: mean 1 in one, 0 in reference",)
    now = ta.load_monitor(path, reference)
    assert monitor.check(mixed(4, 3)).pvalue == now.check(mixed(4, 3)).pvalue
    plain["settings"]["smallest_effect"] = {"spread": 0.1}
    path.write_text(json.dumps(plain | {"checksum": checksum(plain)}))
    with pytest.raises(ta.InputError, match=r"version 2 and has a smallest effect.*new state"):
        ta.load_monitor(path, reference)
    path.write_bytes(content)
