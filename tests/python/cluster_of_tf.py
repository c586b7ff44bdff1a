"""cluster_of_tf.py FOLDER PROGRAM CLUSTER ARG...: a TF1 program as the tasks of a cluster of the real TensorFlow.

CLUSTER is the cluster of TF_CONFIG in JSON; an evaluator is added.  FOLDER/KIND-INDEX.txt is what a task printed and
logged, FOLDER/KIND-INDEX.code its exit code.  A ps of TensorFlow never ends, so it is killed when the others ended.
"""
import json
import os
import pathlib
import runpy
import signal
import sys
import traceback

import tensorflow.compat.v1 as tf


def run(folder, program, arguments, cluster, kind, index):
    """The child: one task."""
    out = os.open(str(folder / ("%s-%d.txt" % (kind, index))), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(out, 1)
    os.dup2(out, 2)
    os.environ["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": {"type": kind, "index": index}})
    sys.argv = [program, *arguments]
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


def main(folder, program, cluster, *arguments):
    tf.disable_v2_behavior()
    sys.modules["tensorflow"] = tf
    folder, cluster, tasks = pathlib.Path(folder), json.loads(cluster), {}
    for kind, index in [(kind, i) for kind, hosts in cluster.items() for i in range(len(hosts))] + [("evaluator", 0)]:
        tasks[kind, index] = os.fork()
        if tasks[kind, index] == 0:
            run(folder, program, arguments, cluster, kind, index)
    for (kind, index), child in sorted(tasks.items(), key=lambda task: task[0][0] == "ps"):
        if kind == "ps":
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        (folder / ("%s-%d.code" % (kind, index))).write_text(str(os.waitstatus_to_exitcode(status)))


if __name__ == "__main__":
    main(*sys.argv[1:])
