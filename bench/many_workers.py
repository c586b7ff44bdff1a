#!/usr/bin/env python3
"""many_workers.py [--few N] [--many N] - does a ps hold up under many workers?

Small workers count up one variable on one ps, a few of them in one cluster and many in another, in turns. The many together
must not do fewer steps than the few. Also tells what an idle connection costs the ps, workers' sessions included.
"""
import argparse
import sys

import rivals

COLUMN, JOB = "weft", "null"
KEPT = 0.9  # of the rate of the few; what the machine does besides makes up for the rest


def start(workers):
    """The cluster, and how many KB its ps grew by for each worker, once all have run and none does."""
    (ps,), commands = rivals.cluster(COLUMN, JOB, 1, workers)
    made = rivals.Rival(COLUMN, ([ps], []), False)
    rivals.wait_for_port(next(flag for flag in ps if flag.startswith("--ps_hosts=")).split("=")[1])
    before = made.servers[0].memory_mb("VmRSS")
    made.steppers = [rivals.Process(command) for command in commands]
    made.get_ready()
    return made, (made.servers[0].memory_mb("VmRSS") - before) * 1024 / workers


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--few", type=int, default=4)
    parser.add_argument("--many", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    options = parser.parse_args()
    clusters = []
    try:
        for count in (options.few, options.many):
            clusters.append(start(count))
        for _ in range(options.rounds):
            for cluster, _ in clusters:
                cluster.turn(options.seconds)
    finally:
        for cluster, _ in clusters:
            cluster.leave()
    few, many = (cluster.rate() for cluster, _ in clusters)
    for count, (cluster, grown) in zip((options.few, options.many), clusters):
        print(f"{count} workers: {cluster.rate():,.0f} steps/s in all, {grown:,.0f} KB of the ps for each idle one")
    print(f"ratio {many / few:.2f}, at least {KEPT}")
    return 0 if many >= KEPT * few else 1


if __name__ == "__main__":
    sys.exit(main())
