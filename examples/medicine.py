"""Medicine: the measurements of cell nuclei in which malignant and benign tumours differ.

A test on scikit-learn's breast cancer data (569 tumours, 30 measurements), what differs, the best
three variables with their certificate, how stable the selection is, and whether three measurements
already suffice to classify.

    .venv/bin/python examples/medicine.py [--report medicine.html]
"""

import argparse

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tellapart as ta

parser = argparse.ArgumentParser()
parser.add_argument("--report", help="where to write the page for a colleague")
arguments = parser.parse_args()

malignant, benign = ta.datasets.demo_tables()
labels = ("malignant", "benign")
result = ta.two_sample_test(malignant, benign, n_variables=3, labels=labels, random_state=0)
print(result.summary())
print(f"\n{result.stability(20).summary()}")

# Inside a pipeline the selection is made on the training rows of each fold.
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
selector = ta.MMDSelector(n_variables=3, random_state=0)
few = make_pipeline(selector, StandardScaler(), LogisticRegression())
every = make_pipeline(StandardScaler(), LogisticRegression())
for name, model in {"3 selected measurements": few, "all 30 measurements": every}.items():
    score = cross_val_score(model, X, y, scoring="roc_auc").mean()
    print(f"\nArea under the ROC curve, five folds, {name}: {score:.3f}", end="")
print()

if arguments.report:
    result.to_html(arguments.report, stability=20)
    print(f"\nThe report: {arguments.report}")
