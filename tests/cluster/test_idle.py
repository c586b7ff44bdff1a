"""Sessions of clients that went away are freed; those of clients that only idled go on."""
import pathlib
import subprocess
import sys
import time

import grpc
import pytest

import weft as tf
from rawclient import Client, field, report, text
from tasks import WEFT, eventually

SOON = {"WEFT_SESSION_IDLE_SECS": "0.5"}


def graph(device="/job:ps/task:0", elements=1000):
    """A variable "v" that "add" adds 1 to, and "big", a step that takes memory."""
    g = tf.Graph()
    with g.as_default(), tf.device(device):
        v = tf.Variable(1.0, name="v", use_resource=False)
        tf.identity(v.assign_add(1.0), name="add")
        x = tf.constant([0.5] * elements) + v
        for _ in range(4):
            x = tf.reduce_sum(tf.tanh(tf.reshape(x, [elements, 1]) * tf.reshape(x, [1, elements])), axis=0)
        tf.reduce_sum(x, name="big")
    return g.as_graph_def().SerializeToString(), v.initializer.name


def serve(cluster, workers=0, **env):
    c = cluster(workers=workers)
    ps = c.serve("ps", 0, **env)
    ps.until("Started server")
    return c, ps


def sessions(c):
    """(of clients, without their plans), as the ps reports them."""
    told = dict(report(c.hosts["ps"][0]))
    return told.get(29, 0), told.get(30, 0)


DYING = """
import os, sys
sys.path[:0] = sys.argv[1:3]
from rawclient import Client
graph = open(sys.argv[4], "rb").read()
clients = [Client(sys.argv[3], graph) for _ in range(int(sys.argv[5]))]
for client in clients:
    for _ in range(3):
        client.run(sys.argv[6])
os._exit(0)
"""


def die(c, folder, count, elements=1000):
    """A process whose sessions have run, gone without closing them."""
    definition, init = graph(elements=elements)
    (folder / "graph").write_bytes(definition)
    first = Client(c.hosts["ps"][0], definition)
    first.run(init + ":0")
    subprocess.run([sys.executable, "-c", DYING, *sys.path[:2], c.hosts["ps"][0], folder / "graph", str(count), "big:0"],
                   check=True)
    return first


def peak_mb(task):
    status = pathlib.Path(f"/proc/{task.process.pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def test_what_dead_clients_leave_is_freed(cluster, tmp_path):
    c, ps = serve(cluster, WEFT_SESSION_TTL="8", **SOON)
    kept = die(c, tmp_path, 1)
    eventually(lambda: sessions(c) == (2, 1))
    before = ps.memory_mb()
    die(c, tmp_path, 25).close()
    assert peak_mb(ps) - before > 100  # while the plans were there
    eventually(lambda: sessions(c)[1] >= 25, 30)
    eventually(lambda: ps.memory_mb() - before < 25, 30)
    eventually(lambda: sessions(c)[0] == 1, 30)  # in the end the sessions go too
    assert kept.scalar("add:0") == 2.0  # the connection of this one stands


def test_a_client_that_only_idled_goes_on(cluster):
    c, _ = serve(cluster, workers=1, **SOON)
    worker = c.serve("worker", 0)
    worker.until("Started server")
    g = tf.Graph()
    with g.as_default():
        with tf.device("/job:ps/task:0"):
            v = tf.Variable(1.0, name="v", use_resource=False)
        with tf.device("/job:worker/task:0"):
            twice = v * 2.0
        with tf.device("/job:ps/task:0"):
            tf.identity(v.assign(twice), name="add")
    client = Client(c.hosts["ps"][0], g.as_graph_def().SerializeToString())
    client.run(v.initializer.name + ":0")
    memory = 0
    for turn in range(1, 13):
        assert client.scalar("add:0") == 2.0**turn
        client.channel.close()
        eventually(lambda: sessions(c) == (1, 1))
        client.channel = grpc.insecure_channel(c.hosts["ps"][0])
        memory = memory or worker.memory_mb()
    assert worker.memory_mb() - memory < 2  # it forgets the parts that the master forgot
    client.close()
    assert sessions(c) == (0, 0)


def test_a_session_whose_connection_stands_or_whose_step_runs_is_not_idle(cluster):
    c, ps = serve(cluster, **SOON)
    g = tf.Graph()
    with g.as_default(), tf.device("/job:ps/task:0"):
        queue = tf.FIFOQueue(1, [tf.float32], shapes=[[]], name="q", shared_name="q")
        tf.identity(queue.dequeue(), name="out")
        queue.enqueue(3.0, name="put")
    definition = g.as_graph_def().SerializeToString()
    quiet, waiting = Client(c.hosts["ps"][0], definition), Client(c.hosts["ps"][0], definition)
    call = waiting.begin("RunStep", waiting.step("out:0"), None)
    time.sleep(3)  # six times as long as an idle session keeps its plans
    assert sessions(c) == (2, 0)
    quiet.call("RunStep", quiet.handle + text(4, "put"), 30)
    assert b"out" in call.result(timeout=30)


def test_the_least_recently_used_session_goes_when_there_are_too_many(cluster):
    c, ps = serve(cluster)
    definition = graph(elements=4)[0]
    first = Client(c.hosts["ps"][0], definition)
    second = Client(c.hosts["ps"][0], definition)
    request = field(1, 2, definition)
    for _ in range(998):
        first.call("CreateSession", request, 30)
    assert sessions(c)[0] == 1000
    first.devices(30)
    for _ in range(20):
        first.call("CreateSession", request, 30)
    assert sessions(c)[0] == 1000
    first.devices(30)
    with pytest.raises(grpc.RpcError, match="is not found"):
        second.run("big:0")


def test_sessions_together_take_a_part_of_the_memory_at_most(cluster):
    c, ps = serve(cluster, WEFT_SESSION_MEMORY_MB="20")
    g = tf.Graph()
    with g.as_default():
        tf.constant(b"x" * 1_000_000, name="c")
    definition = g.as_graph_def().SerializeToString()
    clients = [Client(c.hosts["ps"][0], definition) for _ in range(30)]
    assert 10 <= sessions(c)[0] <= 20
    assert b"xxx" in clients[-1].run("c:0")
    with pytest.raises(grpc.RpcError, match="is not found"):
        clients[0].run("c:0")


def test_top_shows_them(cluster):
    c, _ = serve(cluster, **SOON)
    client = Client(c.hosts["ps"][0], graph(elements=4)[0])
    top = [WEFT, "top", "--once", "--cluster", f"ps={c.hosts['ps'][0]}"]
    assert " 1 " in subprocess.run(top, capture_output=True, text=True, check=True).stdout.splitlines()[2]
    client.channel.close()
    eventually(lambda: "1 (1 idle)" in subprocess.run(top, capture_output=True, text=True, check=True).stdout)
    assert "sessions" in subprocess.run(top, capture_output=True, text=True, check=True).stdout

