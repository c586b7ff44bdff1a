"""Stateful programs run step by step on TensorFlow and on Weft: the same values, errors and words.

A scenario is a function that builds a graph and returns its steps.  A step is something to run (a tensor, a list of
tensors, an operation), or Start(name, step), Join(name), Until(tensor, value).  A step that fails goes on to the next:
its error is what is compared.
"""
import re
import threading
import time

import numpy as np
import tensorflow as tf

import compare
import weftlib

v1 = tf.compat.v1
PATIENCE_MS = 20000


class Start:
    """Runs a step on a thread of its own."""

    def __init__(self, name, step):
        self.name, self.step = name, step


class Join:
    """Waits for a started step; its outcome stands here."""

    def __init__(self, name):
        self.name = name


class Until:
    """Runs until the value is there: how a scenario knows that a started step waits."""

    def __init__(self, tensor, value):
        self.tensor, self.value = tensor, value


class Fails:
    """A step of which only the error's code is compared: its words are not TensorFlow's or name something of its own."""

    def __init__(self, step):
        self.step = step


class Failure:
    def __init__(self, code, message):
        self.code, self.message = code, message

    def __repr__(self):
        return f"error {self.code}: {self.message}"


def words(message):
    """The message without the node it names, what Python adds, numbers that count resources, and the file and place
    that only Weft names."""
    lines = [line for line in message.split("\n") if line and "[[" not in line
             and not line.startswith(("Graph execution error", "Detected at", "Node:", "Original stack", "Traceback", "  "))]
    lines = [re.sub(r"(,? in /\S+| \(at byte \d+ of the file\))$", "", line) for line in lines]
    return re.sub(r"'_\d+_", "'_N_", re.sub(r"(TensorArray|Stack\[)([ ]?\S*?)_\d+(@|:|\]| )", r"\1\2\3", " ".join(lines)))


def names_of(step):
    """(fetches, targets) by name."""
    if isinstance(step, tf.Operation):
        return [], [step.name]
    if isinstance(step, tf.Tensor):
        return [step.name], []
    return [t.name for t in step], []


class Runner:
    def __init__(self):
        self.threads, self.outcomes = {}, {}

    def attempt(self, step, timeout_ms=PATIENCE_MS):
        try:
            return self.run(*names_of(step), timeout_ms)
        except tf.errors.OpError as e:
            return Failure(e.error_code, words(e.message))
        except weftlib.Error as e:
            return Failure(e.code, words(e.message))

    def start(self, name, step):
        def work():
            self.outcomes[name] = self.attempt(step)
        self.threads[name] = threading.Thread(target=work)
        self.threads[name].start()

    def until(self, tensor, value):
        end = time.monotonic() + PATIENCE_MS / 1000
        while not np.array_equal(self.attempt(tensor)[0], value):
            assert time.monotonic() < end, f"{tensor.name} never became {value}"
            time.sleep(0.002)

    def play(self, steps):
        outcomes = []
        for step in steps:
            if isinstance(step, Start):
                self.start(step.name, step.step)
            elif isinstance(step, Until):
                self.until(step.tensor, step.value)
            elif isinstance(step, Join):
                self.threads[step.name].join()
                outcomes.append(self.outcomes[step.name])
            elif isinstance(step, Fails):
                outcome = self.attempt(step.step, 300)
                assert isinstance(outcome, Failure), f"{step.step} did not fail: {outcome}"
                outcomes.append(Failure(outcome.code, ""))
            else:
                outcomes.append(self.attempt(step))
        return outcomes


class OnTensorFlow(Runner):
    def __init__(self, graph):
        super().__init__()
        self.session = v1.Session(graph=graph)

    def run(self, fetches, targets, timeout_ms):
        options = v1.RunOptions(timeout_in_ms=timeout_ms)
        return self.session.run(fetches, options=options) if fetches else self.session.run(targets, options=options) and []


class OnWeft(Runner):
    def __init__(self, graph):
        super().__init__()
        self.session = weftlib.Session(weftlib.Graph(graph.as_graph_def()))

    def run(self, fetches, targets, timeout_ms):
        return self.session.run(fetches, None, targets, timeout_ms)


def differences(build):
    with tf.Graph().as_default() as g:
        steps = build()
    want, got = OnTensorFlow(g).play(steps), OnWeft(g).play(steps)
    out = []
    for i, (w, o) in enumerate(zip(want, got)):
        where = f"outcome {i}"
        if isinstance(w, Failure) or isinstance(o, Failure):
            if repr(w) != repr(o):
                out.append(f"{where}: {o!r}; TensorFlow has {w!r}")
        else:
            out += [d for d in (compare.difference(f"{where}.{j}", a, b) for j, (a, b) in enumerate(zip(w, o))) if d]
    return out


def check(build):
    different = differences(build)
    assert not different, "\n" + "\n".join(different)
