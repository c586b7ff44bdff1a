"""tf.distribute: variables, updates, sums and Estimators of strategies are TensorFlow's."""
import importlib.util
import json
import os
import re

import numpy as np
import pytest
import tensorflow.compat.v1 as oracle

import scripts
import weft
from both import outcome

oracle.disable_v2_behavior()
CPUS = ["/cpu:0", "/cpu:1"]


def two_devices(tf):
    return tf.ConfigProto(device_count={"CPU": 2}, allow_soft_placement=True)


def compared(program, *args, tolerance=1e-5):
    """program(tf) gives the same numbers and texts in both systems."""
    found = []
    for tf in (weft, oracle):
        with tf.Graph().as_default():
            found.append(program(tf, *args))
    assert len(found[0]) == len(found[1])
    for ours, theirs in zip(*found):
        if isinstance(theirs, str) or theirs is None:
            assert ours == theirs
        else:
            np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


OPTIMIZERS = {
    "Momentum": lambda tf: tf.train.MomentumOptimizer(0.1, 0.9), "Adam": lambda tf: tf.train.AdamOptimizer(0.1),
    "RMSProp": lambda tf: tf.train.RMSPropOptimizer(0.1, momentum=0.5), "Adagrad": lambda tf: tf.train.AdagradOptimizer(0.1),
    "Ftrl": lambda tf: tf.train.FtrlOptimizer(0.1), "SGD": lambda tf: tf.train.GradientDescentOptimizer(0.1),
    "Adadelta": lambda tf: tf.train.AdadeltaOptimizer(0.1)}


def trained(tf, name):
    """Three steps on two replicas with dense and sparse gradients, updates in replicas, and scopes around merge_call."""
    out, strategy = [], tf.distribute.MirroredStrategy(CPUS)
    with strategy.scope():
        v = tf.get_variable("v", [], initializer=tf.constant_initializer(1.0))
        u = tf.Variable(2.0, name="u", trainable=False, aggregation=tf.VariableAggregation.MEAN)
        r = tf.get_variable("r", [], initializer=tf.zeros_initializer(), trainable=False,
                            synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM)
        step, optimizer = tf.train.get_or_create_global_step(), OPTIMIZERS[name](tf)

        def replica():
            context = tf.distribute.get_replica_context()
            with tf.name_scope("inner"):
                w = tf.get_variable("w", [3, 2], initializer=tf.ones_initializer())
                x = tf.constant([1.0, 2.0]) * tf.cast(context.replica_id_in_sync_group + 1, tf.float32)
                with tf.variable_scope(None, "layer"):
                    k = tf.get_variable("k", [2], initializer=tf.constant_initializer(0.5))
                loss = tf.reduce_sum(x * w) * v + tf.reduce_sum(tf.gather(w, [1, 1]) * k)
                reduced = context.all_reduce("mean", tf.reduce_sum(x))
                with tf.control_dependencies([u.assign_add(tf.reduce_sum(x)), r.assign_add(1.0)]):
                    return loss, optimizer.minimize(loss, global_step=step), w, reduced
        loss, train, w, all_reduced = strategy.run(replica)
        train, mean = strategy.group(train), strategy.reduce("MEAN", loss, axis=None)
        assert isinstance(tf.distribute.get_strategy(), tf.distribute.MirroredStrategy)
    out.append(" ".join(v.name for v in tf.global_variables() if "beta" not in v.name and "power" not in v.name))
    out.append(" ".join(c.name for c in w.values))
    saver = tf.train.Saver()
    with tf.Session(config=two_devices(tf)) as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run(train)
        values = [mean, v, u, r, step, *v.values, *w.values, *strategy.experimental_local_results(all_reduced)]
        out += sess.run(values)
        path = saver.save(sess, "%s-%s" % (tf.__name__, name))
        sess.run(tf.global_variables_initializer())
        saver.restore(sess, path)
        out += sess.run([mean, v, u, r, step, *v.values, *w.values])
    return out


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_on_two_devices(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    compared(trained, name)


def said(fn):
    found = outcome(fn)
    return found if isinstance(found, str) else str(type(found).__name__)


def contexts(tf):
    d, out = tf.distribute, []
    default = d.get_strategy()
    out += [str(d.has_strategy()), str(d.in_cross_replica_context()), default.num_replicas_in_sync, default.run(lambda x: x + 1, (2,))]
    strategy = d.MirroredStrategy(CPUS)
    out += [strategy.num_replicas_in_sync, " ".join(strategy.extended.worker_devices)]
    with strategy.scope():
        out += [str(d.has_strategy()), str(d.in_cross_replica_context()), str(d.get_replica_context())]
        v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
        out += [v.name, str(v.synchronization), str(v.aggregation), str(v.trainable), str(v.shape), v.dtype.name]
        out.append(said(lambda: tf.Variable(1.0, synchronization=tf.VariableSynchronization.NONE)))
        out.append(said(lambda: tf.train.GradientDescentOptimizer(0.1).apply_gradients([(tf.constant([1.0, 1.0]), v)])))

        def replica(x):
            out.append(said(lambda: v.assign(tf.ones([2]))))
            out.append(said(lambda: v.assign([1.0, 1.0])))
            return x * tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group + 1, tf.float32)
        per_replica = strategy.run(replica, (tf.constant([[1.0, 2.0], [3.0, 4.0]]),))
        sums = [strategy.reduce(op, per_replica, axis=axis) for op in (d.ReduceOp.SUM, d.ReduceOp.MEAN) for axis in (None, 0, 1)]
        assigned = v.assign([5.0, 6.0])
        both = strategy.experimental_local_results(v)
        doubled = strategy.extended.update(v, lambda copy, x: copy.assign_add(x), args=(tf.constant([1.0, 1.0]),))
    out.append(said(lambda: d.MirroredStrategy(["/cpu:0", "/cpu:0"])))
    with tf.Session(config=two_devices(tf)) as sess:
        sess.run(v.initializer)
        out += sess.run(sums)
        sess.run(assigned)
        out += sess.run(list(both))
        sess.run(doubled)
        out += sess.run(list(both))
    return out


def test_contexts_sums_and_errors():
    compared(contexts)


def inputs(tf):
    strategy, out = tf.distribute.MirroredStrategy(CPUS), []
    data = tf.data.Dataset.range(16)
    with strategy.scope():
        whole = strategy.make_dataset_iterator(data.batch(4))
        each = strategy.make_input_fn_iterator(lambda context: data.batch(
            context.get_per_replica_batch_size(4)).map(lambda x: x * context.num_input_pipelines))
        parts = [strategy.experimental_local_results(it.get_next()) for it in (whole, each)]
    with tf.Session(config=two_devices(tf)) as sess:
        sess.run([whole.initialize(), each.initialize()])
        for part in parts:
            for _ in range(4):
                out += sess.run(list(part))
    out.append(said(lambda: tf.distribute.InputContext(2, 1, 3).get_per_replica_batch_size(4)))
    return out


def test_inputs_are_divided_among_replicas():
    compared(inputs)


def estimated(tf, strategy, folder):
    def model_fn(features, labels, mode, params):
        w = tf.get_variable("w", [2, 1], initializer=tf.constant_initializer(0.5))
        hidden = tf.layers.dense(features["x"], 3, use_bias=False, kernel_initializer=tf.constant_initializer(0.1))
        hidden = tf.layers.batch_normalization(hidden, training=mode == "train")
        y = tf.matmul(features["x"], w) + tf.reduce_sum(hidden, 1, keepdims=True)
        loss = tf.losses.mean_squared_error(labels, y)
        if mode != "train":
            return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"mse": tf.metrics.mean_squared_error(labels, y)})
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train = tf.train.GradientDescentOptimizer(0.05).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

    def input_fn():
        x = np.random.RandomState(1).rand(64, 2).astype(np.float32)
        return tf.data.Dataset.from_tensor_slices(({"x": x}, x @ np.float32([[1], [2]]))).repeat().batch(8)
    config = tf.estimator.RunConfig(model_dir=str(folder / tf.__name__), tf_random_seed=1, train_distribute=strategy(tf),
                                    session_config=two_devices(tf))
    estimator = tf.estimator.Estimator(model_fn, config=config, params={})
    estimator.train(input_fn, steps=6)
    estimator.train(input_fn, steps=4)
    found = estimator.evaluate(input_fn, steps=4)
    names = sorted(estimator.get_variable_names())
    return [" ".join(names), *[estimator.get_variable_value(n) for n in names], found["loss"], found["mse"], found["global_step"]]


@pytest.mark.parametrize("strategy", [lambda tf: tf.distribute.MirroredStrategy(CPUS),
                                      lambda tf: tf.distribute.OneDeviceStrategy("/cpu:0")], ids=["mirrored", "one device"])
def test_estimators_train_in_strategies(strategy, tmp_path):
    compared(estimated, strategy, tmp_path, tolerance=1e-4)


def test_central_storage_trains_like_mirrored_variables(tmp_path):
    """TensorFlow's CentralStorageStrategy needs GPUs; the numbers are those of MirroredStrategy."""
    found = [estimated(weft, strategy, tmp_path / str(i)) for i, strategy in enumerate((
        lambda tf: tf.distribute.experimental.CentralStorageStrategy(CPUS, "/cpu:0"),
        lambda tf: tf.distribute.MirroredStrategy(CPUS)))]
    assert found[0][0] == found[1][0]
    for a, b in zip(*(f[1:] for f in found)):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-3)


def test_a_failing_replica_says_why():
    strategy = weft.distribute.MirroredStrategy(CPUS)
    with weft.Graph().as_default() as graph, strategy.scope():
        v = weft.get_variable("v", [], aggregation=weft.VariableAggregation.SUM)

        def uneven():
            with weft.name_scope("deep"):
                if weft.distribute.get_replica_context()._number == 0:
                    v.assign_add(1.0)
        with pytest.raises(RuntimeError, match=r"replicas \[0\] wait"):
            strategy.run(uneven)

        def failing():
            with weft.name_scope("deep"):
                v.assign_add(1.0)
                if weft.distribute.get_replica_context()._number == 1:
                    raise KeyError("in replica 1")
                v.assign_add(1.0)
        with pytest.raises(KeyError, match="in replica 1"):
            strategy.run(failing)
        assert graph.get_name_scope() == ""
        assert strategy.run(lambda: weft.distribute.get_replica_context()._number).values == (0, 1)


def resolvers(tf):
    r, out = tf.distribute.cluster_resolver, []
    found = r.TFConfigClusterResolver()
    out += [str(found.cluster_spec().as_dict()), found.task_type, found.task_id, found.master(), found.master("ps", 0, "grpc")]
    simple = r.SimpleClusterResolver(tf.train.ClusterSpec({"worker": ["a:1", "b:2"]}), master="m:3", task_type="worker", task_id=1,
                                     environment="e", num_accelerators={"GPU": 2}, rpc_layer="grpc")
    out += [simple.master(), simple.master("worker", 1), simple.environment, str(simple.num_accelerators()), simple.rpc_layer]
    union = r.UnionResolver(simple, r.SimpleClusterResolver(tf.train.ClusterSpec({"ps": ["c:1"], "worker": ["d:1"]})))
    out += [str(sorted(union.cluster_spec().as_dict().items())), union.task_type, union.task_id, union.master("ps", 0)]
    slurm = r.SlurmClusterResolver({"ps": 1, "worker": 3}, 9000, gpus_per_node=2, gpus_per_task=1, auto_set_gpu=False)
    out += [str(slurm.cluster_spec().as_dict()), *slurm.get_task_info(), slurm.master()]
    out.append(said(lambda: r.SimpleClusterResolver({"worker": ["a:1"]})))
    out.append(said(lambda: r.UnionResolver()))
    return out


def test_cluster_resolvers(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": {"ps": ["p:1"], "worker": ["w:1", "w:2"]},
                                                "task": {"type": "worker", "index": 1}}))
    for name, value in dict(SLURM_PROCID="2", SLURM_STEP_NUM_TASKS="4", SLURM_STEP_NODELIST="n[08-09],m",
                            SLURM_STEP_TASKS_PER_NODE="1,2,1").items():
        monkeypatch.setenv(name, value)
    compared(resolvers)


def creators(tf):
    out = []

    def outer(next_creator, **kwargs):
        out.append("outer %s" % kwargs["name"])
        return next_creator(**dict(kwargs, name="renamed_" + kwargs["name"]))

    def inner(next_creator, **kwargs):
        out.append("inner %s %s" % (kwargs["trainable"], sorted(k for k in kwargs if k in ("initial_value", "dtype", "collections"))))
        return next_creator(**dict(kwargs, trainable=False))
    with tf.variable_creator_scope(outer), tf.variable_creator_scope(inner):
        first, second = tf.Variable(1.0, name="a"), tf.get_variable("b", [2])
    out += [first.name, second.name, str(len(tf.trainable_variables()))]
    plain = tf.Variable(1.0, aggregation=tf.VariableAggregation.SUM, synchronization=tf.VariableSynchronization.ON_WRITE)
    out += [str(plain.aggregation), str(plain.synchronization), str(plain.to_proto().aggregation)]
    return out


def test_variable_creators():
    compared(creators)
    assert os.environ.get("TF_CONFIG") is None


MULTI_WORKER = scripts.PROGRAMS / "multi_worker.py"


def run_multi_worker(folder, steps, *tasks):
    """What the tasks of a job printed; tasks: the job's name and number of tasks, each."""
    hosts = iter("localhost:%d" % p for p in scripts.free_ports(sum(n for _, n in tasks)))
    cluster, started = {job: [next(hosts) for _ in range(n)] for job, n in tasks}, {}
    for job, index in [(job, i) for job, n in tasks for i in range(n)]:
        os.environ["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": {"type": job, "index": index}})
        try:
            started[job, index] = scripts.start(MULTI_WORKER, "weft", str(folder / "model"), str(steps), cwd=folder)
        finally:
            del os.environ["TF_CONFIG"]
    try:
        said = {task: process.communicate(timeout=120) for task, process in started.items()}
    finally:
        for process in started.values():
            process.kill()
    assert all(process.returncode == 0 for process in started.values()), said
    return said


IN_CLUSTER = {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1"]}


@pytest.mark.parametrize("task", [("chief", 0), ("worker", 0), ("worker", 1), ("ps", 0), ("evaluator", 0), ("worker", 5), ("foo", 0)],
                         ids=lambda t: "%s%d" % t)
def test_parameter_servers_from_each_task(task, monkeypatch):
    """What ParameterServerStrategy is in each task; an evaluator is none of the cluster's."""
    def program(tf):
        try:
            strategy = tf.distribute.experimental.ParameterServerStrategy()
            told = strategy.extended
            with strategy.scope():
                places = [tf.get_variable("v%d" % i, []).device for i in range(2)] + [tf.constant(1).device]
        except ValueError as e:
            return [str(e)]
        return [str(told.parameter_devices), str(told.should_checkpoint), str(told.should_save_summary), *places]
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": IN_CLUSTER, "task": {"type": task[0], "index": task[1]}}))
    compared(program)


def test_parameter_servers_need_ps_tasks(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}}))
    for tf in (weft, oracle):
        with pytest.raises(ValueError, match="The cluster spec needs to have `ps` jobs."):
            tf.distribute.experimental.ParameterServerStrategy()


def test_a_cluster_spec_keeps_the_order_of_its_jobs():
    def program(tf):
        spec = tf.train.ClusterSpec({"worker": ["a:1"], "ps": {3: "b:2"}, "chief": ["c:3"]})
        return [str(spec.jobs), str(spec.as_dict()), str(spec), str(tf.train.ClusterSpec(spec).jobs),
                str(tf.train.ClusterSpec(spec.as_cluster_def()).jobs)]
    compared(program)


def test_workers_that_are_mirrored_train_what_replicas_of_tensorflow_train(tmp_path):
    said = run_multi_worker(tmp_path, 12, ("chief", 1), ("worker", 1), ("evaluator", 1))
    assert "strategy 2 ('/job:worker/replica:0/task:0/device:CPU:0',) False False True True\ninput 2 1 2\nended\n" == \
        said["worker", 0][0]
    assert said["evaluator", 0][0].startswith("strategy 1 ") and "Saving dict for global step 12" in said["evaluator", 0][1]
    losses = [re.findall(r"loss = ([\d.]+)|final step: ([\d.]+)", said[job, 0][1]) for job in ("chief", "worker")]
    assert losses[0] == losses[1] and len(losses[0]) == 4
    spec = importlib.util.spec_from_file_location("multi_worker", MULTI_WORKER)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    made = program.estimator(oracle, oracle.distribute.MirroredStrategy(CPUS), str(tmp_path / "theirs"), session_config=two_devices(oracle))
    made.train(lambda input_context: program.batches(oracle, input_context), max_steps=12)
    theirs = oracle.train.load_checkpoint(str(tmp_path / "theirs"))
    for folder in ("model", "model/tmp_worker_0"):
        ours = oracle.train.load_checkpoint(str(tmp_path / folder))
        assert ours.get_variable_to_shape_map() == theirs.get_variable_to_shape_map()
        for name in theirs.get_variable_to_shape_map():
            np.testing.assert_allclose(ours.get_tensor(name), theirs.get_tensor(name), rtol=1e-4, atol=1e-5, err_msg=name)


def test_a_job_of_mirrored_workers_goes_on_from_its_checkpoint(tmp_path):
    """All tasks save when they begin, though the chief has just read what it saves: a save adds up over the workers."""
    run_multi_worker(tmp_path, 6, ("chief", 1), ("worker", 1))
    said = run_multi_worker(tmp_path, 12, ("chief", 1), ("worker", 1))
    for job in "chief", "worker":
        assert "Restoring parameters from" in said[job, 0][1] and "Loss for final step" in said[job, 0][1]
    assert oracle.train.latest_checkpoint(str(tmp_path / "model")).endswith("model.ckpt-12")
