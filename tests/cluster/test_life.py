"""A job begins in any order, ends by itself, and leaves nothing behind."""
import itertools
import json
import re
import signal
import socket
import subprocess
import time

import pytest

from rawclient import report
from tasks import LINEAR, WEFT, Task, eventually

ROLES = [("ps", 0), ("worker", 0), ("worker", 1)]


@pytest.mark.parametrize("pause", [0, 0.4])
@pytest.mark.parametrize("order", list(itertools.permutations(ROLES)), ids=lambda o: "-".join(f"{j}{i}" for j, i in o))
def test_every_start_order_ends_with_0(cluster, order, pause):
    c = cluster()
    started = {}
    for role in order:
        started[role] = c.linear(*role)
        time.sleep(pause)
    for role in ROLES[::-1]:
        assert started[role].wait() == 0, started[role].output
    slope, offset = re.search(r"^=========> step: 9\n(.*)\n(.*)$", started["worker", 0].output, re.M).groups()
    assert abs(float(slope) - 2) < 0.1 and abs(float(offset) - 10) < 0.1


def test_the_start_lines_are_tensorflows(cluster):
    c = cluster()
    ps = c.serve("ps", 0)
    ps.until("Started server with target: grpc://" + c.hosts["ps"][0])
    workers = ", ".join(f"{i} -> {h}" for i, h in enumerate(c.hosts["worker"]))
    assert f"Initialize GrpcChannelCache for job worker -> {{{workers}}}" in ps.output
    assert "without a token" not in ps.output  # all is loopback


def test_an_idle_task_is_small_and_starts_at_once(cluster):
    ps = cluster().serve("ps", 0)
    seconds = ps.until("Started server")
    assert ps.memory_mb() < 25
    assert seconds < 2  # 0.03 on an idle machine


LEAVES_LATER = """
import os, sys, time
import tensorflow as tf
flags = tf.app.flags
for name in ("ps_hosts", "worker_hosts", "job_name", "go"): flags.DEFINE_string(name, "", "")
flags.DEFINE_integer("task_index", 0, "")
F = flags.FLAGS
cluster = tf.train.ClusterSpec({"ps": F.ps_hosts.split(","), "worker": F.worker_hosts.split(",")})
server = tf.train.Server(cluster, F.job_name, F.task_index)
with tf.device("/job:ps/task:0"):
    v = tf.Variable(1.0)
with tf.Session(server.target) as sess:
    sess.run(v.initializer)
    print("stepped", sess.run(v), flush=True)
while not os.path.exists(F.go): time.sleep(0.01)
"""


@pytest.mark.parametrize("silence", [0, 2.5])
def test_a_ps_that_is_frozen_while_a_worker_leaves_hears_of_it(cluster, tmp_path, silence):
    c, go = cluster(workers=1), tmp_path / "go"
    (tmp_path / "leaves.py").write_text(LEAVES_LATER)
    ps = c.linear("ps", 0)
    worker = c.add("worker0", WEFT, "run", tmp_path / "leaves.py", *c.flags("worker", 0), f"--go={go}")
    worker.until("stepped")
    ps.send(signal.SIGSTOP)
    time.sleep(silence)  # the longer one makes the worker count it as lost
    go.touch()
    time.sleep(1.5)  # the time for which nobody answers the worker's goodbye
    ps.send(signal.SIGCONT)
    assert worker.wait() == 0, worker.output
    assert ps.wait(30) == 0, ps.output


def test_a_bare_task_serves_job_after_job(cluster):
    c = cluster(workers=1)
    ps = c.serve("ps", 0)
    for _ in range(2):
        worker = c.linear("worker", 0)
        assert worker.wait() == 0, worker.output
    assert ps.process.poll() is None
    ps.send(signal.SIGTERM)
    assert ps.wait() == 0, ps.output


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_every_wait(cluster, number):
    c = cluster()
    ps, worker = c.linear("ps", 0), c.linear("worker", 1)  # worker 0, which initializes, never comes
    ps.until("Started server")
    eventually(lambda: dict(report(c.hosts["ps"][0])).get(11, 0) > 0)  # it ran a step of the worker, which now waits
    began = time.monotonic()
    worker.send(number)
    ps.send(number)
    assert worker.wait() != 0 and ps.wait() != 0
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("number,code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_launched_job_says_which_signal_ended_it(tmp_path, number, code):
    job = Task(tmp_path / "log", WEFT, "launch", "--ps", "1", "--workers", "1", "--", LINEAR, "--steps=1000000000")
    try:
        job.until("step: 3\n")
        job.send(number)
        assert job.wait() == code, job.output[-2000:]
    finally:
        job.kill()


def test_the_task_comes_from_tf_config(cluster):
    c = cluster(workers=1)
    config = {"cluster": {"ps": c.hosts["ps"], "worker": c.hosts["worker"]}}
    roles = [c.add(job, LINEAR, TF_CONFIG=json.dumps({**config, "task": {"type": job, "index": 0}}))
             for job in ("ps", "worker")]
    assert [s.wait() for s in roles] == [0, 0], [s.output for s in roles]


def test_a_ps_does_not_wait_for_an_evaluator(cluster):
    c = cluster(workers=2)
    config = {"cluster": {"ps": c.hosts["ps"], "worker": c.hosts["worker"][:1], "evaluator": c.hosts["worker"][1:]}}
    roles = [c.add(job, LINEAR, TF_CONFIG=json.dumps({**config, "task": {"type": job, "index": 0}}), WEFT_JOIN_TIMEOUT="20")
             for job in ("ps", "worker")]
    assert [s.wait() for s in roles] == [0, 0], [s.output for s in roles]


def test_a_task_that_never_comes_is_named(cluster):
    c = cluster()
    ps, worker = c.linear("ps", 0, WEFT_JOIN_TIMEOUT="1"), c.linear("worker", 0)
    assert worker.wait() == 0
    assert ps.wait() != 0
    assert "/job:worker/replica:0/task:1 (not seen yet)" in ps.output


def test_a_cluster_with_tls_works_and_rejects_tasks_without_certificates(cluster, tmp_path):
    def openssl(*words):
        subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=tmp_path)

    (tmp_path / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1")
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=ca")
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", "task.key", "-out", "task.csr", "-subj", "/CN=task")
    openssl("x509", "-req", "-in", "task.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out",
            "task.pem", "-extfile", "names")
    keys = {"WEFT_TLS_CERT": "task.pem", "WEFT_TLS_KEY": "task.key", "WEFT_TLS_CA": "ca.pem"}
    keys = {name: str(tmp_path / file) for name, file in keys.items()}
    c = cluster(workers=1)
    ps = c.linear("ps", 0, **keys)
    ps.until("Started server")
    without_certificate = c.linear("worker", 0, WEFT_WAIT_SECS="1")
    assert without_certificate.wait() != 0, without_certificate.output
    assert "step" not in without_certificate.output
    with_certificate = c.linear("worker", 0, **keys)
    assert with_certificate.wait() == 0, with_certificate.output
    assert ps.wait() == 0, ps.output


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as s:
            s.bind(("::1", 0))
        return True
    except OSError:
        return False


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no ::1")
def test_tasks_on_ipv6_addresses(cluster):
    c = cluster(workers=1)
    c.hosts = {job: [h.replace("localhost", "[::1]") for h in hosts] for job, hosts in c.hosts.items()}
    roles = [c.linear(job, 0) for job in ("ps", "worker")]
    assert [s.wait() for s in roles] == [0, 0], [s.output for s in roles]


def test_a_second_task_on_one_port_is_refused(cluster):
    c = cluster(workers=1)
    ps, worker = c.serve("ps", 0), c.linear("worker", 0, steps=10**9)
    worker.until("step: 3\n")
    again = c.serve("ps", 0)
    assert again.wait() == 1 and "Address already in use" in again.output, again.output
    assert ps.process.poll() is None and worker.process.poll() is None


def test_a_second_process_for_one_task_waits_and_disturbs_nobody(cluster):
    c, twins = cluster(workers=1), cluster(workers=1)
    ps, worker = c.serve("ps", 0), c.linear("worker", 0, steps=10**9)
    worker.until("step: 3\n")
    twins.hosts["ps"] = c.hosts["ps"]  # the same task of the same cluster, elsewhere
    twin = twins.linear("worker", 0)
    twin.until(f"/job:worker/replica:0/task:0 is another process, at {c.hosts['worker'][0]}")
    assert ps.process.poll() is None and worker.process.poll() is None and "step" not in twin.output
    worker.kill()
    assert twin.wait() in (0, 1)  # the task is free: it is let in, if only to hear that the ps cannot reach it


def test_a_task_of_another_cluster_is_named(cluster):
    c, other = cluster(workers=1), cluster(workers=1)
    c.serve("ps", 0)
    worker = c.linear("worker", 0, steps=10**9)
    worker.until("step: 3\n")
    other.hosts["ps"] = c.hosts["worker"]
    other_worker = other.linear("worker", 0)
    other_worker.until("this is /job:worker/replica:0/task:0, not /job:ps/replica:0/task:0: is it another cluster's?")
    assert worker.process.poll() is None
