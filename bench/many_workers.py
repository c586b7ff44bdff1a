#!/usr/bin/env python3
"""many_workers.py [--few N] [--many N] - does a ps hold up under many workers?

Small workers count up one variable on one ps, a few of them in one cluster and many in another, in turns.

First as they are in a job: a millisecond of each step is the worker's own and would pass on its own machine, so here it
sleeps. The many together must not do fewer steps than the few.

Then without that, so that all of them always want a core of the ps's machine. Again the many must not do fewer steps, but
for what a machine of a few cores loses with so many processes in its caches; what processes lose that only echo bytes
(bench/echo.c) is told beside. And of the ps's time a step of the many may take little more than one of the few. Over
FAIR_SECONDS the slowest of the many must do at least half of the fastest.
Also told is what an idle connection takes, the worker's session included, and what all idle workers take of a core.
"""
import argparse
import os
import statistics
import subprocess
import sys
import time

import rivals

MORE = 1.6  # times the ps's time for a step: many sessions do not stay in its caches as few do
CROWDED = 0.85  # of the steps, where the workers have fewer cores than the few would fill
FAIR_SECONDS = 10
FAIR = 0.5  # of the steps of the fastest of the many, that the slowest does


class Cluster:
    """One ps and its workers."""

    def __init__(self, job, workers):
        (ps,), commands = rivals.cluster("weft", job, 1, workers)
        self.workers, self.ps_us = workers, []
        self.rival = rivals.Rival("weft", ([ps], []), False)
        rivals.wait_for_port(next(flag for flag in ps if flag.startswith("--ps_hosts=")).split("=")[1])
        before = self.ps_mb()
        self.rival.steppers = [rivals.Process(command) for command in commands]
        self.rival.get_ready()
        self.grown_kb = (self.ps_mb() - before) * 1024 / workers

    def ps_mb(self):
        return self.rival.servers[0].memory_mb("VmRSS")

    def ps_seconds(self):
        """Of a core, so far."""
        fields = open(f"/proc/{self.rival.servers[0].process.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def turn(self, seconds):
        before = self.ps_seconds()
        self.rival.turn(seconds)
        self.ps_us.append((self.ps_seconds() - before) / (self.rival.rates[-1] * seconds) * 1e6)

    def slowest(self, seconds):
        """The steps of the slowest worker, as a part of those of the fastest."""
        for worker in self.rival.steppers:
            worker.ask(str(seconds))
        steps = [int(worker.expect().split()[0]) for worker in self.rival.steppers]
        return min(steps) / max(steps)

    def idle_percent(self, seconds):
        """Of a core, that all workers together take while they have nothing to do."""
        before = self.rival.processor_seconds() - self.ps_seconds()
        time.sleep(seconds)
        return 100 * (self.rival.processor_seconds() - self.ps_seconds() - before) / seconds

    def us(self):
        """Of the ps's time, a step."""
        return statistics.median(self.ps_us)

    def tell(self):
        print(f"  {self.workers} workers: {self.rival.rate():,.0f} steps/s in all, {self.us():.1f} us of the ps each; "
              f"an idle worker takes {self.grown_kb:,.0f} KB of it")


class Echo:
    """As many processes as a cluster has workers, that only send and wait."""

    def __init__(self, processes):
        self.processes, self.rates = processes, []

    def turn(self, seconds):
        done = subprocess.run([rivals.BUILD / "bench" / "echo", str(self.processes), str(seconds)], check=True,
                              capture_output=True, text=True)
        self.rates.append(float(done.stdout))

    def tell(self):
        print(f"  {self.processes} processes that only echo: {statistics.median(self.rates):,.0f} answers/s in all")


def compare(what, job, options, echoes, alone=lambda many: None):
    """Everybody in turns; the ratios of the many to the few, of steps and of the ps's time for one, and alone(the many)."""
    turns, clusters = list(echoes), []
    try:
        for count in (options.few, options.many):
            clusters.append(Cluster(job, count))
        turns += clusters
        for _ in range(options.rounds):
            for each in turns:
                each.turn(options.seconds)
        found = alone(clusters[-1])
    finally:
        for cluster in clusters:
            cluster.rival.leave()
    print(what)
    for each in turns:
        each.tell()
    few, many = clusters
    return many.rival.rate() / few.rival.rate(), many.us() / few.us(), found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--few", type=int, default=4)
    parser.add_argument("--many", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.5)
    options = parser.parse_args()

    steps, took, _ = compare("Workers with a machine of their own (1 ms of each step is spent there):", "small", options, [])
    print(f"  {steps:.2f} times the steps, at least 1; a step takes {took:.2f} times the ps's time, at most {MORE}\n")

    echoes = [Echo(options.few), Echo(options.many)]
    busy, busy_took, (slowest, idle) = compare(
        "Workers that share the ps's cores and never pause:", "null", options, echoes,
        lambda many: (many.slowest(FAIR_SECONDS), many.idle_percent(FAIR_SECONDS)))
    few, many = (statistics.median(echo.rates) for echo in echoes)
    least = 1 if len(os.sched_getaffinity(0)) > options.few else CROWDED
    print(f"  {busy:.2f} times the steps, at least {least} (the echo {many / few:.2f}); a step takes {busy_took:.2f} times the "
          f"ps's time, at most {MORE}")
    print(f"  over {FAIR_SECONDS} s the slowest does {slowest:.2f} of the steps of the fastest, at least {FAIR}")
    print(f"  {options.many} idle workers take {idle:.1f} % of a core")
    return 0 if steps >= 1 and busy >= least and slowest >= FAIR and max(took, busy_took) <= MORE else 1


if __name__ == "__main__":
    sys.exit(main())
