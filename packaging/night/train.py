#!/usr/bin/python3
"""Trains a small neural network on handwritten digits and says how fast it goes.

SIGUSR1 ends it early and in good order, as a batch system's warning does: `jobctl signal -s USR1 ID`.
"""

import argparse
import datetime
import signal
import time

import numpy
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

BATCH = 64
REPORT_SECONDS = 1.0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="how long to train (default: %(default)s)")
    options = parser.parse_args()
    asked_to_end = []
    signal.signal(signal.SIGUSR1, lambda *_: asked_to_end.append(True))

    digits, labels = load_digits(return_X_y=True)
    train_x, test_x, train_y, test_y = train_test_split(digits / 16, labels, test_size=0.2, random_state=0)
    network = MLPClassifier(hidden_layer_sizes=(128, 64), batch_size=BATCH, random_state=0)
    classes = numpy.unique(labels)
    shuffle = numpy.random.default_rng(0)

    print(f"training on {len(train_x)} digits", flush=True)
    begin = reported = time.monotonic()
    steps = steps_reported = 0
    while (now := time.monotonic()) < begin + options.seconds and not asked_to_end:
        batch = shuffle.integers(0, len(train_x), BATCH)
        network.partial_fit(train_x[batch], train_y[batch], classes)
        steps += 1
        if now >= reported + REPORT_SECONDS:
            speed = (steps - steps_reported) / (now - reported)
            stamp = datetime.datetime.now().isoformat(timespec="milliseconds")
            print(f"{stamp} step {steps} loss {network.loss_:.3f} at {speed:.1f} steps/s", flush=True)
            reported, steps_reported = now, steps
    print(f"trained {steps} steps, accuracy {network.score(test_x, test_y):.3f}", flush=True)


if __name__ == "__main__":
    main()
