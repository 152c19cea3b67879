"""Files are written whole or not at all."""

import os
import stat

import pytest

from tellapart.errors import InputError
from tellapart.writing import check_writable, write_atomically


def test_check_leaves_nothing_behind(tmp_path):
    path = check_writable("path", tmp_path / "out.txt")
    assert path == tmp_path / "out.txt"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", [None, 3, "", b"bytes", "/no/such/folder/out.txt", os.curdir])
def test_bad_paths_are_named(path):
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


def test_files_get_the_usual_mode(tmp_path):
    write_atomically(tmp_path / "one", b"1")
    (tmp_path / "two").write_bytes(b"2")
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("one", "two")]
    assert modes[0] == modes[1]
