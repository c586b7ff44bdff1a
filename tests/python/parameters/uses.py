"""What recipes do with a result that is not a tensor: an optimizer trains, a data set is read to its end."""
import base64
import os

import numpy as np

import uses_contrib
import uses_editor
import uses_flags
import uses_keras
import uses_legacy
import uses_models
import uses_names
import uses_series
import uses_summary
import uses_tape

# A picture of 16 x 8 pixels, and one of a single red pixel.
JPEG = """
/9j/4AAQSkZJRgABAQEBLAEsAAD/2wBDACgcHiMeGSgjISMtKygwPGRBPDc3PHtYXUlkkYCZlo+AjIqgtObDoKrarYqMyP/L2u71////m8H////6/+b9//
j/2wBDASstLTw1PHZBQXb4pYyl+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj/wAARCAAQAAgDASIAAhEBAxEB
/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2
JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5
usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBA
QAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0
dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAx
EAPwBuyIfKiQI4ODvkB/TiilLKPk3xIR3SMt+vIooA/9k=
"""
GIF = "R0lGODlhAQABAIAAAP8AAAAAACwAAAAAAQABAAACAkQBADs="


class Uses(uses_contrib.ContribUses, uses_editor.EditorUses, uses_flags.FlagUses, uses_keras.KerasUses, uses_legacy.LegacyUses,
           uses_models.ModelUses, uses_names.NameUses, uses_series.SeriesUses, uses_summary.SummaryUses, uses_tape.TapeUses):
    """The ways to use a result, for one system."""

    def __init__(self, tf):
        self.tf = tf

    def shorter(self, shape):
        """A shape, or a tensor that holds one, without its first dimension."""
        return shape[1:]

    def halve(self, x):
        return x * 0.5

    def pooled(self, x, rank, padding):
        return self.tf.nn.max_pool(x, [1, 2, 2, 1], [1, 1, 1, 1], padding)

    def sampler(self, shape, dtype):
        return self.tf.fill(shape, self.tf.constant(0.7, dtype))

    def wav(self):
        return (b"RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0"
                b"data\4\0\0\0\0\x40\0\xc0")

    def getter(self, getter, name, *args, **kwargs):
        return getter(name + "_got", *args, **kwargs)

    def variable(self, value=((1.0, 2.0), (3.0, 4.0)), name="variable", **kwargs):
        return self.tf.Variable(np.array(value, np.float32), name=name, **kwargs)

    def session(self, graph=None):
        tf = self.tf
        sess = tf.Session(graph=graph, config=tf.ConfigProto(operation_timeout_in_ms=8000))
        with (graph or tf.get_default_graph()).as_default():
            sess.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
        return sess

    def captured(self):
        """One module per graph."""
        return self.tf.get_default_graph().__dict__.setdefault("_captured", self.tf.Module())

    def creator(self, next_creator, **kwargs):
        return next_creator(**dict(kwargs, name="created"))

    def other_creator(self, next_creator, **kwargs):
        return next_creator(**dict(kwargs, name="other"))

    def resolver(self, task=0):
        tf = self.tf
        spec = tf.train.ClusterSpec({"ps": ["a:1"], "worker": ["b:1"]})
        return tf.distribute.cluster_resolver.SimpleClusterResolver(spec, task_type="worker", task_id=task)

    def summed(self, strategy):
        """A sum over replicas, and the device where it is."""
        with strategy.scope():
            made = strategy.reduce("SUM", strategy.run(lambda: self.tf.constant([1.0, 2.0])), axis=None)
        return made.op.inputs[0].device, made

    def slurm(self):
        """The environment of the second of two tasks, and their jobs."""
        os.environ.update(SLURM_PROCID="1", SLURM_STEP_NUM_TASKS="2", SLURM_STEP_NODELIST="n[1-2]", SLURM_STEP_TASKS_PER_NODE="1(x2)",
                          SLURM_NTASKS="2")
        return {"worker": 2}

    class Pods:
        """A client of Kubernetes with one pod."""

        def list_pod_for_all_namespaces(self, label_selector):
            from types import SimpleNamespace as Space
            pod = Space(metadata=Space(name=label_selector), status=Space(phase="Running", host_ip="10.0.0.1"))
            return Space(items=[pod])

    def saved_folder(self):
        """A folder with a saved model."""
        x = self.tf.constant(1.0)
        self.tf.saved_model.simple_save(self.session(), "model", {"x": x}, {"y": x})
        return "model"

    def managed(self, manager):
        """The checkpoints that three saves leave."""
        with self.session().as_default():
            return [manager.save() for _ in range(3)], manager.checkpoints

    def after(self, fetch, then, steps=2):
        """The values of `then` after some runs of `fetch`."""
        with self.session() as sess:
            for _ in range(steps):
                sess.run(fetch)
            return sess.run(then)

    def trained(self, optimizer, sparse=False):
        """The variables after three steps, slots included."""
        tf = self.tf
        w = self.variable()
        used = tf.gather(w, [1]) if sparse else w
        loss = tf.reduce_sum(used * used)
        train = optimizer.minimize(loss)
        names = [v.name for v in tf.global_variables()]
        return names, self.after(train, tf.global_variables(), 3)

    def elements(self, dataset):
        """What a data set yields, up to 40 elements, and how often a second reading yields the same."""
        tf = self.tf
        get = tf.data.make_initializable_iterator(dataset)
        out = get.get_next()
        found = []
        with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=8000)) as sess:
            sess.run(get.initializer)
            try:
                while len(found) < 40:
                    found.append(sess.run(out))
            except tf.errors.OutOfRangeError:
                pass
        return found

    def hidden(self, x):
        """A tensor whose value is not known while the graph is built."""
        return self.tf.placeholder_with_default(x, None, name="hidden")

    def double(self, x):
        return x + x

    def fan_out(self, x):
        """A sum whose gradient is itself a sum of several tensors."""
        return x * x + self.tf.sin(x) + self.tf.exp(x)

    def entered(self, scope, make):
        """What a function makes inside a scope."""
        with scope:
            return make()

    def texts(self):
        return self.tf.constant(["h\u00e9llo", "w\u00f6rld"])

    def sparse(self, columns=4, dtype=None):
        tf = self.tf
        return tf.SparseTensor([[0, 1], [1, 3], [2, 0]], tf.constant([3, 2, 1], dtype or tf.float32), [3, columns])

    def square_sparse(self):
        return self.tf.SparseTensor([[0, 1], [1, 2], [2, 0]], self.tf.constant([3.0, 2, 1]), [3, 3])

    def jpeg(self):
        return base64.b64decode(JPEG)

    def gif(self):
        return base64.b64decode(GIF)

    # ---- networks ----

    def cell(self, units=3):
        return self.tf.nn.rnn_cell.BasicRNNCell(units)

    def stepped(self, cell):
        """Two steps of a cell."""
        tf = self.tf
        x = tf.constant(np.arange(12, dtype=np.float32).reshape(3, 4) / 7)
        return tf.nn.static_rnn(cell, [x, x + 1], dtype=tf.float32)

    def visit(self, state):
        return False

    def residual(self, inputs, outputs):
        return inputs * 0.5 + outputs

    def rnn_loop(self, time, output, state, loop_state):
        tf = self.tf
        x = tf.ones([2, 4])
        done = time >= [2, 3]
        return (done, x, tf.zeros([2, 3]), None, None) if output is None else (done, x, state, output, None)

    def adjustment(self, shape):
        return self.tf.ones([shape[-1]]) * 2, self.tf.ones([shape[-1]])

    def sampled(self):
        tf = self.tf
        return tf.constant([0, 4], tf.int64), tf.ones([3, 1]), tf.ones([2])

    def ctc_labels(self):
        tf = self.tf
        return tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([1, 1, 2], tf.int32), [2, 2])

    def logits_in_time(self):
        return self.tf.constant(np.sin(np.arange(4 * 2 * 4, dtype=np.float32)).reshape(4, 2, 4))

    def descended(self, output):
        """The variables after a step of gradient descent, which ends in their constraints."""
        tf = self.tf
        trained = tf.trainable_variables()
        if not trained:
            return []
        train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(output))
        return self.after(train, trained, 1)

    def updated(self, output):
        """The output and the moving averages after a run of the update ops."""
        tf = self.tf
        return self.after(tf.get_collection(tf.GraphKeys.UPDATE_OPS), [output] + tf.get_collection("variables"), 1)

    def partitioned(self, partitioner):
        with self.tf.variable_scope("scope", partitioner=partitioner):
            found = self.tf.get_variable("v", [4, 6])
        return [part.get_shape() for part in found] if hasattr(found, "__iter__") else found.get_shape()

    def no_regularization(self):
        """A loss and a regularization loss, in their collections; returns the default of the parameter it is given for."""
        tf = self.tf
        tf.losses.add_loss(tf.constant(1.0, name="loss"))
        tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, tf.constant(2.0, name="other"))
        return True

    def measured(self, metric):
        """The names of a metric's tensors, and its value after each of two updates."""
        value, update = metric
        with self.session() as sess:
            return [value, update, sess.run(update), sess.run(value)][2:], [value.dtype, value.get_shape()]

    def ramp(self, shape, dtype=None, partition_info=None):
        """The initializer of variables that have none, so that random numbers play no part."""
        shape = [int(n) for n in shape]
        return self.tf.constant(np.sin(np.arange(np.prod(shape, dtype=int))).reshape(shape), dtype or self.tf.float32)

    # ---- training ----

    def loss(self):
        return self.tf.reduce_sum(self.tf.square(self.variable()))

    def rate(self, make, steps=(0, 3, 7, 20)):
        """A learning rate at several steps."""
        step = self.tf.placeholder_with_default(0, [], name="step")
        rate = make(step)
        rate = rate() if callable(rate) else rate
        with self.tf.Session() as sess:
            return [sess.run(rate, {step: s}) for s in steps]

    def averaged(self, average):
        """The averages of a variable after two updates."""
        tf = self.tf
        v = self.variable()
        update = average.apply([v])
        step = tf.assign_add(v, tf.ones_like(v))
        with self.session() as sess:
            for _ in range(2):
                sess.run(step)
                sess.run(update)
            return average.average_name(v), sess.run([average.average(v)] + tf.global_variables())

    def dequeued(self, queue, *items, many=False):
        """What a queue gives back of two elements that it was given, in the order of its own."""
        tf = self.tf
        put = [queue.enqueue(item) for item in items]
        get, size = queue.dequeue(), queue.size()
        with self.session() as sess:
            for op in put:
                sess.run(op)
            return [sess.run(size)] + [sess.run(get) for _ in items] + [tf.as_dtype(t).name for t in queue.dtypes]

    def fed(self, tensors, times=3):
        """What queue runners feed."""
        tf = self.tf
        found = []
        with self.session() as sess:
            coord = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(sess, coord)
            try:
                for _ in range(times):
                    found.append(sess.run(tensors))
            except tf.errors.OutOfRangeError:
                found.append("the end")
            finally:
                coord.request_stop()
                coord.join(threads, stop_grace_period_secs=5)
        return found

    def saved(self, saver, **kwargs):
        """The names of the files that a saver writes, and what it restores."""
        tf = self.tf
        with self.session() as sess:
            paths = [saver.save(sess, "model", global_step=step, **kwargs) for step in (1, 2, 3)]
            before = sess.run(tf.global_variables())
        return paths, saver.last_checkpoints, len(before)

    def two_variables(self):
        return [self.variable(name="first"), self.variable(name="second")]

    def checkpoint(self, folder="."):
        """Writes a checkpoint with two variables in a graph of its own, and returns its path."""
        tf = self.tf
        with tf.Graph().as_default():
            self.two_variables()
            with self.session() as sess:
                return tf.train.Saver().save(sess, folder + "/ckpt", global_step=5)

    def hooked(self, *hooks, steps=6, checkpoint=False):
        """The files and the last global step of a run with hooks."""
        tf = self.tf
        step = tf.train.get_or_create_global_step()
        train = tf.assign_add(step, 1)
        ran = 0
        with tf.train.SingularMonitoredSession(hooks=list(hooks)) as sess:
            while not sess.should_stop() and ran < steps:
                ran = sess.run(train)
        return int(ran)

    def written(self, name, text="one\ntwo\nthree\n"):
        """The name of a file that it writes."""
        with open(name, "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())
        return name

    def records(self, name="records", compression=None):
        tf = self.tf
        options = tf.python_io.TFRecordOptions(compression) if compression else None
        with tf.python_io.TFRecordWriter(name, options) as writer:
            for text in (b"one", b"two", b"three"):
                writer.write(text)
        return name

    def examples(self):
        tf = self.tf

        def example(a, b):
            return tf.train.Example(features=tf.train.Features(feature={
                "a": tf.train.Feature(int64_list=tf.train.Int64List(value=a)),
                "b": tf.train.Feature(bytes_list=tf.train.BytesList(value=b))})).SerializeToString()
        return [example([1], [b"x"]), example([2], [b"y"])]

    def read(self, reader, *names):
        """The records that a reader finds in files."""
        tf = self.tf
        queue = tf.FIFOQueue(9, tf.string)
        fill = [queue.enqueue(n) for n in names] + [queue.close()]
        key, value = reader.read(queue)
        found = []
        with self.session() as sess:
            for op in fill:
                sess.run(op)
            try:
                while len(found) < 9:
                    found.append(sess.run([key, value]))
            except tf.errors.OutOfRangeError:
                pass
        return found

    def looked_up(self, table, keys):
        found = table.lookup(self.tf.constant(keys))
        with self.session() as sess:
            return sess.run(found), found.dtype

    def second_ps(self, op):
        return 1

    def placed(self, device):
        tf = self.tf
        with tf.device(device):
            made = [self.variable(name="a"), self.variable(name="b"), tf.constant(1.0)]
        with tf.device("/gpu:1"), tf.device(device):
            made.append(self.variable(name="c"))
        with tf.device(device), tf.device("/cpu:0"):
            made.append(self.variable(name="d"))
        return [v.device for v in made]

    def other_graph(self):
        graph = self.tf.Graph()
        with graph.as_default():
            self.tf.constant(3.0, name="elsewhere")
        return graph

    def with_step(self):
        graph = self.tf.Graph()
        with graph.as_default():
            self.tf.train.create_global_step()
        return graph

    def no_argument(self):
        return self.tf.constant(arrays_x())

    def plugin(self):
        return self.tf.SummaryMetadata(plugin_data=self.tf.SummaryMetadata.PluginData(plugin_name="p"))

    def own_gradient(self, x):
        return x * x, lambda dy: dy * 5

    def session_with_step(self):
        self.tf.train.get_or_create_global_step()
        return self.session()

    def closed(self, session):
        nodes = [n.name for n in session.graph.as_graph_def().node]
        session.close()
        return nodes

    def stopped(self, coordinator):
        """What joining says after a thread failed."""
        try:
            try:
                raise ValueError("in a thread")
            except ValueError as e:
                coordinator.request_stop(e)
            coordinator.join([])
        except ValueError as e:
            return str(e)
        return "joined"

    def init(self, scaffold, session):
        return None

    def scaffolded(self, scaffold):
        scaffold = scaffold.finalize()
        return [getattr(t, "name", None) for t in (
            scaffold.init_op, scaffold.ready_op, scaffold.ready_for_local_init_op, scaffold.local_init_op, scaffold.summary_op)
        ] + [scaffold.init_fn is None, scaffold.init_feed_dict, scaffold.saver is None]

    def listener(self):
        class Listener(self.tf.train.CheckpointSaverListener):
            def after_save(self, session, global_step_value):
                open("saved-%d" % global_step_value, "w").close()
        return Listener()

    def feeds(self):
        return {}

    def format(self, values):
        return "formatted %s" % sorted(values)

    def logged(self, hook):
        """What a hook logs, without times."""
        import re
        logged, info = [], self.tf.logging.info
        module = __import__("logging")
        handler = module.Handler()
        handler.emit = lambda record: logged.append(re.sub(r"\([\d.]+ sec\)", "", record.getMessage()))
        loggers = [module.getLogger(n) for n in ("tensorflow", "weft")]
        for logger in loggers:
            logger.addHandler(handler)
        level = self.tf.logging.get_verbosity()
        self.tf.logging.set_verbosity(self.tf.logging.INFO)
        try:
            self.hooked(hook)
        finally:
            self.tf.logging.set_verbosity(level)
            for logger in loggers:
                logger.removeHandler(handler)
        return info is None, [line for line in logged if "x" in line]

    def summaries(self):
        """Adds a summary to each of two collections, and returns the name of the default one."""
        tf = self.tf
        tf.summary.scalar("first/s", 1.0)
        tf.summary.scalar("t", 2.0)
        tf.summary.scalar("u", 3.0, collections=["given"])
        return "summaries"

    def stop_at(self, step):
        """A hook that stops at a step, beside a tensor that counts steps."""
        tf = self.tf
        if tf.train.get_global_step() is None:
            tf.assign_add(tf.train.get_or_create_global_step(), 1, name="more")
        return tf.train.StopAtStepHook(last_step=step)

    def say_init(self, *args):
        print("initialized")

    def monitored(self, session):
        """The steps that a monitored session made until it stopped."""
        ran = []
        with session:
            while not session.should_stop() and len(ran) < 5:
                ran.append(session.run("more:0"))
        return ran

    def session_of(self, creator):
        tf = self.tf
        tf.train.get_or_create_global_step()
        with creator.create_session() as sess:
            return len(sess.graph.get_operations()) > 0

    def traced(self, tensor):
        """What a run of a tensor measured."""
        tf = self.tf
        made = tf.RunMetadata()
        self.session().run(tensor, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=made)
        return made

    def served(self, server):
        found = server.server_def
        return found.job_name, found.task_index, found.protocol, server.target.partition("localhost")[0]

    def supervised(self, supervisor):
        """What a supervisor holds, and the files that it writes in a session."""
        tf = self.tf
        names = [getattr(getattr(supervisor, k, None), "name", None) for k in (
            "init_op", "ready_op", "ready_for_local_init_op", "summary_op", "global_step")]
        if supervisor.is_chief:
            with supervisor.graph.as_default() if hasattr(supervisor, "graph") else tf.get_default_graph().as_default():
                sess = supervisor.prepare_or_wait_for_session("", start_standard_services=False)
            if supervisor.saver and supervisor.save_path:
                supervisor.saver.save(sess, supervisor.save_path)
            supervisor.stop()
            sess.close()
        return names, supervisor.is_chief, supervisor.save_model_secs, supervisor.save_summaries_secs, supervisor.save_path

    # ---- files and data ----

    def wrote(self, writer):
        writer.write(b"one")
        writer.close()
        with open("f", "rb") as f:
            return f.read()

    def meta_graph(self):
        tf = self.tf
        with tf.Graph().as_default():
            with tf.device("/cpu:0"):
                self.two_variables()
            tf.train.Saver()
            tf.train.export_meta_graph("graph.meta")
        return "graph.meta"

    def identities(self):
        tf = self.tf
        with tf.Graph().as_default() as graph:
            tf.identity(tf.identity(tf.identity(tf.constant(1.0, name="a"), name="b"), name="c"), name="d")
        return graph.as_graph_def()

    def session_of_two(self):
        self.two_variables()
        return self.session()

    def events(self, writer):
        """The kinds of events in the files that a writer wrote."""
        import glob
        tf = self.tf
        writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="t", simple_value=1.0)]), 3)
        writer.close()
        found = []
        for path in sorted(glob.glob("out/*")):
            kinds = ("file_version", "graph_def", "summary", "meta_graph_def")
            found += [[k for k in kinds if e.HasField(k)] for e in tf.train.summary_iterator(path)] + [path.endswith(".given")]
        return found

    def same(self, x):
        return x

    def repeated(self, x):
        return self.tf.data.Dataset.from_tensors(x).repeat(3)

    def filled(self, n):
        return self.tf.fill([n], n)

    def generator(self, count=3):
        yield from range(int(count))

    def length(self, x):
        return self.tf.shape(x)[0]

    def parity(self, x):
        return x % 2

    def plus(self, state, x):
        return state + x

    def empty_examples(self):
        """The name of a file with three Examples that have no features."""
        with self.tf.python_io.TFRecordWriter("examples") as writer:
            for _ in range(3):
                writer.write(b"")
        return "examples"

    def batches(self, key, window):
        return window.batch(2)

    def added(self, state, x):
        return state + x, state + x

    def small(self, x):
        return x < 3

    # ---- feature columns and estimators ----

    def features(self):
        tf = self.tf
        return {"n": tf.constant([[1.0], [3.0], [6.0]]), "i": tf.constant([[0], [3], [1]], tf.int64),
                "w": tf.constant([["a"], ["b"], ["c"]]), "v": tf.constant([["x"], ["y"], ["x"]])}

    def layer(self, column):
        features = self.features()
        if getattr(column, "key", "") == "n" and tuple(column.shape) == (2,):
            features["n"] = self.tf.constant([[1.0, 2], [3, 4], [6, 5]])
        return self.tf.feature_column.input_layer(features, [column])

    def identity_column(self):
        return self.tf.feature_column.categorical_column_with_identity("i", 5)

    def embedding(self):
        return self.tf.feature_column.embedding_column(self.identity_column(), 2)

    def on_cpu(self, op):
        return "/cpu:0"

    def fields(self, config):
        names = ("model_dir", "tf_random_seed", "save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs",
                 "keep_checkpoint_max", "keep_checkpoint_every_n_hours", "log_step_count_steps", "protocol", "num_ps_replicas",
                 "num_worker_replicas", "task_id", "task_type", "is_chief", "session_creation_timeout_secs")
        session = config.session_config
        return {n: getattr(config, n, "absent") for n in names if n != "model_dir" or config.model_dir == "m"}, \
            session and session.SerializeToString(), config.device_fn is None

    def model(self, features, labels, mode, params, config):
        tf = self.tf
        w = tf.get_variable("first", [2, 2], initializer=tf.ones_initializer())
        loss = tf.reduce_sum(w * (params or {}).get("p", 1.0) * tf.reduce_mean(features["x"]))
        tf.summary.scalar("loss_of_model", loss)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train, predictions=loss)

    def input_fn(self):
        tf = self.tf
        return tf.data.Dataset.from_tensors(({"x": [[1.0], [2.0]]}, [[0], [1]])).repeat(3)

    def fitted(self, estimator):
        """The names and values of the variables after three steps, and whether the model's folder is the one asked for."""
        estimator.train(self.input_fn, steps=3)
        names = sorted(estimator.get_variable_names())
        return names, [np.asarray(estimator.get_variable_value(n)).shape for n in names], estimator.model_dir == "m", \
            float(np.sum(estimator.get_variable_value("first"))) if "first" in names else None

    def modeled(self, estimator):
        """The loss and the variables of an estimator's model."""
        tf = self.tf
        labels = tf.constant([["a"], ["b"]] if "vocabulary" in str(estimator) else [[0], [1]])
        spec = estimator.model_fn({"x": tf.constant([[1.0], [2.0]])}, labels, "train", estimator.config)
        return spec.loss, tf.global_variables(), estimator.model_dir == "m", estimator.config.tf_random_seed

    def spec(self, spec):
        return [x if isinstance(x, (int, float, str, type(None))) else getattr(x, "__len__", lambda: -1)() for x in spec[1:]]

    def serving(self):
        tf = self.tf
        x = tf.placeholder(tf.float32, [None, 1])
        return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})

    def received(self, make):
        found = make()
        return sorted(found.receiver_tensors), [t.get_shape() for t in found.receiver_tensors.values()]

    def main(self, argv):
        raise ValueError(str(argv))

    # ---- contrib ----

    def attributes(self, x):
        found = {k.lstrip("_"): v for k, v in vars(x).items() if isinstance(v, (int, float, str, type(None)))}
        session = getattr(x, "session_config", None) or getattr(x, "tf_config", None)
        return found, session and session.SerializeToString()

    # ---- tf.contrib.slim ----

    def built(self, made):
        """The variables of a network and the shapes of its outputs; nothing runs."""
        net, ends = made
        return [(v.op.name, v.shape.as_list()) for v in self.tf.global_variables()] + [net.shape.as_list()] + [
            (k, v.shape.as_list()) for k, v in ends.items()]

    def slim_dataset(self):
        tf = self.tf
        with tf.python_io.TFRecordWriter("slim.records") as writer:
            for text in self.examples():
                writer.write(text)
        decoder = tf.contrib.slim.tfexample_decoder
        return tf.contrib.slim.dataset.Dataset(
            "slim.records", tf.TFRecordReader,
            decoder.TFExampleDecoder({"a": tf.FixedLenFeature([1], tf.int64)}, {"a": decoder.Tensor("a")}), 2, {})

    def database(self):
        """A database with a table of two columns, and its path."""
        import sqlite3
        with sqlite3.connect("d.db") as db:
            db.execute("create table if not exists t(a integer, b text)")
            db.execute("insert into t values(1, 'x')")
        return "d.db"

    def table(self):
        tf = self.tf
        return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64)), -1)

    def looked_up_item(self, handler):
        tf = self.tf
        return handler.tensors_to_item({"k": tf.constant(["b", "c"]), "s": tf.constant([1, 2])})

    def sparse_item(self, handler):
        tf = self.tf
        given = tf.SparseTensor([[0], [1]], [0, 2], [2])
        values = tf.SparseTensor([[0], [1]], [5.0, 7.0], [2])
        return handler.tensors_to_item({"indices": given, "i": tf.SparseTensor([[0], [1]], [1, 3], [2]), "values": values,
                                        "v": tf.SparseTensor([[0], [1]], [6.0, 8.0], [2]), "s": tf.constant([4], tf.int64)})

    def image_item(self, handler):
        tf = self.tf
        picture, small = self.jpeg(), tf.image.encode_jpeg(tf.zeros([16, 8, 3], tf.uint8))
        found = {"image/encoded": [picture] if handler._repeated else picture, "i": small, "image/format": "jpeg", "f": "raw"}
        return handler.tensors_to_item({key: tf.convert_to_tensor(found[key]) for key in handler.keys})

    def step_op(self):
        tf = self.tf
        return tf.assign_add(tf.train.get_or_create_global_step(), 1)

    def with_session(self, x):
        """The tensor; from now on there is a default session."""
        self.entered_session = self.session().as_default()
        self.entered_session.__enter__()
        return x

    def exported(self):
        """(an estimator after a step, the folder of its SavedModel)"""
        made = self.tf.estimator.Estimator(self.model, "m", params={"rate": 0.1})
        made.train(self.input_fn, steps=1)
        return made, made.export_savedmodel("exported", self.serving)

    def line(self, x, *rest):
        return x * self.tf.get_variable("w", [4], initializer=self.tf.constant_initializer([0.5, 2.0, 1.5, 3.0]))

    def gan(self):
        """A model, the same one each time."""
        tf = self.tf
        if not hasattr(self, "_gan"):
            x = tf.constant(arrays_x())
            self._gan = tf.contrib.gan.gan_model(self.line, self.line, x, x / 2)
        return self._gan

    # ---- tf.contrib.learn ----

    def x_column(self):
        return [self.tf.contrib.layers.real_valued_column("x")]

    def learned(self, estimator):
        """What an estimator knows after two steps: figures, predictions, variables."""
        x = {"x": np.float32([[1], [2], [3], [4]])}
        y = np.array([0, 1, 1, 0])
        y = y.astype(np.float32) if "Regressor" in type(estimator).__name__ else y
        self.tf.set_random_seed(3)
        estimator.fit(x, y, steps=2)
        found = estimator.evaluate(x, y, steps=1)
        return [sorted((k, round(float(v), 5)) for k, v in found.items()), estimator.get_variable_names(),
                [np.round(estimator.get_variable_value(n), 4).tolist() for n in estimator.get_variable_names()],
                estimator.config.save_checkpoints_steps, estimator.params]

    def old_model(self, features, labels, mode):
        tf = self.tf
        w = tf.get_variable("w", [1], initializer=tf.ones_initializer())
        loss = tf.reduce_mean(tf.square(features["x"][:, 0] * w - tf.cast(labels, tf.float32)))
        train = tf.train.GradientDescentOptimizer(0.01).minimize(loss, tf.train.get_global_step())
        return features["x"], loss, train

    def sk(self, model):
        model.fit(arrays_x(), np.array([0, 1, 1]), steps=2)
        return sorted(model.predict(arrays_x()))

    def tpu_model(self, features, labels, mode, params):
        raise NotImplementedError

    def stopped_supervisor(self):
        made = self.tf.train.Supervisor(logdir=None, saver=None, summary_op=None)
        made.request_stop()
        return made


def arrays_x():
    return np.arange(12, dtype=np.float32).reshape(3, 4) / 7
