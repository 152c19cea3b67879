"""Files are written whole or not at all, and nothing else is lost on the way."""

import json
import os
import socket
import stat
import threading

import pytest

from tellapart.errors import InputError
from tellapart.writing import check_targets, check_writable, strict_json, write_atomically


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_check_leaves_nothing_behind(tmp_path):
    path = check_writable("path", tmp_path / "out.txt")
    assert path == tmp_path / "out.txt"
    assert list(tmp_path.iterdir()) == []


def test_bad_paths_are_named(tmp_path):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    lost = tmp_path / "lost"
    lost.symlink_to(tmp_path / "no" / "folder")
    bad = [None, 3, "", b"bytes", tmp_path / "no" / "out.txt", os.curdir, loop, lost, "a\0b"]
    for path in bad:
        with pytest.raises(InputError, match=r"^--json must be"):
            check_writable("--json", path)


def test_a_failed_write_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "out.txt"
    path.write_bytes(b"old")

    def broken(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_new_files_get_the_usual_mode(tmp_path):
    write_atomically(tmp_path / "one", b"1")
    (tmp_path / "two").write_bytes(b"2")
    assert mode_of(tmp_path / "one") == mode_of(tmp_path / "two")


def test_a_replaced_file_keeps_its_mode_and_owner(tmp_path):
    path = tmp_path / "out.txt"
    path.write_bytes(b"old")
    if os.getuid() == 0:
        os.chown(path, 1234, 1234)
    owner = path.stat().st_uid
    for mode in (0o600, 0o640, 0o664):
        path.chmod(mode)
        write_atomically(path, b"new")
        assert path.read_bytes() == b"new"
        assert mode_of(path) == mode
        assert path.stat().st_uid == owner


def test_an_owner_that_cannot_be_kept_is_no_error(tmp_path, monkeypatch):
    def refused(*_):
        raise PermissionError

    path = tmp_path / "out.txt"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "chown", refused)
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"


def test_names_of_any_length_can_be_written(tmp_path):
    path = tmp_path / ("é" * 127)  # 254 of 255 bytes
    write_atomically(check_writable("path", path), b"x")
    assert path.read_bytes() == b"x"


def test_symbolic_links_stay_and_lead_to_what_was_written(tmp_path):
    (tmp_path / "results").mkdir()
    target = tmp_path / "results" / "out.txt"
    link, chain = tmp_path / "link", tmp_path / "chain"
    link.symlink_to("results/out.txt")
    chain.symlink_to(link)
    for path in (link, chain):  # at first the target is not there
        assert check_writable("path", path) == path
        write_atomically(path, path.name.encode())
        assert path.is_symlink()
        assert not target.is_symlink()
        assert target.read_bytes() == path.name.encode()
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["chain", "link", "out.txt", "results"]


def test_a_named_pipe_is_written_to_and_stays(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    check_writable("path", pipe)  # must not wait for a reader
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write_atomically(pipe, b"through the pipe")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    reader.join()
    assert read == [b"through the pipe"]


def test_what_cannot_be_opened_for_writing_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the names of sockets must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        with pytest.raises(InputError, match=r"--json must be a path .*; 'socket': it is a socket"):
            check_writable("--json", "socket")
    os.mkfifo("pipe")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InputError, match=r"--json must be a path .*; 'pipe': permission denied"):
        check_writable("--json", "pipe")


def test_json_holds_what_every_reader_takes():
    value = {"a": [1, float("nan"), {"b": -float("inf")}], "c": "é", "d": (0.5, None)}
    text = strict_json(value)
    assert json.loads(text) == {"a": [1, None, {"b": None}], "c": "é", "d": [0.5, None]}
    assert "é" in text


@pytest.fixture
def names(tmp_path, monkeypatch):
    """One file under four names: its own, a hard link, a symbolic link, and a long way round."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("x\n1\n")
    os.link("a.csv", "hard.csv")
    os.symlink("a.csv", "soft.csv")
    os.mkdir("folder")
    return ["a.csv", "hard.csv", "soft.csv", "folder/../a.csv", str(tmp_path / "a.csv")]


def test_no_input_is_written_over(names):
    for name in names:
        for source in names:
            with pytest.raises(InputError, match=r"^--report must not be .* read; .* be lost$"):
                check_targets({"--json": "new.json", "--report": name}, ["b.csv", source])
    check_targets({"--json": "new.json", "--report": None}, names)


def test_two_outputs_are_two_files(names):
    os.symlink("new.html", "dangling")
    for one, other in [*zip(names, names[::-1], strict=True), ("new.html", "dangling")]:
        with pytest.raises(InputError, match=r"^--json and --report must be different files; got"):
            check_targets({"--json": one, "--plot": "c.png", "--report": other})
    check_targets({"--json": "new.json", "--report": "new.html"})
    os.mkfifo("pipe")
    check_targets({"--json": "pipe", "--report": "pipe"})


def test_paths_that_lead_nowhere_are_left_to_the_other_check(tmp_path):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    check_targets({"--json": loop, "--report": tmp_path / "new"}, [tmp_path / "a.csv"])
