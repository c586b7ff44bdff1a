"""coverage.py OPS.TSV - the ops of the first tiers that no GPU kernel serves, for any type.

Names are read from the tables of kernels in ops/*.cu, and from the rows of ops/*.c whose kernels serve everywhere, once
the preprocessor has expanded their macros.
"""
import glob
import re
import subprocess
import sys


def expanded(path):
    with open(path) as f:
        text = "".join(line for line in f if not line.startswith("#include"))
    text = subprocess.run(["cpp", "-P"], input=text, capture_output=True, text=True, check=True).stdout
    return re.sub(r'"\s*"', "", text)


def served():
    names = set()
    for path in glob.glob("ops/**/*.cu", recursive=True) + glob.glob("kernels/**/*.cu", recursive=True):
        tables = expanded(path).partition("GPU_OPS(")[2]
        names.update(re.findall(r'\{\s*"(\w+)"', tables))
    for path in glob.glob("ops/**/*.c", recursive=True):
        rows = expanded(path).partition("OPS(")[2]
        for row in re.split(r'\{\s*"(?=\w+\()', rows)[1:]:
            if ".anywhere" in row:
                names.add(row.partition("(")[0])
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
