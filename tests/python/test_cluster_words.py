"""What a program on a cluster reads: the words of errors, which are TensorFlow's, and the lines of the log."""
import contextlib
import io
import json
import logging
import re
import threading

import pytest

import scripts
import weft as tf


@pytest.fixture
def hosts():
    """The addresses of a ps and a worker, both tasks of this process; the worker's server is the third value."""
    spec = {job: ["localhost:%d" % port] for job, port in zip(("ps", "worker"), scripts.free_ports(2))}
    ps = tf.train.Server(spec, job_name="ps", task_index=0)
    worker = tf.train.Server(spec, job_name="worker", task_index=0)
    return spec, ps, worker


@contextlib.contextmanager
def logged():
    """Collects the lines of tf.logging, with their levels."""
    out, logger = io.StringIO(), logging.getLogger("tensorflow")
    handler, level = logging.StreamHandler(out), logger.level
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield lambda: out.getvalue().splitlines()
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def failure(session, fetch, **options):
    with pytest.raises(tf.errors.OpError) as caught:
        session.run(fetch, **options)
    return caught.value


@pytest.mark.parametrize("job", ["ps", "worker"])
def test_a_step_that_times_out_says_so(hosts, job):
    with tf.Graph().as_default(), tf.device("/job:%s/task:0" % job):
        value = tf.FIFOQueue(1, tf.float32).dequeue()
        for target in hosts[1:]:
            for config, options in [(tf.ConfigProto(operation_timeout_in_ms=200), None),
                                    (None, tf.RunOptions(timeout_in_ms=200))]:
                with tf.Session(target.target, config=config) as session:
                    for _ in range(3):
                        error = failure(session, value, options=options)
                        assert isinstance(error, tf.errors.DeadlineExceededError)
                        # On a busy machine the time is over before the step begins.
                        assert re.search("Timed out|Gave up waiting", error.message), error.message
                        assert "Cleanup" not in error.message and "_Recv" not in error.message


def test_an_error_of_another_task_does_not_name_the_receive(hosts):
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            variable = tf.Variable(1.0, name="v", use_resource=False)
            sum_ = variable + 1
        with tf.Session(hosts[2].target) as session:
            for fetch in (variable, sum_, variable.assign_add(1.0)):
                error = failure(session, fetch)
                assert isinstance(error, tf.errors.FailedPreconditionError)
                assert re.search(r"^(From /job:ps/replica:0/task:0:\n)?Attempting to use uninitialized value v", error.message)


def test_a_cluster_lists_its_jobs_in_their_order():
    spec = tf.train.ClusterSpec({"worker": {3: "b:2", 1: "a:1"}, "ps": ["c:3"]})
    assert spec.jobs == ["worker", "ps"]
    assert [j.name for j in spec.as_cluster_def().job] == ["ps", "worker"]
    assert spec.job_tasks("worker") == [None, "a:1", None, "b:2"]


def test_a_wrong_cluster_is_refused_in_tensorflows_words():
    with pytest.raises(TypeError, match="Job name 3 must be bytes or unicode"):
        tf.train.ClusterSpec({3: ["a:1"]})
    with pytest.raises(TypeError, match="Could not convert `server_or_cluster_def` to a `tf.train.ServerDef` or "
                                        "`tf.train.ClusterSpec`."):
        tf.train.Server(3)
    two = {"ps": ["localhost:0"], "worker": ["localhost:0", "localhost:0"]}
    with pytest.raises(ValueError, match="Must specify an explicit `job_name`."):
        tf.train.Server(two)
    with pytest.raises(ValueError, match="Must specify an explicit `task_index`."):
        tf.train.Server(two, job_name="worker")
    with pytest.raises(tf.errors.InternalError, match='Job "chief" was not defined in cluster'):
        tf.train.Server(two, job_name="chief", task_index=0)
    with pytest.raises(tf.errors.InternalError, match='Task 9 was not defined in job "worker"'):
        tf.train.Server(two, job_name="worker", task_index=9)


def test_replicas_in_step_are_logged():
    with tf.Graph().as_default(), logged() as lines:
        tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), replicas_to_aggregate=2, total_num_replicas=3)
        tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 4)
        assert lines() == ["INFO SyncReplicasV2: replicas_to_aggregate=2; total_num_replicas=3",
                           "INFO SyncReplicasV2: replicas_to_aggregate=4; total_num_replicas=4"]


def test_hooks_log_what_they_write_and_wait_for(tmp_path):
    with tf.Graph().as_default():
        step = tf.train.create_global_step()
        more = tf.assign_add(step, 1)
        profiler = tf.train.ProfilerHook(save_steps=2, output_dir=str(tmp_path))
        with logged() as lines, tf.train.SingularMonitoredSession([profiler, tf.train.GlobalStepWaiterHook(0)]) as session:
            for _ in range(4):
                session.run(more)
        saved = [line for line in lines() if "timeline" in line]
        names = sorted(p.name for p in tmp_path.glob("timeline-*.json"))
        assert sorted(saved) == ["INFO Saving timeline for %d into '%s/%s'." % (
            int(re.search(r"\d+", n).group()), tmp_path, n) for n in names] and names


def test_a_waiter_says_which_step_it_waits_for():
    class Later(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            threading.Timer(0.2, lambda: session.run(more)).start()

    with tf.Graph().as_default():
        step = tf.train.create_global_step()
        more = tf.assign_add(step, 2)
        hooks = [Later(), tf.train.GlobalStepWaiterHook(2), tf.train.GlobalStepWaiterHook(0)]
        with logged() as lines, tf.train.SingularMonitoredSession(hooks) as session:
            session.run(step)
        assert lines().count("INFO Waiting for global step 2 before starting training.") == 1
        assert not any("global step 0" in line for line in lines())


def test_the_task_of_a_config_is_logged(monkeypatch):
    task = {"cluster": {"chief": ["a:1"], "worker": ["b:2"], "ps": ["c:3"]}, "task": {"type": "worker", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(task))
    with logged() as lines:
        tf.estimator.RunConfig()
    assert lines() == ["INFO TF_CONFIG environment variable: %s" % task]
    monkeypatch.delenv("TF_CONFIG")
    with logged() as lines:
        tf.estimator.RunConfig()
    assert lines() == []
