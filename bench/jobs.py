"""What the Python programs of the bench share: the inputs, and the conversation with run.py.

A program is started with a job's name, prints "check" with numbers that all systems must agree on (where the job has
such), warms up and prints "ready". Then for every line it reads it
runs steps and prints "STEPS ELAPSED": as many as fit into "SECONDS", or exactly "N steps" (programs
that step together would otherwise wait for one that has stopped). It leaves when its input ends.

Synchronous replicas step together only on the whole: one may get ahead, and then the other lacks its gradients at the
end of a turn. So with `on` a program that is done steps on until it reads "stop".
"""
import argparse
import select
import sys
import time

import numpy as np

import shapes

BATCH = 100
CHECKED = 4  # steps whose losses are compared


def parse_job(arguments):
    """The name of a job and its shape (None for a job without one)."""
    parser = argparse.ArgumentParser()
    parser.add_argument("job")
    parser.add_argument("--shape")
    parser.add_argument("--optimizer", default="adagrad")
    options = parser.parse_args(arguments)
    if shapes.base(options.job) not in shapes.SHAPES:
        return options.job, None
    return options.job, shapes.Shape(options.job, options.shape, options.optimizer)


def tell_check(step):
    """step(i) is the number of step i that all systems must agree on."""
    print("check", *(repr(float(step(i))) for i in range(CHECKED)), flush=True)


def batches(n=10):
    """Images in 0..1 and labels, the same for every system."""
    draw = np.random.RandomState(1)
    return [(draw.rand(BATCH, 784).astype(np.float32), draw.randint(0, 10, BATCH)) for _ in range(n)]


def requests(step, on):
    while True:
        while on and not select.select([sys.stdin], [], [], 0)[0]:
            step(0)
        line = sys.stdin.readline()
        if line.strip() == "stop":
            line = sys.stdin.readline()
        if not line:
            return
        yield line.split()


def converse(step, warmup, on=False):
    for i in range(warmup):
        step(i)
    print("ready", flush=True)
    for amount, *unit in requests(step, on):
        seconds, limit = (float("inf"), int(amount)) if unit else (float(amount), None)
        steps, start = 0, time.perf_counter()
        now = start
        while now - start < seconds and steps != limit:
            step(steps)
            steps += 1
            now = time.perf_counter()
        print(steps, now - start, flush=True)
