#!/usr/bin/python3
"""Cross-validates a classifier on handwritten digits, with the products of all pairs of pixels as features.

As validation code often does, it keeps what it computed for every fold, in case somebody wants it later: memory grows
by 29 MiB with each fold until all are done, or until there is no more.
"""

import argparse

import numpy
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import NearestCentroid
from sklearn.preprocessing import PolynomialFeatures


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, default=5, help="folds for each candidate (default: %(default)s)")
    parser.add_argument("--candidates", type=int, default=8, help="classifiers to compare (default: %(default)s)")
    options = parser.parse_args()

    digits, labels = load_digits(return_X_y=True)
    digits /= 16
    kept = []
    for threshold in numpy.linspace(0.1, 1.5, options.candidates):
        folds = StratifiedKFold(options.folds, shuffle=True, random_state=0)
        for number, (train, test) in enumerate(folds.split(digits, labels), 1):
            pairs = PolynomialFeatures(2)
            features = pairs.fit_transform(digits[train])
            test_features = pairs.transform(digits[test])
            classifier = NearestCentroid(shrink_threshold=threshold).fit(features, labels[train])
            accuracy = classifier.score(test_features, labels[test])
            kept.append((features, test_features, classifier))
            held = sum(one.nbytes + other.nbytes for one, other, _ in kept) >> 20
            print(f"threshold {threshold:.1f} fold {number}: accuracy {accuracy:.3f}, {held} MiB kept", flush=True)


if __name__ == "__main__":
    main()
