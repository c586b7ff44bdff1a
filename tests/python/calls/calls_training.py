"""Optimizers, sessions that train, hooks, savers, summaries, input queues, clusters."""
import glob
import os

import numpy as np

from machine import case
from ports import free_ports

X = np.random.RandomState(3).randn(8, 3).astype(np.float32)
Y = (X @ np.float32([1, 2, 3])).astype(np.float32)


def regression(tf):
    w = tf.Variable([0.1, 0.2, 0.3], name="w")
    return w, tf.reduce_mean(tf.square(tf.reduce_sum(X * w, 1) - Y))


def trained(tf, train, *fetch, steps=3):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(steps):
            sess.run(train)
        return sess.run(list(fetch))


@case(nodes=False, tolerance=1e-4)
def adam(tf):
    step = tf.Variable(0, trainable=False, name="global_step")
    w, loss = regression(tf)
    opt = tf.train.AdamOptimizer(learning_rate=0.1, beta1=0.8, beta2=0.9, epsilon=1e-4)
    grads = opt.compute_gradients(loss, [w])
    train = opt.apply_gradients(grads, global_step=step)
    more = tf.train.AdamOptimizer(0.01).minimize(loss, global_step=step)
    return [trained(tf, [train, more], w, step), train, more.type, [v.name for _, v in grads], opt.get_name(),
            opt.get_slot_names(), opt.get_slot(w, "m").name]


@case(nodes=False, tolerance=1e-4)
def descent(tf):
    w, loss = regression(tf)
    opt = tf.train.GradientDescentOptimizer(learning_rate=0.1)
    first = opt.apply_gradients(opt.compute_gradients(loss))
    other = tf.train.GradientDescentOptimizer(0.05)
    second = other.minimize(loss, name="second")
    return [trained(tf, [first, second], w), first, second]


@case(nodes=False, tolerance=1e-4)
def other_optimizers(tf):
    w, loss = regression(tf)
    adagrad = tf.train.AdagradOptimizer(0.1, initial_accumulator_value=0.2)
    named = tf.train.AdagradOptimizer(learning_rate=0.1, use_locking=True)
    momentum = tf.train.MomentumOptimizer(learning_rate=0.1, momentum=0.9)
    heavy = tf.train.MomentumOptimizer(0.1, momentum=0.5)
    rms = tf.train.RMSPropOptimizer(0.1, epsilon=1e-6, momentum=0.9)
    plain = tf.train.RMSPropOptimizer(0.1, 0.8)
    ftrl = tf.train.FtrlOptimizer(learning_rate=0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.1)
    follow = tf.train.FtrlOptimizer(0.1)
    trains = [adagrad.apply_gradients(adagrad.compute_gradients(loss)), named.minimize(loss), momentum.minimize(loss),
              heavy.minimize(loss), rms.minimize(loss), plain.minimize(loss), ftrl.minimize(loss), follow.minimize(loss)]
    return [[trained(tf, t, w) for t in trains], [t.name for t in trains]]


@case(nodes=False)
def schedules(tf):
    step = tf.Variable(7, trainable=False)
    return [tf.train.exponential_decay(0.8, step, 5, 0.99), tf.train.exponential_decay(0.8, step, 5, 0.9, staircase=True)]


@case(nodes=False)
def averages(tf):
    v, u, step = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="u"), tf.Variable(3, trainable=False)
    ema = tf.train.ExponentialMovingAverage(0.9, step)
    slow = tf.train.ExponentialMovingAverage(0.99, name="slow")
    with tf.control_dependencies([tf.assign_add(v, 2.0)]):
        apply = ema.apply([v])
    with tf.control_dependencies([apply]):
        both = tf.group(apply, slow.apply([u]))
    return [trained(tf, both, ema.average(v), slow.average(u), v), ema.average_name(v), slow.average(u).name,
            {m.name: 0 for m in tf.moving_average_variables()}]


@case(nodes=False, tolerance=1e-4)
def synchronous(tf):
    step = tf.train.get_or_create_global_step()
    w, loss = regression(tf)
    opt = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), replicas_to_aggregate=1,
                                         total_num_replicas=1, name="sync", use_locking=False)
    train = opt.minimize(loss, global_step=step)
    made = [opt.chief_init_op.name, opt.local_step_init_op.name, opt.ready_for_local_init_op.dtype,
            opt.get_init_tokens_op().name, type(opt.get_chief_queue_runner()).__name__]
    return made + [train.name, isinstance(opt.make_session_run_hook(True), tf.train.SessionRunHook)]


@case(nodes=False)
def synchronous_with_averages(tf):
    step = tf.train.get_or_create_global_step()
    w, loss = regression(tf)
    ema = tf.train.ExponentialMovingAverage(0.9, step)
    opt = tf.train.SyncReplicasOptimizer(tf.train.AdamOptimizer(0.1), replicas_to_aggregate=2, total_num_replicas=3,
                                         variable_averages=ema, variables_to_average=[w], replica_id=0)
    return opt.apply_gradients(opt.compute_gradients(loss), global_step=step).name


@case(nodes=False)
def synchronous_by_the_old_name(tf):
    step = tf.train.get_or_create_global_step()
    w, loss = regression(tf)
    old = tf.train.SyncReplicasOptimizerV2(tf.train.GradientDescentOptimizer(0.1), replicas_to_aggregate=2,
                                           total_num_replicas=2, name="old")
    more = old.apply_gradients(old.compute_gradients(loss), global_step=step)
    return [more.name, old.chief_init_op.name, old.get_init_tokens_op().name, old.local_step_init_op.name,
            type(old.get_chief_queue_runner()).__name__, old.ready_for_local_init_op.dtype]


@case(nodes=False)
def steps(tf):
    none = tf.train.get_global_step()
    step = tf.train.get_or_create_global_step()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [none, step, step is tf.train.get_global_step(), tf.train.global_step(sess, step),
                tf.contrib.framework.get_or_create_global_step() is step]


@case(nodes=False)
def savers(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    step = tf.Variable(4, name="global_step", trainable=False)
    saver, few = tf.train.Saver(), tf.train.Saver([v], max_to_keep=1, sharded=True, save_relative_paths=True)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        paths = [saver.save(sess, "out/model.ckpt", global_step=step), saver.save(sess, "out/model.ckpt", 7)]
        os.mkdir("few")
        few.save(sess, "few/m")
        sess.run(v.assign([5.0, 6.0]))
        saver.restore(sess, tf.train.latest_checkpoint("out"))
        state = tf.train.get_checkpoint_state("out")
        return [paths, sess.run(v), state.model_checkpoint_path, list(state.all_model_checkpoint_paths),
                tf.train.latest_checkpoint("nothing"), tf.train.get_checkpoint_state("nothing"), saver.last_checkpoints,
                sorted(os.listdir("out")), sorted(os.listdir("few")), open("few/checkpoint").read()]


def events(tf, folder):
    path, = glob.glob(folder + "/*tfevents*")
    return [(e.step, e.HasField("summary") and "summary", [v.tag for v in e.summary.value]) for e in tf.train.summary_iterator(path)]


@case
def summaries(tf):
    x = tf.constant(np.random.RandomState(0).rand(1, 4, 4, 3).astype(np.float32))
    made = [tf.summary.scalar("loss", tf.reduce_mean(x)), tf.summary.histogram("h", x), tf.summary.image("i", x),
            tf.summary.image("few", x, 1), tf.summary.image("one", x, max_outputs=1)]
    merged, some = tf.summary.merge_all(), tf.summary.merge(made[:2])
    with tf.Session() as sess:
        return [sess.run(made[:2]), len(sess.run(merged)), sess.run(some), [m.name for m in made], merged.name, some.name]


@case(nodes=False)
def summary_files(tf):
    loss = tf.summary.scalar("loss", tf.constant(2.5))
    writer = tf.summary.FileWriter("a", tf.get_default_graph())
    named, bare = tf.summary.FileWriter("b", graph=tf.get_default_graph()), tf.summary.FileWriter("c")
    with tf.Session() as sess:
        writer.add_summary(sess.run(loss), 3)
        data = tf.RunMetadata()
        sess.run(loss, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=data)
    writer.add_run_metadata(data, "step3")
    writer.flush()
    writer.close()
    named.close()
    bare.close()
    return [events(tf, f) for f in "ab"] + [data.HasField("step_stats")]


@case(nodes=False)
def traces(tf):
    import json
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, timeout_in_ms=60000)
    data = tf.RunMetadata()
    with tf.Session() as sess:
        sess.run(tf.matmul(X, X, transpose_b=True), options=options, run_metadata=data)
    made = [tf.python.client.timeline.Timeline(step_stats=data.step_stats), tf.python.client.timeline.Timeline(data.step_stats)]
    seen = [json.loads(t.generate_chrome_trace_format())["traceEvents"] for t in made]
    return [any(e["name"] == "MatMul" for e in s) for s in seen] + [tf.RunOptions.FULL_TRACE]


@case(nodes=False)
def supervisors(tf):
    step = tf.Variable(0, trainable=False, name="global_step")
    train = tf.assign_add(step, 1)
    tf.summary.scalar("step", step)
    init = tf.global_variables_initializer()
    sv = tf.train.Supervisor(is_chief=True, logdir="train", init_op=init, summary_op=None, saver=tf.train.Saver(),
                             global_step=step, save_model_secs=600, recovery_wait_secs=1)
    sess = sv.prepare_or_wait_for_session("", config=tf.ConfigProto(allow_soft_placement=True))
    sv.start_queue_runners(sess, [])
    while not sv.should_stop() and sess.run(train) < 3:
        sv.summary_computed(sess, sess.run(tf.get_collection("summaries")[0]))
    at = sess.run(step)
    sv.saver.save(sess, sv.save_path, global_step=step)
    sv.request_stop()
    stopped = sv.should_stop()
    sv.stop()
    found = [at, stopped, sv.is_chief, sv.save_path, sv.global_step is step, sorted(os.listdir("train"))[:1],
             tf.train.latest_checkpoint("train") is not None, sv.summary_writer is not None]
    return found


@case(nodes=False)
def supervisors_of_other_kinds(tf):
    g = tf.Graph()
    with g.as_default():
        step = tf.Variable(0, trainable=False, name="global_step")
        seen, writer = [], tf.summary.FileWriter("w")
        ready = tf.report_uninitialized_variables()
        sv = tf.train.Supervisor(g, logdir="a", init_op=tf.global_variables_initializer(), init_fn=lambda s: seen.append(1),
                                 ready_op=ready, local_init_op=tf.local_variables_initializer(),
                                 ready_for_local_init_op=tf.report_uninitialized_variables([step]),
                                 summary_writer=writer, save_summaries_secs=30, save_model_secs=0)
        with sv.managed_session("") as sess:
            first = sess.run(step)
    with tf.Graph().as_default() as other:
        v = tf.Variable(2.0)
        sv = tf.train.Supervisor(graph=other, logdir=None, summary_op=None, saver=None, global_step=None)
        with sv.managed_session() as sess:
            second = sess.run(v)
    return [first, second, seen, os.path.exists("a")]


@case(nodes=False)
def monitored(tf):
    step = tf.train.get_or_create_global_step()
    train = tf.assign_add(step, 1)
    tf.summary.scalar("step", step)
    scaffold = tf.train.Scaffold(init_op=tf.global_variables_initializer(), local_init_op=tf.local_variables_initializer(),
                                 saver=tf.train.Saver(), summary_op=tf.summary.merge_all(),
                                 ready_for_local_init_op=tf.report_uninitialized_variables(tf.global_variables()))
    hooks = [tf.train.StopAtStepHook(last_step=5), tf.train.LoggingTensorHook(tensors={"at": step}, every_n_iter=100)]
    with tf.train.MonitoredTrainingSession(master="", is_chief=True, checkpoint_dir="train", scaffold=scaffold, hooks=hooks,
                                           chief_only_hooks=[tf.train.LoggingTensorHook([step.name], every_n_iter=100)],
                                           save_checkpoint_steps=2, save_summaries_steps=2, stop_grace_period_secs=10,
                                           config=tf.ConfigProto(), max_wait_secs=60) as sess:
        while not sess.should_stop():
            at = sess.run(train)
    return [at, sorted(n for n in os.listdir("train") if n.endswith(".index")), tf.train.latest_checkpoint("train"),
            [(s, w) for s, w, _ in events(tf, "train") if w == "summary"]]


@case(nodes=False)
def monitored_again(tf):
    step = tf.train.get_or_create_global_step()
    train = tf.assign_add(step, 1)
    tf.summary.scalar("step", step)
    said = []
    for _ in range(2):
        sess = tf.train.MonitoredTrainingSession(checkpoint_dir="train", summary_dir="s", save_checkpoint_secs=600,
                                                 save_summaries_secs=600, save_summaries_steps=None,
                                                 hooks=[tf.train.StopAtStepHook(num_steps=2)])
        while not sess.should_stop():
            said.append(sess.run(train))
        sess.close()
    return [said, os.path.exists("s")]


@case(nodes=False)
def hooks(tf):
    step = tf.train.get_or_create_global_step()
    train, seen = tf.assign_add(step, 1), []
    summary = tf.summary.scalar("step", step)

    class Mine(tf.train.SessionRunHook):
        def begin(self):
            seen.append("begin")

        def after_create_session(self, session, coord):
            seen.append("created")

        def before_run(self, run_context):
            seen.append(run_context.original_args.fetches.name)
            return tf.train.SessionRunArgs(step)

        def after_run(self, run_context, run_values):
            seen.append(int(run_values.results))
            if run_values.results >= 2:
                run_context.request_stop()

        def end(self, session):
            seen.append("end")
    saver = tf.train.SummarySaverHook(save_steps=1, output_dir="mine", summary_op=summary)
    with tf.train.MonitoredTrainingSession(hooks=[Mine(), saver]) as sess:
        while not sess.should_stop():
            sess.run(train)
    return [seen, tf.train.SessionRunArgs([train.name], {step.name: 1}).feed_dict, [s for s, w, _ in events(tf, "mine") if w == "summary"]]


@case(nodes=False)
def input_queues(tf):
    with tf.python_io.TFRecordWriter("r.tfrecords") as out:
        for i in range(12):
            out.write(b"%d" % i)
    names = tf.train.string_input_producer(["r.tfrecords"], num_epochs=1)
    reader = tf.TFRecordReader()
    key, value = reader.read(names)
    number = tf.string_to_number(value, out_type=tf.int32)
    batch = tf.train.shuffle_batch([number], batch_size=4, capacity=20, min_after_dequeue=8, num_threads=1)
    seen = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator(clean_stop_exception_types=(tf.errors.OutOfRangeError,))
        threads = tf.train.start_queue_runners(sess=sess, coord=coord)
        try:
            while not coord.should_stop():
                seen.extend(sess.run(batch).tolist())
        except tf.errors.OutOfRangeError as e:
            ended = type(e).__name__
        coord.request_stop()
        coord.join(threads)
    return [sorted(seen), ended, batch.get_shape(), len(threads), len(tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)),
            key.dtype, type(tf.train.Coordinator()).__name__]


@case
def clusters(tf):
    spec = tf.train.ClusterSpec({"ps": ["a:1", "b:2"], "worker": ["c:3"]})
    setter = tf.train.replica_device_setter(cluster=spec, worker_device="/job:worker/task:0")
    with tf.device(setter):
        made = [tf.Variable(1.0), tf.Variable(2.0), tf.Variable(3.0), tf.constant(1.0)]
    with tf.device(tf.train.replica_device_setter(ps_tasks=2, ps_device="/job:ps/cpu:0", worker_device="/job:worker")):
        made.append(tf.Variable(4.0))
    with tf.device(tf.train.replica_device_setter(1)):
        made.append(tf.Variable(5.0))
    return [[m.device for m in made], spec.as_dict(), spec.jobs, spec.num_tasks("ps"), spec.job_tasks("ps"),
            spec.task_address("worker", 0), str(spec.as_cluster_def()), tf.train.ClusterSpec(spec) == spec,
            tf.train.replica_device_setter(ps_tasks=0), tf.train.ClusterSpec({"a": [b"c:1", " d:2"], "b": []}).as_dict(),
            str(tf.train.ClusterSpec({"a": [b"c:1"]}).as_cluster_def())]


@case(nodes=False)
def servers(tf):
    spec = tf.train.ClusterSpec({"worker": ["localhost:%d" % free_ports(1)[0]]})
    server = tf.train.Server(spec, job_name="worker", task_index=0, config=tf.ConfigProto(), protocol="grpc")
    with tf.Session(server.target) as sess:
        got = sess.run(tf.constant(6))
    other = tf.train.Server({"local": ["localhost:%d" % free_ports(1)[0]]}, "local", 0)
    return [got, server.target.startswith("grpc://localhost:"), other.target != server.target, callable(server.join),
            server.server_def.job_name, server.server_def.task_index]
