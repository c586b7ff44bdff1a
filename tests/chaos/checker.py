"""The invariants of a round, from the logs of its tasks and every checkpoint that was written.

train.c says what is counted: applied_P[n] is how often execution n of a step was applied on ps P.  A restore sets the
state back to a checkpoint B; the state in a later checkpoint K is B and what was applied since.  So, on each ps:

  once      applied_P of K is 0 or 1 everywhere: no execution is applied twice
  restored  what B has, K has too
  lost      what a worker was told is done before the restore, and B has not, K has not either: all of the state went
            back, on this ps and the other; nothing is mixed
  kept      what a worker was told is done after the restore and before K was begun, K has
  counts    the slot, the weight and the global step count updates: acknowledged <= (in K) - (in B) <= attempted.  In
            synchronous jobs several gradients make one update, so only the right side is checked
  readable  every checkpoint that `checkpoint` lists can be read

Moments are known from the lines of the chief only to lie in a window; what falls into one is not judged.  Executions that
a supervised session repeats by itself are attempts without a line "attempt": each is announced by a line "An error was
raised" of the same process, at most two by one, since a session of the chief has two threads.
"""
import bisect
import math
import re

import numpy as np

LINE = re.compile(r"^(\d+\.\d+) (session|saving|saved|end|attempt|ack)\b ?(.*)$")
RESTORE = re.compile(r"Restoring parameters from (\S+)")
SAVE = re.compile(r"Saving checkpoints? ")
RETRY = "An error was raised"
FOREVER = float("inf")


class Log:
    """What one process of a worker wrote."""

    def __init__(self, process):
        self.attempts, self.acks, self.retries, self.events = [], [], 0, []
        begun, last = {}, process.began
        for line in process.output.splitlines():
            stamped = LINE.match(line)
            if stamped:
                last, what, rest = float(stamped[1]), stamped[2], stamped[3].split()
                self.events.append((what, last, None))
                if what == "attempt":
                    begun[rest[0]] = last
                    self.attempts.append(last)
                elif what == "ack":
                    self.acks.append((begun[rest[0]], last, int(rest[1]), int(rest[2])))
            elif RETRY in line:
                self.retries += 1
            elif RESTORE.search(line):
                self.events.append(("restore", last, RESTORE.search(line)[1]))
            elif SAVE.search(line):
                self.events.append(("save", last, None))


def end_of_restore(events):
    """When a restore was over for sure: the session was handed out, or the second step after it was acknowledged (the
    first may have been on its way before)."""
    acks = 0
    for what, at, _ in events:
        acks += what == "ack"
        if what == "session" or acks == 2:
            return at
    return FOREVER


class Checker:
    def __init__(self, tasks, checkpoints, mode):
        """checkpoints: (path as the job calls it, when it was whole, values by name), in the order of time."""
        self.logs = {t: [Log(p) for p in tasks.all[t]] for t in (2, 3, 4)}
        self.acks = sorted((a for logs in self.logs.values() for log in logs for a in log.acks), key=lambda a: a[1])
        self.checkpoints, self.mode = checkpoints, mode
        self.restores, self.saves = [], []  # (lo, hi, path), (lo, hi, what)
        for log in self.logs[2]:
            for i, (what, at, path) in enumerate(log.events):
                if what == "restore":
                    self.restores.append((at, end_of_restore(log.events[i + 1:]), path))
                if what in ("save", "saving"):
                    self.saves.append((at, next((e[1] for e in log.events[i + 1:] if e[0] not in ("restore", "save")),
                                           FOREVER), what))
        self.failures, self.judged, self.skipped = [], 0, 0
        self.applied = 0

    def fail(self, text):
        self.failures.append(text)

    def base_of(self, at):
        """(lo, hi, checkpoint) of the last restore before; None: it cannot be told."""
        before = [r for r in self.restores if r[0] < at]
        if not before:
            return (-FOREVER, -FOREVER, None)
        lo, hi, path = before[-1]
        if hi >= at:
            return None
        found = [c for c in self.checkpoints if c[0] == path and c[1] <= hi]
        if not found:
            self.fail(f"readable: {path} was restored, but was never seen whole")
            return None
        return (lo, hi, found[-1])

    def begin_of_save(self, at):
        """A moment before the save of the checkpoint that was whole at `at` was begun.  The line of a save lies between
        two stamped ones, lo and hi: the last save with hi <= at had begun for sure, and this is it or comes later.  Only
        the save at the end of a program (`saving`) may overtake one of the supervisor's, if that has left no checkpoint."""
        begun = [s for s in self.saves if s[1] <= at]
        if not begun:
            return -FOREVER
        if begun[-1][2] == "saving" and len(begun) > 1:
            if not any(begun[-2][1] <= c[1] < at for c in self.checkpoints):
                return begun[-2][0]
        return begun[-1][0]

    def attempted_since(self, lo):
        """At most so many executions began after lo, or had not been acknowledged by then."""
        n = 0
        for logs in self.logs.values():
            for log in logs:
                over = bisect.bisect_left([a[1] for a in log.acks], lo)
                n += len(log.attempts) - over + 2 * log.retries
        return n

    def check_applied(self, name, now, before, window, begun):
        lo, hi = window
        if now.max() > 1:
            self.fail(f"once: {name}: execution {int(now.argmax())} was applied {int(now.max())} times")
        missing = np.flatnonzero(now < before)
        if len(missing):
            self.fail(f"restored: {name}: {len(missing)} executions of the restored checkpoint are not there, such as "
                      f"{int(missing[0])}")
        for start, end, number, _ in self.acks:
            if end < lo and not before[number] and now[number]:
                self.fail(f"lost: {name}: execution {number}, acknowledged {lo - end:.3f} s before the restore and not "
                          f"in its checkpoint, is there after it")
                break
        for start, end, number, _ in self.acks:
            if start > hi and end < begun and not now[number]:
                self.fail(f"kept: {name}: execution {number}, acknowledged {begun - end:.3f} s before it was saved, is "
                          f"not there")
                break

    def check_counts(self, path, now, before, window, begun):
        lo, hi = window
        acknowledged = sum(1 for start, end, _, _ in self.acks if start > hi and end < begun)
        attempted = self.attempted_since(lo)
        for name, count in counts(now).items():
            done = count - (counts(before)[name] if before else 0)
            least = 0 if self.mode == "sync" and not name.startswith("applied") else acknowledged
            if not least <= done <= attempted:
                self.fail(f"counts: {path}: {name}: acknowledged {least} <= applied {done} <= attempted {attempted} does "
                          f"not hold")
        return acknowledged, attempted

    def check(self, path, at, values):
        base = self.base_of(at)
        begun = self.begin_of_save(at)
        if base is None:
            self.skipped += 1
            return
        lo, hi, restored = base
        before = restored[2] if restored else None
        for p in (0, 1):
            name = f"applied_{p}"
            zeros = np.zeros_like(values[name])
            self.check_applied(f"{path.rsplit('/', 1)[-1]}: {name}", values[name], before[name] if before else zeros,
                               (lo, hi), begun)
        self.check_counts(path.rsplit("/", 1)[-1], values, before, (lo, hi), begun)
        self.judged += 1

    def run(self):
        for path, at, values in self.checkpoints:
            self.check(path, at, values)
        if self.checkpoints:
            self.applied = int(self.checkpoints[-1][2]["applied_0"].sum())
        return self


def counts(values):
    """How many updates each variable has seen."""
    found = {"global_step": int(values["global_step"])}
    for p in (0, 1):
        weight = float(values[f"weight_{p}"])
        found[f"applied_{p}"] = int(values[f"applied_{p}"].sum())
        found[f"weight_{p}/Momentum"] = round(-float(values[f"weight_{p}/Momentum"]))
        found[f"weight_{p}"] = round((math.sqrt(8 * weight + 1) - 1) / 2)
    return found
