"""No call outlives its caller's patience, and none holds up another: deadlines and deaths end what runs on the server."""
import pathlib
import re
import signal
import subprocess
import sys
import time

import grpc
import pytest

import weft as tf
from rawclient import Client, field, report, varint
from tasks import ROOT, eventually
from weft._core.framework.function import Defun

DEADLINE, UNAVAILABLE = grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNAVAILABLE


def forever(i):
    return tf.while_loop(lambda x: x >= 0, tf.abs, [i], name="loop")


def in_a_function(i):
    return Defun(tf.int32)(forever)(i)


def filtered(_):
    return tf.data.Dataset.range(10).repeat().filter(lambda x: x < 0).make_one_shot_iterator().get_next()


def reduced(_):
    return tf.data.Dataset.range(10).repeat().reduce(tf.constant(0, tf.int64), lambda a, x: x)


def skipped(_):
    return tf.data.Dataset.range(10).repeat().skip(2**62).make_one_shot_iterator().get_next()


def flattened(_):
    empty = tf.data.Dataset.range(10).repeat().flat_map(lambda x: tf.data.Dataset.range(0))
    return empty.make_one_shot_iterator().get_next()


def prefetched(_):
    endless = tf.data.Dataset.range(10).repeat().filter(lambda x: x < 0).prefetch(1)
    return endless.make_one_shot_iterator().get_next()


def dequeued(_):
    return tf.FIFOQueue(1, [tf.float32], shapes=[[]]).dequeue()


def queried(_):
    return tf.data.experimental.SqlDataset("sqlite", "x", "select 1", (tf.int64,)).make_one_shot_iterator().get_next()


def graph(build, device):
    g = tf.Graph()
    with g.as_default(), tf.device(device):
        tf.identity(build(tf.constant(1)), name="out")
        tf.constant(2.0, name="two")
    return g.as_graph_def().SerializeToString()


def constants(*devices):
    """A graph with a constant c0, c1, ... on each device."""
    g = tf.Graph()
    with g.as_default():
        for i, device in enumerate(devices):
            with tf.device(device):
                tf.constant(1.0 + i, name=f"c{i}")
    return g.as_graph_def().SerializeToString()


def cpu_seconds(task):
    numbers = pathlib.Path(f"/proc/{task.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(numbers[11]) + int(numbers[12])) / 100


def threads(task):
    return len(list(pathlib.Path(f"/proc/{task.process.pid}/task").iterdir()))


def is_calm(task):
    """Has the process almost nothing to do?"""
    before = cpu_seconds(task)
    time.sleep(0.5)
    return cpu_seconds(task) - before < 0.025  # a busy machine gives little to a thread that spins


def waiting_calls(c):
    """How many calls to the ps wait for worker 0 to start."""
    return sum(number == 23 and value.startswith(b"worker:0 (") for number, value in report(c.hosts["ps"][0]))


def code_of(call):
    with pytest.raises(grpc.RpcError) as raised:
        call()
    return raised.value.code()


def pair(cluster):
    c = cluster(workers=1)
    tasks = [c.serve("ps", 0), c.serve("worker", 0)]
    for task in tasks:
        task.until("Started server")
    return c, *tasks


ENDLESS = [forever, in_a_function, filtered, reduced, skipped, flattened, dequeued]
KINDS = pytest.mark.parametrize("build", ENDLESS, ids=lambda f: f.__name__)
PLACES = pytest.mark.parametrize("device", ["/job:ps/task:0", "/job:worker/task:0"], ids=["here", "elsewhere"])


@KINDS
@PLACES
def test_a_timeout_ends_an_endless_step_on_the_server(cluster, build, device):
    c, ps, worker = pair(cluster)
    client = Client(c.hosts["ps"][0], graph(build, device))
    began = time.monotonic()
    assert code_of(lambda: client.run("out:0", timeout_ms=500)) == DEADLINE
    assert 0.4 < time.monotonic() - began < 20
    eventually(lambda: is_calm(ps) and is_calm(worker), 30)
    assert b"two" in client.run("two:0")


@pytest.mark.parametrize("build", [forever, filtered], ids=lambda f: f.__name__)
@PLACES
def test_so_does_the_timeout_of_the_session(cluster, build, device):
    c, ps, worker = pair(cluster)
    config = field(11, 0, varint(500))  # operation_timeout_in_ms
    client = Client(c.hosts["ps"][0], graph(build, device), config)
    began = time.monotonic()
    assert code_of(lambda: client.run("out:0")) == DEADLINE
    assert 0.4 < time.monotonic() - began < 20
    eventually(lambda: is_calm(ps) and is_calm(worker), 30)


@KINDS
@PLACES
def test_so_does_the_deadline_of_the_call(cluster, build, device):
    c, ps, worker = pair(cluster)
    client = Client(c.hosts["ps"][0], graph(build, device))
    assert code_of(lambda: client.run("out:0", seconds=1)) == DEADLINE
    eventually(lambda: is_calm(ps) and is_calm(worker), 30)


def test_elements_that_nobody_asks_for_are_not_made_for_ever(cluster):
    c = cluster(workers=0)
    ps = c.serve("ps", 0, WEFT_DATASET_IDLE_SECS="2")
    ps.until("Started server")
    client = Client(c.hosts["ps"][0], graph(prefetched, "/job:ps/task:0"))
    assert code_of(lambda: client.run("out:0", timeout_ms=500)) == DEADLINE
    eventually(lambda: is_calm(ps), 30)
    with pytest.raises(grpc.RpcError, match="nobody has asked"):
        client.run("out:0", timeout_ms=500)


def test_a_thread_that_works_ahead_for_nobody_leaves_and_comes_back(cluster):
    c = cluster(workers=0)
    ps = c.serve("ps", 0, WEFT_DATASET_IDLE_SECS="5")
    ps.until("Started server")
    g = tf.Graph()
    with g.as_default(), tf.device("/job:ps/task:0"):
        ahead = [tf.data.Dataset.range(100).prefetch(2).make_one_shot_iterator().get_next() for _ in range(9)]
        tf.cast(tf.add_n(ahead), tf.float32, name="sum")
    client = Client(c.hosts["ps"][0], g.as_graph_def().SerializeToString())
    assert [client.scalar("sum:0") for _ in range(3)] == [0.0, 9.0, 18.0]
    at_work = threads(ps)
    eventually(lambda: threads(ps) <= at_work - 9, 30)
    assert [client.scalar("sum:0") for _ in range(3)] == [27.0, 36.0, 45.0]


DYING = """
import sys
sys.path[:0] = sys.argv[1:3]
from rawclient import Client
client = Client(sys.argv[3], open(sys.argv[4], "rb").read())
call = client.begin("RunStep", client.step("out:0"), None)
print("running", flush=True)
call.result()
"""


@pytest.mark.parametrize("build", [forever, filtered], ids=lambda f: f.__name__)
@PLACES
def test_so_does_the_death_of_the_client(cluster, tmp_path, build, device):
    c, ps, worker = pair(cluster)
    (tmp_path / "graph").write_bytes(graph(build, device))
    client = subprocess.Popen([sys.executable, "-c", DYING, *sys.path[:2], c.hosts["ps"][0], tmp_path / "graph"],
                              stdout=subprocess.PIPE)
    try:
        assert client.stdout.readline() == b"running\n"
        eventually(lambda: not is_calm(ps) or not is_calm(worker), 30)
    finally:
        client.kill()
        client.wait()
        client.stdout.close()
    eventually(lambda: is_calm(ps) and is_calm(worker), 30)


def test_a_run_does_not_wait_behind_one_that_waits_for_a_task(cluster):
    c = cluster(workers=1)  # which never comes
    ps = c.serve("ps", 0)
    ps.until("Started server")
    client = Client(c.hosts["ps"][0], constants("/job:ps/task:0", "/job:worker/task:0"))
    waiting = client.begin("RunStep", client.step("c1:0"), 60)
    eventually(lambda: waiting_calls(c) == 1, 30)
    began = time.monotonic()
    assert code_of(lambda: client.run("c0:0", timeout_ms=500)) == DEADLINE  # the graph needs the worker, and so this waits
    assert time.monotonic() - began < 15
    assert not waiting.done()
    waiting.cancel()


def test_a_run_does_not_wait_behind_a_list_of_devices(cluster):
    c = cluster(workers=1)
    c.serve("ps", 0).until("Started server")
    client = Client(c.hosts["ps"][0], constants("/job:ps/task:0"))
    waiting = client.begin("ListDevices", client.handle, 60)
    eventually(lambda: waiting_calls(c) == 1, 30)
    assert client.scalar("c0:0", seconds=20) == 1.0
    assert not waiting.done()
    worker = c.serve("worker", 0)
    worker.until("Started server")
    assert b"/job:worker/replica:0/task:0" in waiting.result(timeout=60)


def test_calls_that_were_given_up_keep_no_threads(cluster):
    c = cluster(workers=1)
    ps = c.serve("ps", 0)
    ps.until("Started server")
    client = Client(c.hosts["ps"][0], constants("/job:ps/task:0", "/job:worker/task:0"))
    client.begin("ListDevices", client.handle, 0.2).exception()
    before = threads(ps)
    calls = [client.begin("ListDevices", client.handle, 0.5) for _ in range(40)]
    calls += [client.begin("RunStep", client.step("c1:0"), 0.5) for _ in range(40)]
    assert {call.exception().code() for call in calls} == {DEADLINE}
    eventually(lambda: threads(ps) <= before + 2, 30)  # idle threads stay a few seconds
    worker = c.serve("worker", 0)
    worker.until("Started server")
    assert client.scalar("c1:0") == 2.0


def test_a_session_can_be_closed_while_others_wait_in_it(cluster):
    c = cluster(workers=1)
    ps = c.serve("ps", 0)
    ps.until("Started server")
    client = Client(c.hosts["ps"][0], constants("/job:ps/task:0", "/job:worker/task:0"))
    calls = [client.begin("RunStep", client.step("c1:0"), 60), client.begin("ListDevices", client.handle, 60)]
    eventually(lambda: waiting_calls(c) == 2, 30)
    client.call("CloseSession", client.handle, 20)
    assert {call.exception().code() for call in calls} == {grpc.StatusCode.CANCELLED}


# A SQLite library whose queries never give a row, whatever their caller asks for.
ASLEEP = """
#include <stdio.h>
#include <unistd.h>
#define NOTHING(name) int name(void) { return 0; }
static int it;
int sqlite3_open_v2(const char *path, void **out, int flags, const char *vfs) { *out = &it; return 0; }
int sqlite3_prepare_v2(void *c, const char *query, int size, void **out, const char **tail) { *out = &it; return 0; }
int sqlite3_column_count(void *s) { return 1; }
int sqlite3_step(void *s) { fputs("asleep\\n", stderr); for (;;) sleep(1); }
"""


def asleep(cluster):
    """A server in a kernel that does not look whether its step has ended, and the call that waits for it."""
    c = cluster(workers=0)
    names = re.findall("sqlite3_[a-z0-9_]+", (ROOT / "io/sqlite.c").read_text())
    (c.folder / "asleep.c").write_text(ASLEEP + "".join(f"NOTHING({n})\n" for n in names if n + "(" not in ASLEEP))
    subprocess.run(["cc", "-shared", "-fPIC", "-o", c.folder / "libsqlite3.so.0", c.folder / "asleep.c"], check=True)
    ps = c.serve("ps", 0, LD_LIBRARY_PATH=str(c.folder))
    ps.until("Started server")
    client = Client(c.hosts["ps"][0], graph(queried, "/job:ps/task:0"))
    call = client.begin("RunStep", client.step("out:0"), None)
    ps.until("asleep")
    return ps, call


def test_a_long_kernel_delays_the_end_by_twelve_seconds_at_most(cluster):
    ps, call = asleep(cluster)
    began = time.monotonic()
    ps.send(signal.SIGTERM)
    assert ps.wait(60) == 0, ps.output
    assert 5 < time.monotonic() - began < 20, ps.output  # 12, and a busy machine
    assert call.exception().code() == UNAVAILABLE
    assert "leaves while a kernel still computes" in ps.output


def has_pending(task, number):
    """Whether the process has yet to take a signal: until then a second one is lost."""
    status = pathlib.Path(f"/proc/{task.process.pid}/status").read_text()
    return bool(int(status.split("ShdPnd:")[1].split()[0], 16) & 1 << number - 1)


def test_a_second_signal_ends_it_at_once(cluster):
    ps, call = asleep(cluster)
    ps.send(signal.SIGTERM)
    eventually(lambda: not has_pending(ps, signal.SIGTERM))
    time.sleep(0.2)  # so that it mostly has begun to leave; before that, too, the second signal ends it
    began = time.monotonic()
    ps.send(signal.SIGTERM)
    assert ps.wait(60) == 130, ps.output
    assert time.monotonic() - began < 4
    assert call.exception().code() == UNAVAILABLE
