#!/usr/bin/env python3
"""many_workers.py [--few N] [--many N] - does a ps hold up under many workers?

Small workers count up one variable on one ps, a few of them in one cluster and many in another, in turns.

First as they are in a job: a millisecond of each step is the worker's own and would pass on its own machine, so here it
sleeps. The many together must not do fewer steps than the few.

Then without that, so that all of them always want a core. Here a machine with few cores has a say: more processes than fit
its caches slow each other down, whatever they do. So processes that only echo bytes (bench/echo.c) take their turns too, and
workers may lose little more than these. Also tells what a step costs the ps, and an idle connection, the
worker's session included.
"""
import argparse
import os
import statistics
import subprocess
import sys

import rivals

KEPT = 0.6  # of what the echo keeps: a worker's step touches far more memory than an echo


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

    def tell(self):
        print(f"  {self.workers} workers: {self.rival.rate():,.0f} steps/s in all, "
              f"{statistics.median(self.ps_us):.0f} us of the ps each; an idle worker takes {self.grown_kb:,.0f} KB of it")


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


def compare(what, job, options, echoes):
    """Everybody in turns; the ratios of the many to the few, of the clusters and of the echoes."""
    turns, clusters = list(echoes), []
    try:
        for count in (options.few, options.many):
            clusters.append(Cluster(job, count))
        turns += clusters
        for _ in range(options.rounds):
            for each in turns:
                each.turn(options.seconds)
    finally:
        for cluster in clusters:
            cluster.rival.leave()
    print(what)
    for each in turns:
        each.tell()
    few, many = (cluster.rival.rate() for cluster in clusters)
    return many / few


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--few", type=int, default=4)
    parser.add_argument("--many", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.5)
    options = parser.parse_args()

    small = compare("Workers with a machine of their own (1 ms of each step is spent there):", "small", options, [])
    print(f"  ratio {small:.2f}, at least 1\n")

    echoes = [Echo(options.few), Echo(options.many)]
    busy = compare("Workers that share the ps's cores and never pause:", "null", options, echoes)
    few, many = (statistics.median(echo.rates) for echo in echoes)
    print(f"  ratio {busy:.2f}, at least {KEPT} of the echo's {many / few:.2f}")
    return 0 if small >= 1 and busy >= KEPT * many / few else 1


if __name__ == "__main__":
    sys.exit(main())
