"""What the recipes of tf.contrib's models do with a result: a decoder decodes, an attention is asked, a chain is decoded."""
import gzip
import io
import json
import os

import numpy as np

MEMORY = np.linspace(-1, 1, 2 * 3 * 4, dtype=np.float32).reshape(2, 3, 4)


class ContribUses:
    """The ways to use a result of tf.contrib, for one system."""

    def slim_getter(self, name, reuse=None, **kwargs):
        """What slim calls in place of get_variable."""
        return self.tf.get_variable(name + "_got", **kwargs)

    def ascent(self, label=3.0, scope="ascent"):
        """What an SdcaModel is given: examples, variables, options."""
        tf = self.tf
        with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):
            variables = {"sparse_features_weights": [tf.get_variable("words", [3], initializer=tf.ones_initializer())],
                         "dense_features_weights": [tf.get_variable("number", [1], initializer=tf.ones_initializer())]}
        examples = {"sparse_features": [tf.contrib.linear_optimizer.SparseFeatureColumn([0, 1], [0, 2], None)],
                    "dense_features": [[[1.0], [0.5]]], "example_labels": [1.0, label], "example_weights": [1.0, 2.0],
                    "example_ids": ["p", "q"]}
        return examples, variables, {"symmetric_l1_regularization": 0.0, "symmetric_l2_regularization": 1.0, "loss_type": "squared_loss"}

    def passing_cell(self):
        """A cell that gives its state, whose type is the one that it was started with."""
        tf = self.tf

        class Passing(tf.nn.rnn_cell.RNNCell):
            output_size = state_size = 3

            def call(self, inputs, state):
                return state, state
        return Passing()

    def no_graph_seed(self):
        self.tf.set_random_seed(None)
        np.random.seed(5)

    def mnist(self, count=5):
        """A folder with the files of small images."""
        folder = "mnist%d" % count
        os.mkdir(folder)
        for part, kind in (("train", "images-idx3"), ("train", "labels-idx1"), ("t10k", "images-idx3"), ("t10k", "labels-idx1")):
            sizes = [count, 2, 2] if kind.startswith("images") else [count]
            data = bytes([0, 0, 8, len(sizes)]) + np.array(sizes, ">i4").tobytes()
            data += (np.arange(np.prod(sizes)) % 256).astype(np.uint8).tobytes()
            with open("%s/%s-%s-ubyte" % (folder, part, kind), "wb") as f:
                f.write(data)
        return folder

    def packed(self, magic, sizes):
        """An open gz file of MNIST."""
        head = magic.to_bytes(4, "big") + np.array(sizes, ">i4").tobytes()
        return io.BytesIO(gzip.compress(head + bytes(range(np.prod(sizes)))))

    def of_cluster(self, config):
        """The options of a server, of which TF_CONFIG speaks until cpus() was called."""
        os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": ["localhost:0"]}, "task": {"type": "worker", "index": 0}})
        return config

    def cpus(self, server):
        """How many CPUs a server has."""
        os.environ.pop("TF_CONFIG", None)
        with self.tf.Session(server.target) as sess:
            return len(sess.list_devices())

    def slower(self, rate, step):
        return rate * 0.5

    def weighted(self, column):
        """A linear model of a sparse column whose rows have several values."""
        features = self.features()
        features["w"] = self.tf.constant([["a", "b"], ["b", "c"], ["c", "a"]])
        features["v"] = self.tf.constant([["x", "y"], ["y", "x"], ["x", "x"]])
        features["i"] = self.tf.constant([[0, 1], [3, 3], [1, 2]], self.tf.int64)
        return self.tf.contrib.layers.weighted_sum_from_feature_columns(features, [column], 1)[0] if hasattr(
            self.tf.contrib.layers, "weighted_sum_from_feature_columns") else self.tf.feature_column.linear_model(features, [column])

    def softmax_loss(self, labels, logits):
        return self.tf.reduce_sum(logits, 1)

    def loop_back(self, previous, i):
        return self.tf.concat([previous, previous[:, :1]], 1)

    def memory(self):
        return self.tf.constant(MEMORY)

    def asked(self, mechanism, state=None):
        """Two questions to an attention mechanism: alignments, values, and the gradient of its variables."""
        tf = self.tf
        state = mechanism.initial_state(2, tf.float32)
        with tf.variable_scope("asking"):
            found, state = mechanism(tf.constant(MEMORY[:, 0] * 2), state)
        with tf.variable_scope("asking", reuse=True):
            again, _ = mechanism(tf.constant(MEMORY[:, 1]), state)
        return [found, again, mechanism.values, mechanism.keys, [v.name for v in tf.global_variables()]]

    def luong(self, **kwargs):
        return self.tf.contrib.seq2seq.LuongAttention(4, self.memory(), **kwargs)

    def two_attentions(self):
        return [self.luong(), self.luong()]

    def attended(self, wrapper):
        """Two steps of an attention wrapper."""
        tf = self.tf
        state = wrapper.zero_state(2, tf.float32)
        first, state = wrapper(self.memory()[:, 0], state)
        second, state = wrapper(self.memory()[:, 1], state)
        history = state.alignment_history
        return [first, second, state.alignments, history.stack() if hasattr(history, "stack") else history]

    def joined(self, inputs, attention):
        return inputs + attention

    def attention_fn(self, mechanism, output, state, layer):
        alignments, state = mechanism(output, state=state)
        return output * 2, alignments, state

    def doubling(self, units=4):
        return _Doubled(self.tf, units)

    def embedding_rows(self):
        return self.tf.constant(np.sin(np.arange(20, dtype=np.float32)).reshape(5, 4))

    def training_helper(self):
        return self.tf.contrib.seq2seq.TrainingHelper(self.memory(), [3, 2])

    def decoder(self, helper=None, cell=None):
        tf = self.tf
        return tf.contrib.seq2seq.BasicDecoder(cell or self.cell(4), helper or self.training_helper(), tf.ones([2, 4]))

    def decoded(self, decoder, steps=3):
        out, state, lengths = self.tf.contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=steps)
        return [out, lengths]

    def beam_cell(self):
        """A cell with attention for two rows and three beams."""
        tf = self.tf
        if "_beam_cell" not in self.__dict__:
            wide = tf.contrib.seq2seq.tile_batch(self.memory(), 3)
            mechanism = tf.contrib.seq2seq.LuongAttention(4, wide)
            self._beam_cell = tf.contrib.seq2seq.AttentionWrapper(self.cell(4), mechanism, alignment_history=True)
        return self._beam_cell

    def beam_state(self):
        return self.beam_cell().zero_state(6, self.tf.float32)

    def beams_of(self, decoder):
        out, state, lengths = self.tf.contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=3)
        found = [out.predicted_ids, out.beam_search_decoder_output.scores, lengths]
        history = getattr(state.cell_state, "alignment_history", None)
        return found if history is None else found + [history if self.is_tensor(history) else history.stack()]

    def is_tensor(self, x):
        return hasattr(x, "op") and not hasattr(x, "handle")

    def with_gradient(self, decoded):
        """What a decoder made, and the gradient of its outputs."""
        tf = self.tf
        out = decoded[0].rnn_output
        return [out, decoded[2], tf.gradients(out, tf.trainable_variables())]

    def starts(self):
        return self.tf.constant([False, False]), self.memory()[:, 0]

    def first_id(self, time, outputs, state):
        return self.tf.argmax(outputs, -1, output_type=self.tf.int32)

    def next_row(self, time, outputs, state, sample_ids):
        return self.tf.constant([False, False]), outputs, state

    def ended(self, ids):
        return self.tf.constant([False, False])

    def twice(self, x):
        return x * 2.0

    def keys_and_values(self, keys, values):
        return keys * 2.0, values * 3.0

    def chain(self):
        return self.tf.constant(np.cos(np.arange(9, dtype=np.float32)).reshape(3, 3))

    def chain_inputs(self):
        return self.tf.constant(np.sin(np.arange(18, dtype=np.float32)).reshape(2, 3, 3))

    # ---- layers ----

    def filter_of(self, *collections):
        """A regular expression that leaves out one of two variables, which it makes and puts into collections."""
        for v in (self.variable(name="first"), self.variable(name="second")):
            for key in collections:
                self.tf.add_to_collection(key, v)
        return "fir"

    def identity_of(self, *collections):
        self.filter_of(*collections)
        return self.tf.identity

    def outs(self):
        return self.__dict__.setdefault("_outs", {})

    def old_columns(self):
        layers = self.tf.contrib.layers
        column = layers.sparse_column_with_integerized_feature("i", 5)
        return [layers.embedding_column(column, 2, initializer=self.tf.ones_initializer())]

    def old_examples(self):
        tf = self.tf
        return [tf.train.Example(features=tf.train.Features(feature={"i": tf.train.Feature(int64_list=tf.train.Int64List(
            value=[n]))})).SerializeToString() for n in (1, 2)]

    def clipped(self, clip):
        """Two gradients as a function clips them."""
        tf = self.tf
        v = self.variable()
        made = [g for g, _ in clip([(tf.constant([[3.0, 4.0], [0.0, 1.0]]), v)])]
        return self.after(made, made, 3)

    # ---- old models of sequences ----

    def projection(self):
        tf = self.tf
        return tf.constant(np.cos(np.arange(25, dtype=np.float32)).reshape(5, 5)), tf.ones([5])

    def three(self):
        """A memory of three rows."""
        return self.tf.constant(np.sin(np.arange(3 * 2 * 4, dtype=np.float32)).reshape(3, 2, 4))

    def doubled_back(self, before, i):
        return before * 2.0

    def bucket_model(self, encoder, decoder):
        if "_bucket_cell" not in self.__dict__:
            self._bucket_cell = self.cell(5)
        return self.tf.contrib.legacy_seq2seq.embedding_rnn_seq2seq(encoder, decoder, self._bucket_cell, 5, 5, 4)

    # ---- small modules ----

    def spots(self):
        return self.tf.constant([[[1.0, 1.0], [3.0, 4.0], [1.0, 4.0], [4.0, 1.0], [2.0, 3.0]]])

    def counts(self):
        """A table of how often words occur."""
        lookup = self.tf.contrib.lookup
        start = lookup.KeyValueTensorInitializer(["a", "b", "c"], self.tf.constant([5, 3, 1], self.tf.int64))
        return lookup.HashTable(start, 0)

    def slope(self, y, t):
        return y * self.tf.cast(t, self.tf.float32) * 0.5

    # ---- cells ----

    def run_cell(self, cell):
        """Two steps of a cell, in its own type."""
        tf = self.tf
        x = tf.cast(tf.constant(np.arange(12, dtype=np.float32).reshape(3, 4) / 7), cell.dtype or "float32")
        return tf.nn.static_rnn(cell, [x, x + 1], dtype=x.dtype)

    # ---- optimizers ----

    def sgd(self):
        return self.tf.train.GradientDescentOptimizer(0.1)

    def optimized(self, optimizer, minimize=None):
        """The variables after three steps of an optimizer that is given the global step."""
        tf = self.tf
        step, w = tf.train.get_or_create_global_step(), self.variable()
        train = optimizer.minimize(tf.reduce_sum(w * w), global_step=step, **(minimize or {}))
        names = [v.name for v in tf.global_variables()]
        return names, self.after(train, tf.global_variables(), 3)

    def averaged_copies(self, getter):
        """What a custom getter makes of a variable, and on which devices."""
        tf = self.tf
        with tf.variable_scope("model", custom_getter=getter):
            tf.get_variable("w", initializer=np.ones(2, np.float32))
        return [[v.name, v.device] for v in tf.global_variables() + tf.local_variables()]

    def getter_of(self, kind):
        """A custom getter with which one variable was made."""
        tf = self.tf
        getter = getattr(tf.contrib.opt, kind)("/cpu:0")
        with tf.variable_scope("model", custom_getter=getter):
            tf.get_variable("w", initializer=np.array([1.0, 2.0], np.float32))
        return getter

    def trained_copies(self, optimizer):
        """The copies of a variable after four steps."""
        tf = self.tf
        w, step = tf.trainable_variables()[0], tf.train.get_or_create_global_step()
        train = optimizer.minimize(tf.reduce_sum(w * w), global_step=step)
        variables = tf.global_variables() + tf.local_variables()
        start = optimizer.get_init_op(0)
        with self.session() as sess:
            sess.run(start)
            for _ in range(4):
                sess.run(train)
            return [v.name for v in variables], sess.run(variables)

    def minimized(self, interface):
        """What an optimizer outside the graph is given."""
        with self.session() as sess:
            return [interface._packed_bounds, len(interface._equalities), len(interface._inequalities), interface.optimizer_kwargs,
                    sess.run(interface._packed_loss_grad)]

    def one_variable(self):
        if "_one" not in self.__dict__:
            self._one = self.variable()
        return self._one

    def one_loss(self):
        return self.tf.reduce_sum(self.tf.square(self.one_variable()))


class _Doubled:
    """A layer without variables: its outputs are inputs times two, cut or padded to `units`."""

    variables = ()

    def __init__(self, tf, units):
        self.tf, self.units = tf, units

    def __call__(self, x):
        return x * 2.0

    def compute_output_shape(self, shape):
        return shape
