#!/usr/bin/python3
"""Cross-validates support vector machines on handwritten digits.

As validation code often does, it keeps what it computed for every fold, in case somebody wants it later: memory grows
until all folds are done, about 20 MB for each, or until there is no more.
"""

import argparse

from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

GAMMAS = [0.002 * 1.5**step for step in range(12)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, default=5, help="folds for each candidate (default: %(default)s)")
    options = parser.parse_args()

    digits, labels = load_digits(return_X_y=True)
    digits /= 16
    kept = []
    for gamma in GAMMAS:
        folds = StratifiedKFold(options.folds, shuffle=True, random_state=0)
        for number, (train, test) in enumerate(folds.split(digits, labels), 1):
            kernel = rbf_kernel(digits[train], digits[train], gamma=gamma)
            test_kernel = rbf_kernel(digits[test], digits[train], gamma=gamma)
            machine = SVC(kernel="precomputed").fit(kernel, labels[train])
            accuracy = machine.score(test_kernel, labels[test])
            kept.append((kernel, test_kernel, machine))
            held = sum(one.nbytes + other.nbytes for one, other, _ in kept) >> 20
            print(f"gamma {gamma:.4f} fold {number}: accuracy {accuracy:.3f}, {held} MiB kept", flush=True)


if __name__ == "__main__":
    main()
