"""What recipes do with results of tf.keras."""


class KerasUses:
    """The ways to use results of tf.keras, for one system; Uses has tf."""

    def keras_metric(self, metric):
        """What is known of a metric of Keras before it runs; calls_keras_metrics.py compares the values."""
        return [(v.name, v.dtype.base_dtype, v.get_shape()) for v in metric.variables], metric.get_config(), metric.name

    def keras_model(self):
        k = self.tf.keras
        return k.Sequential([k.layers.Dense(2, input_shape=(3,), name="first"), k.layers.Dense(1, name="second")], name="model")

    def keras_seeds(self, tool):
        with tool.scope():
            made = [self.tf.random_uniform([2]) for _ in range(2)]
        return [[t.op.get_attr("seed"), t.op.get_attr("seed2")] if t.op.type == "RandomUniform" else t.op.type for t in made]

    def keras_copy(self, layer):
        return self.tf.keras.layers.Dense(3)

    def keras_saved(self):
        model = self.keras_model()
        model.compile("sgd", "mse")
        model.save("saved.h5")
        return "saved.h5"

    def keras_tokenizer(self, tokenizer):
        tokenizer.fit_on_texts(["One two two", "two three", "Four"])
        return tokenizer

    def keras_tokens(self, tokenizer):
        """What a tokenizer makes of texts."""
        tokenizer = self.keras_tokenizer(tokenizer)
        found = tokenizer.texts_to_sequences(["one two five", "Two"])
        return (found, tokenizer.sequences_to_texts(found), tokenizer.word_index,
                [tokenizer.texts_to_matrix(["one two two", "two"], mode) for mode in ("binary", "count", "freq", "tfidf")])

    def here(self, name):
        import os
        return os.path.abspath(name)

    def base(self, path):
        import os
        return os.path.basename(path), os.path.exists(path)

    def unsized(self, x):
        """A tensor of which only the rank is known."""
        return self.tf.placeholder_with_default(x, [None] * x.shape.ndims, name="unsized")

    def folded(self, a, b):
        return a * 0.5 + b

    def keras_step(self, x, states):
        """A step for tf.keras.backend.rnn; what comes after the state are constants."""
        made = self.tf.tanh(x + states[0] * 0.5)
        return made * (2 if len(states) > 1 else 1), [made]

    # ---- columns of sequences, heads of estimators ----

    def sequence(self, column):
        """The tensor and the lengths of a column of sequences."""
        tf = self.tf
        at, size = [[0, 0], [0, 1], [1, 0]], [3, 2]
        words, numbers = tf.SparseTensor(at, ["a", "b", "x"], size), tf.SparseTensor(at, tf.constant([1, 9, 3], tf.int64), size)
        floats = tf.SparseTensor(at, [1.0, 2.0, 3.0], size)
        made, lengths = tf.keras.experimental.SequenceFeatures([column])({"w": words, "v": words, "i": numbers, "j": numbers,
                                                                          "n": floats, "m": floats})
        return made, tf.reduce_sum(lengths * [1, 10, 100])

    def absolute_loss(self, labels, logits):
        tf = self.tf
        return tf.abs(tf.reduce_sum(tf.to_float(labels), -1, keepdims=True) - tf.reduce_sum(logits, -1, keepdims=True))

    def head_loss(self, head):
        """The loss of logits and labels that suit a head."""
        tf, n = self.tf, head.logits_dimension
        several = "MultiLabel" in type(head).__name__ or "Regression" in type(head).__name__
        labels = tf.ones([2, n]) if several else tf.constant([[1], [0]])
        return head.loss(labels, tf.reshape(tf.range(2.0 * n), [2, n]), features={"w": tf.constant([[1.0], [3.0]])})
