"""`tellapart demo`, run as users run it."""

import json

from tellapart.cli import run


def test_demo(tmp_path, capsys):
    assert run(["demo", "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "212 malignant and 357 benign" in out
    assert "malignant and benign differ" in out
    assert 'ta.two_sample_test(malignant, benign, labels=("malignant", "benign")' in out
    assert " means differ (" in out
    assert " correlations differ (" in out
    assert "more: the report shows all" in out
    assert "Unadjusted p-values by family: location ≤ 0.001" in out
    stored = json.loads((tmp_path / "tellapart-demo.json").read_text())
    assert stored["reject"] is True
    kinds = {finding["kind"] for finding in stored["scan"]["findings"]}
    assert {"location", "spread", "correlation"} <= kinds
    assert (tmp_path / "tellapart-demo.png").read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "tellapart-demo.html").read_text(encoding="utf-8")
    assert "<bdi>malignant</bdi> and <bdi>benign</bdi> differ" in page
    assert "ta.datasets.demo_tables()" in page
    assert (tmp_path / "tellapart-demo.html").as_uri() in out
    assert len(list(tmp_path.iterdir())) == 3


def test_the_folder_must_exist(capsys):
    assert run(["demo", "--out", "no/such/folder"]) == 2
    assert "--out must be a folder" in capsys.readouterr().err
