"""A file that HDF5 cannot survive costs another process, not ours."""

import sys

import pytest

from tellapart.data.sources import anndata as hdf_trial
from tellapart.data.sources.anndata import try_hdf
from tellapart.data.sources.files import read_table
from tellapart.errors import InputError

SAY = "import os, sys; sys.stdout.write('begun'); sys.stdout.flush(); "


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "cells.h5ad"
    path.write_bytes(b"a file")
    return path


def _walk_by(monkeypatch, tmp_path, code):
    walk = tmp_path / "walk.py"
    walk.write_text(code)
    monkeypatch.setattr(hdf_trial, "WALK", walk)


def test_a_file_that_can_be_walked_through_passes(file):
    try_hdf(file)  # no HDF5 at all: who reads it says so


def test_everything_of_a_whole_file_is_touched(tmp_path, monkeypatch):
    h5py = pytest.importorskip("h5py")
    from tellapart.data.sources import hdf_walk

    monkeypatch.setattr(hdf_walk, "WHOLE_BYTES", 100)
    path = tmp_path / "whole.h5ad"
    with h5py.File(path, "w") as held:
        held.attrs["encoding"] = "anndata"
        held.create_group("obs")["names"] = ["a", "b"]
        held.create_dataset("X", data=[[1.0] * 8] * 9, chunks=(3, 8))
    seen = []
    touch = hdf_walk._touch
    monkeypatch.setattr(
        hdf_walk, "_touch", lambda name, held: (seen.append(name), touch(name, held))[1]
    )
    hdf_walk.walk(str(path))
    assert seen == ["/", "X", "obs", "obs/names"]
    try_hdf(path)


def test_a_crash_is_one_clear_error(file, monkeypatch, tmp_path):
    _walk_by(monkeypatch, tmp_path, SAY + "os.abort()")
    pytest.importorskip("anndata")
    with pytest.raises(InputError, match=r"cells\.h5ad.*it is damaged: HDF5 crashed") as caught:
        read_table(file)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(sys.platform == "win32", reason="no limits of computing time")
def test_a_loop_without_end_is_ended(file, monkeypatch, tmp_path):
    limit = "import resource; resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[2]),) * 2)\n"
    _walk_by(monkeypatch, tmp_path, SAY + limit + "while True: pass")
    monkeypatch.setattr(hdf_trial, "SECONDS", 1)
    with pytest.raises(ValueError, match="did not end within 1 s of computing"):
        try_hdf(file)


def test_a_walk_that_waits_is_ended(file, monkeypatch, tmp_path):
    _walk_by(monkeypatch, tmp_path, SAY + "import time; time.sleep(600)")
    monkeypatch.setattr(hdf_trial, "SECONDS", 1)
    monkeypatch.setattr(hdf_trial, "PATIENCE", 1)
    with pytest.raises(ValueError, match="came to no end within 1 s"):
        try_hdf(file)


@pytest.mark.parametrize("executable", ["", "/no/such/python"])
def test_without_a_python_to_start_nothing_is_tried(file, monkeypatch, executable):
    monkeypatch.setattr(sys, "executable", executable)
    try_hdf(file)


def test_a_program_that_is_no_python_says_nothing_of_the_file(file, monkeypatch, tmp_path):
    _walk_by(monkeypatch, tmp_path, "raise SystemExit(7)")
    try_hdf(file)
