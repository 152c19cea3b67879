"""Which files a folder or a pattern stands for, and that the search for them ends."""

import glob
import os

import pytest

from tellapart.cli.files import files_of
from tellapart.data.sources.files import files_in, files_matching, is_pattern
from tellapart.errors import InputError

FILES = (
    *("a.csv", "b.csv", "notes.txt", ".hidden.csv", "_part.csv"),
    *("2024/a.csv", "2024/may/b.csv", "2024/may/B1.csv", ".git/c.csv", "_tmp/d.csv", "x[1]/e.csv"),
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in FILES:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("v\n1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_folder_is_its_files_but_for_hidden_ones(folder):
    names = [os.path.relpath(file, folder) for file in files_in(str(folder))]
    assert names == [
        *("2024/a.csv", "2024/may/B1.csv", "2024/may/b.csv", "a.csv", "b.csv", "notes.txt"),
        "x[1]/e.csv",
    ]


@pytest.mark.parametrize(
    "pattern",
    [
        *("*.csv", "**/*.csv", "**", "2024/**", "20*/**/b*.csv", "**/may/**/*.csv", "*/*.csv"),
        *(
            "**/[ab].csv",
            ".*/*.csv",
            "**/.git/*.csv",
            "2024/../**/a.csv",
            "nothing/**",
            "**/x[[]1]/*",
            "**/**/**/*.csv",
        ),
    ],
)
def test_patterns_match_as_those_of_the_shell(folder, pattern):
    expected = {file for file in glob.glob(pattern, recursive=True) if os.path.isfile(file)}
    assert files_matching(pattern) == sorted(expected)
    whole = os.path.join(folder, pattern)
    assert len(files_matching(whole)) == len(expected)


def test_links_are_not_followed_in_circles(folder):
    (folder / "2024" / "round").symlink_to(folder)
    assert files_matching("**/b.csv") == ["2024/may/b.csv", "b.csv"]
    assert len(files_in(".")) == 7


def test_a_walk_that_would_not_end_is_one_clear_error(folder, set_budget):
    set_budget(walked_files=6)
    for find, path in ((files_in, "."), (files_matching, "**/*.csv"), (files_of, ".")):
        with pytest.raises(
            InputError, match=r"expected a folder or a pattern .* more than 6 files"
        ):
            find(path)
    set_budget(walked_files=2)
    with pytest.raises(InputError, match="more than 2 files"):
        files_matching("*.*")


@pytest.mark.parametrize("pattern", ["a\0*", "a\0/**", "\0**", "no/such/**/place*"])
def test_patterns_that_nothing_can_match(folder, pattern):
    assert is_pattern(pattern)
    assert files_matching(pattern) == []
