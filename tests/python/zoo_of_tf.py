"""zoo_of_tf.py FOLDER PROGRAM...: runs TF1 programs with the real TensorFlow, each in a process of its own.

TensorFlow is imported once; every program is a fork of that process.  FOLDER/NAME/ is a program's working folder,
FOLDER/NAME.txt what it printed, and FOLDER/NAME.code its exit code.
"""
import os
import pathlib
import runpy
import sys
import traceback

import tensorflow.compat.v1 as tf


def run(folder, program):
    """The child: the program as __main__, with its output in a file."""
    out = os.open(str(folder) + ".txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(out, 1)
    os.makedirs(folder)
    os.chdir(folder)
    sys.argv = [program]
    try:
        runpy.run_path(program, run_name="__main__")
        code = 0
    except SystemExit as e:
        code = e.code or 0
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 1)


def main(folder, programs):
    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    sys.modules["tensorflow"] = tf
    for program in programs:
        where = pathlib.Path(folder) / pathlib.Path(program).stem
        child = os.fork()
        if child == 0:
            run(where, program)
        _, status = os.waitpid(child, 0)
        pathlib.Path(str(where) + ".code").write_text(str(os.waitstatus_to_exitcode(status)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
