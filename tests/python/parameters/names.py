"""Builds the base call of every recipe in a graph of its own and notes the names: of what it returned, of all nodes and of the
collections.  `python names.py SYSTEM RECIPES OUT` does it for the recipes of a JSON file in one system; nothing is run.
"""
import importlib
import json
import os
import pathlib
import pickle
import signal
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "calls")]
import machine  # noqa: E402
import uses  # noqa: E402
import walk  # noqa: E402

LIMIT = 20  # seconds


def named(x):
    """The names of the tensors, variables and operations of a description, in order, and everything else as None."""
    if isinstance(x, machine._Value):
        return x.name
    if isinstance(x, tuple) and x and x[0] == "op":
        return x[1]
    if isinstance(x, dict):
        return {k: named(v) for k, v in x.items()}
    return [named(v) for v in x] if isinstance(x, (list, tuple)) else None


def built(tf, line):
    """(names of the result, [(node, op)], collections), or the error's class and text."""
    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(11)
        tf.get_variable_scope().set_initializer(uses.Uses(tf).ramp)
        try:
            caller = walk.Caller(tf, walk.parse(line))
            value = machine.Described(tf).take(caller.make(walk.BASE, "", []))
        except Exception as e:  # noqa: BLE001 - the outcome
            return "%s: %s" % (type(e).__name__, e)
        finally:
            tf.summary.FileWriterCache.clear()
        nodes = [(n.name, machine.SAME.get(n.op, n.op)) for n in graph.as_graph_def().node]
        return named(value), nodes, walk.held(graph)


def alone(tf, line):
    """What a call built, in an empty folder and within LIMIT."""
    home = os.getcwd()
    signal.alarm(LIMIT)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            return built(tf, line)
        except Exception as e:  # noqa: BLE001 - the time was over outside of the call
            return "%s: %s" % (type(e).__name__, e)
        finally:
            signal.alarm(0)
            os.chdir(home)


def main(system, recipes, out):
    tf = importlib.import_module("walk_names_of_" + system).load()
    signal.signal(signal.SIGALRM, walk.waited)
    environment, found = dict(os.environ), {}
    for line in json.loads(pathlib.Path(recipes).read_text()):
        os.environ.clear()
        os.environ.update(environment)  # a recipe may have made this process a task of a cluster
        print(line, flush=True)
        found[line] = alone(tf, line)
    pathlib.Path(out).write_bytes(pickle.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
