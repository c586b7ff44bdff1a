"""The command `weft` of a wheel: starts the program that lies in the package.

It is a module of its own, because the package itself takes longer to import than most commands take to run.
"""
import os
import sys


def main():
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "weft", "bin", "weft")
    os.environ.setdefault("WEFT_PYTHON_PROGRAM", sys.executable)  # scripts run in the Python that has the package
    try:
        os.execv(program, ["weft", *sys.argv[1:]])
    except OSError as e:
        sys.exit("weft: cannot start %s: %s (install the wheel again)" % (program, e.strerror))
