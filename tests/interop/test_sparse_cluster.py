"""Jobs whose tasks have gaps in their numbers, with tasks of both kinds, and the same specs in both systems."""
import subprocess

import pytest
import tensorflow as tf2

import weft
from tasks import WEFT, free_ports

tf = tf2.compat.v1


@pytest.fixture
def sparse():
    """A Weft worker with the number 3 and a TensorFlow ps with the number 2, which know only each other."""
    jobs = {"worker": {3: "localhost:%d" % free_ports(1)[0]}, "ps": {2: "localhost:%d" % free_ports(1)[0]}}
    ps = tf.train.Server(jobs, job_name="ps", task_index=2)
    text = str({job: {str(i): a for i, a in tasks.items()} for job, tasks in jobs.items()}).replace("'", '"')
    worker = subprocess.Popen([str(WEFT), "serve", "--cluster", text, "--job", "worker", "--task", "3"], stderr=subprocess.DEVNULL)
    yield "grpc://" + jobs["worker"][3]
    worker.terminate()
    worker.wait()
    del ps


def test_tasks_are_found_by_their_numbers(sparse):
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:2"):
            v = tf.get_variable("v", initializer=4.0, use_resource=False)
        with tf.device("/job:worker/task:3"):
            y = v * 2.0
        with tf.Session(sparse) as s:
            s.run(v.initializer)
            assert s.run(y) == 8.0
            assert {d.name.rpartition("/")[0] for d in s.list_devices()} == {"/job:ps/replica:0/task:2", "/job:worker/replica:0/task:3"}
            with tf.device("/job:worker/task:0"):
                none = tf.constant(1)
            with pytest.raises(tf.errors.InvalidArgumentError, match="explicitly assigned to /job:worker/task:0"):
                s.run(none)


@pytest.mark.parametrize("jobs", [{"worker": {3: "a:1", 1: "b:2"}, "ps": ["p:1"]}, {"worker": {0: "a:1", 1: "b:1"}},
                                  {"worker": {"7": "a:1"}}, {"worker": {"x": "a:1"}}, {"worker": {1: 2}}, {"worker": 5}])
def test_a_spec_says_the_same(jobs):
    def ask(kind):
        found = []
        for question in (lambda c: c.as_dict(), lambda c: sorted(c.jobs), lambda c: c.num_tasks("worker"),
                         lambda c: c.task_indices("worker"), lambda c: c.task_address("worker", 3), lambda c: c.task_address("worker", 0),
                         lambda c: c.job_tasks("worker"), lambda c: c.job_tasks("none"),
                         lambda c: kind(c.as_cluster_def()).as_dict(), lambda c: kind(c) == kind(jobs)):
            try:
                found.append(question(kind(jobs)))
            except Exception as e:  # noqa: BLE001 - that is the question
                found.append((type(e).__name__, str(e)))
        return found
    assert ask(weft.train.ClusterSpec) == ask(tf.train.ClusterSpec)


def test_a_server_alone_in_its_job_needs_no_number():
    for lib in weft, tf:
        made = lib.train.Server({"worker": {5: "localhost:%d" % free_ports(1)[0]}})
        assert made.server_def.task_index == 5
