"""coverage.py OPS.TSV - the ops of the first tiers that have no row in a table of GPU kernels.

Names are read from the tables in ops/*.cu and ops/gpu_everywhere.c; a macro of apply.cu stands for up to four names.
"""
import glob
import re
import sys


def served():
    names = set()
    for path in glob.glob("ops/*.cu") + ["ops/gpu_everywhere.c"]:
        with open(path) as f:
            text = f.read()
        names.update(re.findall(r'[({]\s*"([A-Z_]\w+)"', text))
        for macro, name in re.findall(r'(DENSE|BOTH)\("(\w+)"', text):
            kinds = ("Apply", "ResourceApply") + (("SparseApply", "ResourceSparseApply") if macro == "BOTH" else ())
            names.update(kind + name for kind in kinds)
    return names


def main():
    have = served()
    missing = {}
    with open(sys.argv[1]) as f:
        for line in f:
            row = line.rstrip("\n").split("\t")
            if not line.startswith("#") and len(row) > 1 and row[1] not in have:
                missing.setdefault(row[0], []).append(row[1])
    for tier in sorted(missing):
        print("tier %s: %d without a GPU kernel\n  %s" % (tier, len(missing[tier]), " ".join(missing[tier])))


if __name__ == "__main__":
    main()
