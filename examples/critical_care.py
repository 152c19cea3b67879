"""Critical care: the first-day measurements that tell patients with sepsis from others.

The tutorial's run on real data: 5,735 critically ill adults (the SUPPORT study's right heart
catheterisation data, Connors et al., JAMA 1996), 1,031 of them with sepsis. The data are read from
a folder that holds critical_care.csv and are not part of this project.

    TELLAPART_DATA=FOLDER .venv/bin/python examples/critical_care.py [--report sepsis.html]
"""

import argparse
import os
from pathlib import Path

import pandas as pd

import tellapart as ta

parser = argparse.ArgumentParser()
parser.add_argument("--data", help="folder of critical_care.csv", default=None)
parser.add_argument("--report", help="where to write the page", default=None)
arguments = parser.parse_args()
folder = arguments.data or os.environ.get("TELLAPART_DATA")
if folder is None:
    parser.error("say where critical_care.csv is, by --data or by TELLAPART_DATA")

patients = pd.read_csv(Path(folder) / "critical_care.csv")
# A column of 0 and 1 is a yes or no: what differs is then given as a proportion.
flags = [name for name in patients if set(patients[name]) == {0, 1}]
patients[flags] = patients[flags].astype(bool)
sepsis = patients[patients.sepsis].drop(columns="sepsis")
others = patients[~patients.sepsis].drop(columns="sepsis")
print(f"{len(sepsis)} patients with sepsis, {len(others)} without, {sepsis.shape[1]} columns\n")

labels = ("sepsis", "others")
result = ta.two_sample_test(sepsis, others, n_variables=5, labels=labels, random_state=0)
print(result.summary())
print(f"\n{result.stability(20).summary()}")

# The paper's way, for comparison: half of the rows choose five variables, the others test them.
split = ta.two_sample_test(
    sepsis, others, method="split", n_variables=5, labels=labels, random_state=0
)
print(f"\nWith a split: {split.verdict}\n  {', '.join(split.selection.weights)}")

if arguments.report:
    result.to_html(arguments.report)
    print(f"\nThe report: {arguments.report}")
