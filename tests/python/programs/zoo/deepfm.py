"""DeepFM for click prediction: first order, second order, deep part, dropout, AUC, early stopping by hand."""
import numpy as np
import tensorflow as tf


class DeepFM(object):
    def __init__(self, feature_size, field_size, embedding_size=8, deep_layers=(16, 16), dropout_deep=0.9,
                 learning_rate=0.02, l2_reg=1e-3, batch_norm=True, seed=2016):
        self.feature_size, self.field_size, self.embedding_size = feature_size, field_size, embedding_size
        self.deep_layers, self.keep, self.l2_reg, self.batch_norm = deep_layers, dropout_deep, l2_reg, batch_norm
        self.graph = tf.Graph()
        with self.graph.as_default():
            tf.set_random_seed(seed)
            self._build(learning_rate)
            self.sess = tf.Session(config=tf.ConfigProto(device_count={"gpu": 0}))
            self.sess.run(tf.global_variables_initializer())
            self.sess.run(tf.local_variables_initializer())

    def _build(self, learning_rate):
        self.feat_index = tf.placeholder(tf.int32, [None, None], name="feat_index")
        self.feat_value = tf.placeholder(tf.float32, [None, None], name="feat_value")
        self.label = tf.placeholder(tf.float32, [None, 1], name="label")
        self.keep_prob = tf.placeholder_with_default(1.0, [], name="keep_prob")
        self.train_phase = tf.placeholder(tf.bool, name="train_phase")
        weights = {
            "feature_embeddings": tf.Variable(tf.random_normal([self.feature_size, self.embedding_size], 0.0, 0.1, seed=1),
                                              name="feature_embeddings"),
            "feature_bias": tf.Variable(tf.random_uniform([self.feature_size, 1], 0.0, 1.0, seed=2), name="feature_bias")}
        embeddings = tf.nn.embedding_lookup(weights["feature_embeddings"], self.feat_index)
        value = tf.reshape(self.feat_value, [-1, self.field_size, 1])
        embeddings = tf.multiply(embeddings, value)
        first = tf.reduce_sum(tf.multiply(tf.nn.embedding_lookup(weights["feature_bias"], self.feat_index), value), 2)
        summed_square = tf.square(tf.reduce_sum(embeddings, 1))
        second = 0.5 * tf.subtract(summed_square, tf.reduce_sum(tf.square(embeddings), 1))
        deep = tf.reshape(embeddings, [-1, self.field_size * self.embedding_size])
        size = self.field_size * self.embedding_size
        for i, units in enumerate(self.deep_layers):
            glorot = np.sqrt(2.0 / (size + units))
            rng = np.random.RandomState(i)
            w = tf.Variable(rng.normal(0, glorot, (size, units)), dtype=np.float32, name="layer_%d" % i)
            b = tf.Variable(rng.normal(0, glorot, (1, units)), dtype=np.float32, name="bias_%d" % i)
            deep = tf.add(tf.matmul(deep, w), b)
            if self.batch_norm:
                deep = tf.layers.batch_normalization(deep, training=self.train_phase, name="bn_%d" % i)
            deep = tf.nn.dropout(tf.nn.relu(deep), self.keep_prob, seed=i)
            weights["layer_%d" % i] = w
            size = units
        joined = tf.concat([first, second, deep], axis=1)
        rng = np.random.RandomState(9)
        n = self.field_size + self.embedding_size + size
        last = tf.Variable(rng.normal(0, np.sqrt(2.0 / (n + 1)), (n, 1)), dtype=np.float32, name="projection")
        self.out = tf.nn.sigmoid(tf.matmul(joined, last) + tf.Variable(tf.constant(0.01), name="concat_bias"))
        self.loss = tf.losses.log_loss(self.label, self.out)
        for i in range(len(self.deep_layers)):
            self.loss += tf.nn.l2_loss(weights["layer_%d" % i]) * self.l2_reg
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            self.optimizer = tf.train.AdagradOptimizer(learning_rate, initial_accumulator_value=1e-8).minimize(self.loss)
        self.auc, self.auc_update = tf.metrics.auc(self.label, self.out, num_thresholds=200)
        self.reset = tf.variables_initializer(tf.get_collection(tf.GraphKeys.METRIC_VARIABLES))

    def feed(self, xi, xv, y, train):
        return {self.feat_index: xi, self.feat_value: xv, self.label: y, self.train_phase: train,
                self.keep_prob: self.keep if train else 1.0}

    def fit_on_batch(self, xi, xv, y):
        return self.sess.run([self.loss, self.optimizer], self.feed(xi, xv, y, True))[0]

    def evaluate(self, xi, xv, y):
        self.sess.run(self.reset)
        self.sess.run(self.auc_update, self.feed(xi, xv, y, False))
        return self.sess.run(self.auc)


def clicks(n, fields=5, values=8):
    rng = np.random.RandomState(42)
    xi = rng.randint(0, values, (n, fields)) + values * np.arange(fields)
    xv = np.ones((n, fields), np.float32)
    w = rng.randn(fields * values)
    y = (w[xi].sum(1) + w[xi[:, 0]] * w[xi[:, 1]] + 0.3 * rng.randn(n) > 0).astype(np.float32)[:, None]
    return xi, xv, y


xi, xv, y = clicks(1024)
model = DeepFM(feature_size=40, field_size=5)
best, waited = 0.0, 0
for epoch in range(4):
    losses = [model.fit_on_batch(xi[i:i + 64], xv[i:i + 64], y[i:i + 64]) for i in range(0, 896, 64)]
    auc = model.evaluate(xi[896:], xv[896:], y[896:])
    print("[%d] train-loss=%.4f, valid-auc=%.4f" % (epoch + 1, np.mean(losses), auc))
    waited = 0 if auc > best else waited + 1
    best = max(best, auc)
    if waited > 1:
        break
print("parameters", sum(int(np.prod(v.get_shape().as_list())) for v in model.graph.get_collection("trainable_variables")))
