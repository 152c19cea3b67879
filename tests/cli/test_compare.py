"""`tellapart compare`, run as users run it."""

import html
import json
import os
import re
import shlex

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet

from tellapart.budget import Budget, using_budget
from tellapart.cli import compare as compare_command
from tellapart.cli import files as inputs
from tellapart.cli import run
from tellapart.data.sources import files as table_files
from tellapart.data.sources.files import read_table

LONG = "a name so long that any table on eighty columns would have to cut it short, but must not"
SPLIT = ["--method", "split"]


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    a = pa.table({"age": rng.normal(size=60), LONG: rng.normal(size=60)})
    b = pa.table({"age": rng.normal(size=70), LONG: rng.normal(3, size=70)})
    csv.write_csv(a, tmp_path / "a.csv")
    parquet.write_table(b, tmp_path / "b.parquet")
    both = pa.concat_tables([a, b]).append_column("arm", pa.array(["old"] * 60 + ["new"] * 70))
    feather.write_feather(both, tmp_path / "both.feather")
    return tmp_path


@pytest.fixture
def in_folder(files, monkeypatch):
    monkeypatch.chdir(files)
    return files


def test_compare_two_files(in_folder, capsys):
    assert run(["compare", "a.csv", "b.parquet", *SPLIT, "--variables", "1", "--seed", "0"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("a and b differ (p ≤ 0.001, α = 0.05).")
    assert f"  {LONG}   1.000" in out
    assert "\x1b" not in out
    assert err == ""


def test_a_scan_is_the_default_and_tells_what_differs(in_folder, capsys):
    assert run(["compare", "a.csv", "b.parquet", "--seed", "0", "--json", "out.json"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0] == "a and b differ (p ≤ 0.001, α = 0.05)."
    assert lines[1].startswith("One mean differs (a name so long")
    assert lines[2].startswith(f"  {LONG}: mean ")
    assert "Sample sizes: 60 (a) and 70 (b)." in out
    assert "Unadjusted p-values by family: location ≤ 0.001, " in out
    assert f"  {LONG}   1.000" in out
    assert err == ""
    stored = json.loads((in_folder / "out.json").read_text())
    assert stored["settings"]["method"] == "scan"
    assert stored["settings"]["kernel"] == "auto"
    finding = stored["scan"]["findings"][0]
    assert (finding["kind"], finding["variables"]) == ("location", [LONG])
    assert finding["labels"] == ["a", "b"]
    assert set(stored["scan"]["variable_pvalues"]) == {"age", LONG}


def test_families_by_name_or_with_weights(in_folder, capsys):
    options = ["a.csv", "b.parquet", "--seed", "0", "--json", "out.json", "--permutations", "99"]
    for text, asked in (
        ("location, shape", ["location", "shape"]),
        ("shape=1,location=4", {"location": 4.0, "shape": 1.0}),
    ):
        assert run(["compare", *options, "--families", text]) == 0
        out, err = capsys.readouterr()
        assert "families location and shape only" in out.splitlines()[0]
        assert err == ""
        answer = json.loads((in_folder / "out.json").read_text())
        assert answer["settings"]["families"] == asked
    for text, message in (
        ("means", "--families must be among location, shape, "),
        ("location=4,shape", "--families must have one weight for every family"),
        ("location=much", "must be a finite number in (0, inf); got 'much'"),
        ("", "--families must be among"),
    ):
        assert run(["compare", *options, "--families", text]) == 2
        out, err = capsys.readouterr()
        assert message in err
        assert err.count("\n") == 1


def test_the_error_rate_of_findings(in_folder, capsys):
    options = ["a.csv", "b.parquet", "--seed", "0", "--json", "out.json"]
    assert run(["compare", *options, "--error-rate", "fdr"]) == 0
    assert "the false discovery rate is at most 0.05" in capsys.readouterr().out
    stored = json.loads((in_folder / "out.json").read_text())
    assert stored["settings"]["error_rate"] == "fdr"
    assert stored["scan"]["findings"][0]["rate"] == "fdr"
    assert run(["compare", *options, "--error-rate", "fcr"]) == 2
    assert "--error-rate must be one of" in capsys.readouterr().err


def test_groups_that_are_bare_numbers_carry_their_column(in_folder, capsys):
    table = feather.read_table("both.feather").drop_columns(["arm"])
    flag = pa.array([0] * 60 + [1] * 70)
    csv.write_csv(table.append_column("sepsis", flag), "flag.csv")
    assert run(["compare", "flag.csv", "--by", "sepsis", "--seed", "0"]) == 0
    assert capsys.readouterr().out.startswith("sepsis = 0 and sepsis = 1 differ")


def test_compare_groups_of_one_file(in_folder, capsys):
    assert run(["compare", "both.feather", "--by", "arm", "--seed", "0"]) == 0
    assert capsys.readouterr().out.startswith("new and old differ")


def test_outputs(in_folder, capsys):
    arguments = ["compare", "a.csv", "b.parquet", *SPLIT, "--seed", "0", "--permutations", "99"]
    assert run([*arguments, "--json", "out.json", "--plot", "out.svg"]) == 0
    stored = json.loads((in_folder / "out.json").read_text())
    assert stored["labels"] == ["a", "b"]
    assert stored["n_permutations"] == 99
    assert "<svg" in (in_folder / "out.svg").read_text()
    assert "p ≤ 0.01" in capsys.readouterr().out


def test_report_says_how_to_repeat_it(in_folder, capsys):
    arguments = ["compare", "a.csv", "b.parquet", *SPLIT, "--variables", "1"]
    assert (
        run([*arguments, "--permutations", "99", "--report", "out one.html", "--json", "1.json"])
        == 0
    )
    page = html.unescape((in_folder / "out one.html").read_text(encoding="utf-8"))
    command = re.search("<code>(.*)</code>", page)[1]
    assert command.startswith("tellapart compare a.csv b.parquet --method split --variables 1")
    assert "--report 'out one.html'" in command
    again = [*shlex.split(command)[1:], "--json", "2.json"]
    assert run(again) == 0
    first, second = (json.loads((in_folder / name).read_text()) for name in ("1.json", "2.json"))
    assert first["null_distribution"] == second["null_distribution"]


def test_options_reach_the_test(in_folder):
    options = {
        "--method": "split",
        "--variables": "2",
        "--kernel": "linear",
        "--regularization": "0.5",
        "--solver": "branch-and-bound",
        "--alpha": "0.1",
        "--permutations": "49",
        "--test-size": "0.4",
        "--seed": "3",
        "--missing": "drop-rows",
        "--time-limit": "20",
        "--memory-budget": "0.5GB",
        "--json": "out.json",
    }
    assert run(["compare", "a.csv", "b.parquet", *sum(options.items(), ())]) == 0
    stored = json.loads((in_folder / "out.json").read_text())
    assert stored["alpha"] == 0.1
    assert stored["regularization"] == 0.5
    assert stored["n_test"] == [24, 28]
    assert len(stored["null_distribution"]) == 49
    assert stored["selection"]["solver"] == "branch-and-bound"
    assert stored["settings"]["time_limit"] == 20
    assert stored["settings"]["memory_budget"] == 5e8


def test_no_difference_is_not_an_error(in_folder, capsys):
    rng = np.random.default_rng(4)
    for name in ("c.csv", "d.csv"):
        csv.write_csv(pa.table({"v": rng.normal(size=30)}), name)
    assert run(["compare", "c.csv", "d.csv", "--seed", "0"]) == 0
    assert capsys.readouterr().out.startswith("No significant difference between c and d")


def test_warnings_are_single_lines(in_folder, capsys):
    rng = np.random.default_rng(4)
    for name in ("c.csv", "d.csv"):
        csv.write_csv(pa.table({"v": rng.normal(size=30), "same": np.ones(30)}), name)
    for method in ("scan", "split"):
        assert run(["compare", "c.csv", "d.csv", "--method", method, "--seed", "0"]) == 0
        err = capsys.readouterr().err
        assert err == "tellapart: warning: constant columns get weight 0: 'same'\n"


def test_an_error_stands_alone_whatever_was_warned_of(in_folder, capsys):
    csv.write_csv(pa.table({"v": [1.0] * 4}), "c.csv")
    for method in ("scan", "split"):
        assert run(["compare", "c.csv", "c.csv", "--method", method]) == 2
        err = capsys.readouterr().err
        assert err.startswith("tellapart: error: X and Y must have a column that varies")
        assert err.count("\n") == 1


BOTH = ["a.csv", "b.parquet"]
BAD_INPUT = [
    ([], "Missing argument"),
    (["a.csv"], "--by COLUMN"),
    ([*BOTH, "--by", "arm"], "--by COLUMN"),
    (["none.csv", "b.parquet"], "none.csv"),
    (["a.csv", "none.csv"], "none.csv"),
    (["a.csv", "both.feather"], "arm"),
    (["both.feather", "--by", "nobody"], "--by must be a column"),
    (["both.feather", "--by", "age"], "two distinct values"),
    ([*BOTH, "--method", "magic"], "--method must be 'scan' or 'split'; got 'magic'"),
    ([*BOTH, "--test-size", "0.3"], "--test-size must be left out with --method scan"),
    ([*BOTH, "--variables", "0"], "--variables must be"),
    ([*BOTH, "--variables", "3"], "--variables must be"),
    ([*BOTH, "--variables", "x"], "--variables"),
    ([*BOTH, "--kernel", "cosine"], "--kernel must be"),
    ([*BOTH, "--regularization", "-1"], "--regularization must be"),
    ([*BOTH, "--regularization", "x"], "--regularization must be"),
    ([*BOTH, "--solver", "magic"], "--solver must be"),
    ([*BOTH, "--alpha", "2"], "--alpha must be"),
    ([*BOTH, "--permutations", "9"], "--permutations must be at"),
    ([*BOTH, "--test-size", "1"], "--test-size must be"),
    ([*BOTH, "--seed", "-1"], "--seed must be"),
    ([*BOTH, "--missing", "guess"], "--missing must be"),
    ([*BOTH, "--time-limit", "0"], "--time-limit must be"),
    ([*BOTH, "--memory-budget", "plenty"], "--memory-budget must be a size such as 2GB"),
    ([*BOTH, "--memory-budget", "0"], "--memory-budget must be"),
    ([*BOTH, "--memory-budget", "1kB"], "--memory-budget must be at least"),
    ([*BOTH, "--json", "no/such/out.json"], "--json must be"),
    ([*BOTH, "--json", "."], "--json must be"),
    ([*BOTH, "--plot", "out.xyz"], "--plot must end in"),
    ([*BOTH, "--plot", "no/out.png"], "--plot must be"),
    ([*BOTH, "--report", "no/out.html"], "--report must be"),
    ([*BOTH, "--report", "."], "--report must be"),
    ([*BOTH, "--nonsense"], "--nonsense"),
]


def test_bad_input_is_one_line_and_status_2(in_folder, capsys):
    before = sorted(os.listdir())
    for arguments, part in BAD_INPUT:
        assert run(["compare", *arguments]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert re.fullmatch("tellapart: error: .*\n", err)
        assert part in err
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize("option", ["--plot", "--json", "--report"])
def test_bad_outputs_are_refused_before_the_work(in_folder, monkeypatch, option):
    monkeypatch.setattr("tellapart.two_sample.two_sample_test.run_test", pytest.fail)
    assert run(["compare", "a.csv", "b.parquet", option, "no/out.png"]) == 2


def test_interrupt_is_no_traceback(in_folder, monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("tellapart.two_sample.two_sample_test.run_test", interrupted)
    assert run(["compare", "a.csv", "b.parquet"]) == 130
    assert capsys.readouterr() == ("", "")


def test_bugs_have_a_status_of_their_own(in_folder, monkeypatch, capsys):
    def broken(*_):
        raise RuntimeError("a bug")

    monkeypatch.setattr("tellapart.two_sample.two_sample_test.run_test", broken)
    assert run(["compare", "a.csv", "b.parquet"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert "internal error: RuntimeError: a bug (test_compare.py, line" in err


@pytest.fixture
def folders(in_folder):
    """Write both samples in several files, too."""
    for name, form in (("a.csv", "csv"), ("b.parquet", "parquet")):
        table = read_table(name)
        (in_folder / name[0]).mkdir()
        for k, start in enumerate(range(0, table.num_rows, 33)):
            part, path = table.slice(start, 33), in_folder / name[0] / f"part{k}.{form}"
            csv.write_csv(part, path) if form == "csv" else parquet.write_table(part, path)
    return in_folder


def answer(capsys, *arguments):
    assert run(["compare", *arguments, "--seed", "0", "--json", "-"]) == 0
    return json.loads(capsys.readouterr().out)


def test_folders_and_patterns_stand_for_their_files(folders, capsys):
    for given in (("a", "b"), ("a/*.csv", "b/part?.parquet"), ("a", "b.parquet")):
        assert answer(capsys, *given)["pvalue"] == 0.001


def test_large_files_are_read_block_by_block(folders, capsys, monkeypatch):
    opened = []
    monkeypatch.setattr(
        table_files, "open_dataset", lambda p, form: opened.append(p) or read_table(p, form)
    )
    with using_budget(Budget(file_bytes_in_memory=1)):
        answer(capsys, "a.csv", "b.parquet")
    assert opened == ["a.csv", "b.parquet"]


def test_folders_have_no_groups(folders, capsys):
    assert run(["compare", "a", "--by", "arm"]) == 2
    assert "a: --by takes one file; of a folder or a pattern" in capsys.readouterr().err


def test_patterns_that_match_nothing(folders, capsys):
    assert run(["compare", "a", "none/*.csv"]) == 2
    assert "none/*.csv: no file of csv, tsv, parquet, feather matches" in capsys.readouterr().err


def test_no_output_overwrites_a_file_of_a_folder(folders, capsys):
    assert run(["compare", "a", "b", "--json", "b/part0.parquet"]) == 2
    assert "part0.parquet" in capsys.readouterr().err


def test_columns_are_chosen_or_dropped(in_folder, capsys):
    for given in (["--columns", "age"], ["--drop", LONG]):
        stored = answer(capsys, "a.csv", "b.parquet", *given)
        assert set(stored["scan"]["variable_pvalues"]) == {"age"}
    stored = answer(capsys, "a.csv", "both.feather", "--drop", "arm")
    assert set(stored["scan"]["variable_pvalues"]) == {"age", LONG}


def test_columns_of_files_read_in_blocks(folders, capsys):
    stored = answer(capsys, "a", "b", "--columns", "age")
    assert set(stored["scan"]["variable_pvalues"]) == {"age"}


def test_two_of_many_groups(in_folder, capsys):
    table = feather.read_table("both.feather").append_column(
        "ward", pa.array(list("abc" * 43 + "a"))
    )
    feather.write_feather(table, "wards.feather")
    by = ["wards.feather", "--by", "ward", "--drop", "arm"]
    assert run(["compare", *by]) == 2
    assert (
        "pick two with --group a and --against b, or compare every group with tellapart groups"
        in (capsys.readouterr().err)
    )
    stored = answer(capsys, *by, "--group", "c", "--against", "a")
    assert (stored["labels"], stored["n_test"]) == (["c", "a"], [43, 44])
    stored = answer(capsys, *by, "--group", "a")
    assert (stored["labels"], stored["n_test"]) == (["a", "rest"], [44, 86])


def test_exports_for_a_paper(in_folder, capsys):
    paths = ["--csv", "out.csv", "--latex", "out.tex", "--figure", "out.pdf"]
    assert run(["compare", "a.csv", "b.parquet", "--seed", "0", "--quiet", *paths]) == 0
    assert capsys.readouterr() == ("", "")
    table = (in_folder / "out.csv").read_text(encoding="utf-8").splitlines()
    assert table[0].startswith("kind,variables,")
    assert LONG in table[1]
    tex = (in_folder / "out.tex").read_text()
    assert "Significant differences between a ($n = 60$) and b" in tex
    assert (in_folder / "out.pdf").read_bytes().startswith(b"%PDF")


def test_bad_exports_are_refused_before_the_work(in_folder, capsys):
    for option, path, said in (
        ("--figure", "out.gif", "--figure must end in"),
        ("--csv", "-", "--csv must be the path of a file; only --json takes '-'"),
        ("--latex", "a.csv", "--latex must not be a file that is read"),
    ):
        assert run(["compare", "a.csv", "b.parquet", option, path]) == 2
        assert said in capsys.readouterr().err


def test_a_packed_file_is_called_without_its_endings():
    assert inputs.title_of("folder/after.csv.gz") == "after"
    assert inputs.title_of("v1.2.parquet") == "v1.2"


def test_pairs_are_matched_by_row_or_by_a_column(tmp_path, capsys):
    rng = np.random.default_rng(0)
    people = 10 + 5 * rng.normal(size=(40, 2))
    who, shuffled = np.arange(40), rng.permutation(40)
    for name, order, shift in (("before", who, 0.0), ("after", shuffled, 0.5)):
        values = people + 0.2 * rng.normal(size=people.shape) + [shift, 0.0]
        table = pa.table({"who": who[order], "a": values[order, 0], "b": values[order, 1]})
        csv.write_csv(table, tmp_path / f"{name}.csv")
    files = [str(tmp_path / "before.csv"), str(tmp_path / "after.csv")]
    common = ["--permutations", "99", "--seed", "0", "--quiet", "--json", "-"]
    assert run(["compare", *files, "--paired", "who", *common]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["pvalue"] == 1 / 100
    assert told["design"]["paired"] == "who"
    assert run(["compare", *files, "--paired", *common, "--drop", "who"]) == 0
    assert json.loads(capsys.readouterr().out)["design"]["n_blocks"] == 40


def visits(folder, n=40):
    """Write people at three visits, the second of which is a little higher in one column."""
    rng = np.random.default_rng(0)
    who, visit = np.tile(np.arange(n), 3), np.repeat(["v1", "v2", "v3"], n)
    values = (10 + 5 * rng.normal(size=(n, 2)))[who] + 0.2 * rng.normal(size=(3 * n, 2))
    values[visit == "v2", 0] += 0.5
    order = rng.permutation(3 * n)
    columns = {"who": who, "visit": visit, "a": values[:, 0], "b": values[:, 1]}
    table = pa.table({**columns, "site": np.array(["n", "s"])[who % 2]})
    csv.write_csv(table.take(order), folder / "visits.csv")
    return str(folder / "visits.csv")


def test_groups_of_one_file_have_designs(tmp_path, capsys):
    file = visits(tmp_path)
    common = ["--permutations", "39", "--seed", "0", "--quiet", "--json", "-"]
    two = ["compare", file, "--by", "visit", "--group", "v1", "--against", "v2"]
    assert run([*two, "--paired", "who", "--drop", "site", *common]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["pvalue"], told["variables"]) == (1 / 40, ["a"])
    assert (told["design"]["paired"], told["design"]["n_blocks"]) == ("who", 40)
    assert told["settings"]["paired"] == "who"
    assert run([*two, "--strata", "site", "--columns", "a,b", *common]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["design"]["strata"], told["design"]["n_blocks"]) == ("site", 2)
    assert told["pvalue"] > 0.2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--against", "v2", "--paired"], "--paired needs a COLUMN"),
        (["--paired", "who"], "--paired must be left out where a group is compared with the rest"),
        (["--clusters", "who"], "clusters must lie wholly in one sample; 40 of 40"),
        (["--strata", "visit"], "--strata must be another column than --by visit"),
        (["--strata", "town"], "'town'"),
    ],
)
def test_groups_that_designs_do_not_fit_are_refused_in_a_line(tmp_path, capsys, options, said):
    file = visits(tmp_path)
    assert run(["compare", file, "--by", "visit", "--group", "v1", *options]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_strata_that_leave_out_many_rows_are_warned_of(in_folder, capsys):
    both = feather.read_table("both.feather")
    years = pa.array(np.random.default_rng(0).integers(0, 90, both.num_rows))
    feather.write_feather(both.append_column("years", years), "years.feather")
    given = ["compare", "years.feather", "--by", "arm", "--strata", "years", "--seed", "0"]
    assert run([*given, "--permutations", "99"]) == 0
    err = capsys.readouterr().err
    assert re.search(r"warning: --strata leave out \d+ of 130 rows: .* bands of 'years'\.", err)


@pytest.fixture
def repeated(in_folder):
    """A file whose numbers take many times its own size."""
    rows = np.arange(80_000)
    table = pa.table({"arm": np.where(rows % 2, "old", "new"), "v": rows % 4, "w": rows % 7 * 1.0})
    parquet.write_table(table, "repeated.parquet")
    assert os.path.getsize("repeated.parquet") < 80_000 * 3 * 8 / 10
    return "repeated.parquet"


def test_the_numbers_in_a_file_decide_how_it_is_read(repeated):
    def opened(*paths, budget=None, **more):
        return [type(x).__name__ for x in inputs.open_inputs(paths, None, budget, **more)]

    assert opened(repeated) == ["Table"]
    assert opened(repeated, budget=4 * 1_920_000) == ["Table"]
    assert opened(repeated, budget=1e6) == ["FileDataset"]
    assert opened(repeated, repeated, budget=4 * 1_920_000) == ["FileDataset"] * 2
    assert opened(repeated, budget=1e6, in_memory=True) == ["Table"]
    with using_budget(Budget(file_bytes_in_memory=1_900_000)):
        assert opened(repeated) == ["FileDataset"]


def test_groups_of_a_large_file_are_read_block_by_block(repeated, capsys, monkeypatch):
    """The table is never read as a whole; a design needs it, and gets it."""
    more = ["--permutations", "99"]
    small = answer(capsys, repeated, "--by", "arm", *more)
    with using_budget(Budget(file_bytes_in_memory=1)):
        assert answer(capsys, repeated, "--by", "arm", "--strata", "w", *more)["n_test"]

    def refuse(*_):
        raise AssertionError("read as a whole")

    monkeypatch.setattr(compare_command, "read_input", refuse)
    with using_budget(Budget(file_bytes_in_memory=1)):
        large = answer(capsys, repeated, "--by", "arm", *more)
    assert large["labels"] == small["labels"] == ["new", "old"]
    assert large["n_test"] == small["n_test"] == [40_000, 40_000]
    assert large["scan"]["variable_pvalues"].keys() == {"v", "w"}
    assert large["reject"] == small["reject"] is True
    with using_budget(Budget(file_bytes_in_memory=1)):
        for given, words in (
            (["--by", "nobody"], "nobody"),
            (["--by", "v"], "exactly two distinct"),
        ):
            assert run(["compare", repeated, *given, *more]) == 2
            assert words in capsys.readouterr().err
        picked = answer(capsys, repeated, "--by", "v", "--group", "1", "--against", "3", *more)
        assert picked["n_test"] == [20_000, 20_000]
        rest = answer(capsys, repeated, "--by", "v", "--group", "1", *more)
        assert rest["n_test"] == [20_000, 60_000]


def test_all_findings_are_printed_or_written(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name, shift in (("a", 0.0), ("b", 2.0)):
        table = pa.table({f"v{i:02}": rng.normal(size=40) + shift for i in range(30)})
        csv.write_csv(table, f"{name}.csv")
    few = ["compare", "a.csv", "b.csv", "--permutations", "99", "--seed", "0"]
    assert run([*few, "--csv", "all.csv"]) == 0
    out = capsys.readouterr().out
    n_findings = len((tmp_path / "all.csv").read_text().splitlines()) - 1
    assert n_findings >= 30
    assert f"and {n_findings - 20:,} more: --all-findings prints all, --csv FILE writes all" in out
    assert run([*few, "--all-findings"]) == 0
    out = capsys.readouterr().out
    assert all(f"\n  v{i:02}: " in out for i in range(30))
    assert "more: --all-findings" not in out
