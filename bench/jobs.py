"""What the Python programs of the bench share: the inputs, and the conversation with run.py.

A program is started with a job's name, warms up, prints "ready", and then for every line "SECONDS"
it reads runs steps for that long and prints "STEPS ELAPSED". It leaves when its input ends.
"""
import sys
import time

import numpy as np

BATCH = 100


def batches(n=10):
    """Images in 0..1 and labels, the same for every system."""
    draw = np.random.RandomState(1)
    return [(draw.rand(BATCH, 784).astype(np.float32), draw.randint(0, 10, BATCH)) for _ in range(n)]


def converse(step, warmup):
    for i in range(warmup):
        step(i)
    print("ready", flush=True)
    for line in sys.stdin:
        seconds, steps = float(line), 0
        start = now = time.perf_counter()
        while now - start < seconds:
            step(steps)
            steps += 1
            now = time.perf_counter()
        print(steps, now - start, flush=True)
