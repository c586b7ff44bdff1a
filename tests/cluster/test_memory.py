"""A task with a memory ceiling (WEFT_MEMORY): what asks for too much gets an error, and the task serves on."""
import os
import subprocess
import sys

import tasks

CLIENT = """
import sys
import numpy as np
import weft as tf

target, megabytes = sys.argv[1], int(sys.argv[2])
with tf.device("/job:ps/task:0"):
    n = tf.placeholder(tf.int32, [])
    size = tf.reduce_sum(tf.fill([n], 1.0))
    fed = tf.placeholder(tf.float32, [None])
    total = tf.reduce_sum(fed)
    kept = tf.Variable(tf.zeros([1 << 18]), name="kept")
    grow = tf.Variable(tf.zeros([0]), validate_shape=False, name="grow")
    grown = tf.assign(grow, tf.concat([grow, tf.zeros([4 << 18])], 0), validate_shape=False)
with tf.Session(target) as s:
    s.run(tf.global_variables_initializer())
    for name, run in [("computed", lambda: s.run(size, {n: megabytes << 18})),
                      ("fed", lambda: s.run(total, {fed: np.zeros(megabytes << 18, np.float32)})),
                      ("stored", lambda: [s.run(grown.op) for _ in range(megabytes)])]:
        try:
            run()
            print(name, "fits")
        except tf.errors.ResourceExhaustedError as error:
            print(name, "refused:", error.message.splitlines()[0])
    print("small", s.run(size, {n: 1000}), s.run(tf.reduce_sum(kept)))
"""


def run_client(cluster, megabytes):
    address = "grpc://" + cluster.hosts["ps"][0]
    env = {**os.environ, "PYTHONPATH": str(tasks.BUILD / "python")}
    done = subprocess.run([sys.executable, "-c", CLIENT, address, str(megabytes)], env=env, capture_output=True,
                          text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_over_the_ceiling_a_step_fails_and_the_task_serves_on(cluster):
    c = cluster(workers=0)
    ps = c.serve("ps", 0, "--memory", "200M")
    ps.until("Started server")
    for _ in range(3):
        output = run_client(c, 400)
        assert output.count("refused:") == 3, output
        assert "WEFT_MEMORY" in output and "small 1000.0 0.0" in output, output
    assert ps.process.poll() is None, ps.output
    assert ps.memory_mb() < 400


def test_below_the_ceiling_everything_runs(cluster):
    c = cluster(workers=0)
    ps = c.serve("ps", 0, WEFT_MEMORY="2G")
    ps.until("Started server")
    output = run_client(c, 40)
    assert output.count("fits") == 3 and "small 1000.0 0.0" in output, output
    assert ps.process.poll() is None, ps.output


def test_a_ceiling_that_is_no_size_is_refused_at_the_start(cluster):
    c = cluster(workers=0)
    for ps in (c.serve("ps", 0, WEFT_MEMORY="lots"), c.serve("ps", 0, "--memory=lots")):
        assert ps.wait() == 1
        assert "invalid memory ceiling 'lots'" in ps.output


def test_launch_hands_its_ceiling_to_every_task():
    done = subprocess.run([tasks.WEFT, "launch", "--ps", "1", "--workers", "1", "--memory", "lots", "--", tasks.LINEAR,
                           "--steps=1"], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert "invalid memory ceiling 'lots'" in done.stdout + done.stderr
    good = subprocess.run([tasks.WEFT, "launch", "--ps", "1", "--workers", "1", "--memory", "1G", "--", tasks.LINEAR,
                           "--steps=1"], capture_output=True, text=True, timeout=60)
    assert good.returncode == 0, good.stdout + good.stderr
