"""BERT fine-tuning in small: the encoder as published code wrote it, warm start, AdamW with warm-up, an Estimator."""
import math
import re

import numpy as np
import six
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
VOCAB, HIDDEN, LAYERS, HEADS, LENGTH = 30, 16, 2, 2, 10


class AdamWeightDecayOptimizer(tf.train.Optimizer):
    def __init__(self, learning_rate, weight_decay_rate=0.0, beta_1=0.9, beta_2=0.999, epsilon=1e-6,
                 exclude_from_weight_decay=None, name="AdamWeightDecayOptimizer"):
        super(AdamWeightDecayOptimizer, self).__init__(False, name)
        self.learning_rate, self.weight_decay_rate = learning_rate, weight_decay_rate
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon
        self.exclude_from_weight_decay = exclude_from_weight_decay

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        assignments = []
        for (grad, param) in grads_and_vars:
            if grad is None or param is None:
                continue
            param_name = self._get_variable_name(param.name)
            m = tf.get_variable(name=param_name + "/adam_m", shape=param.shape.as_list(), dtype=tf.float32,
                                trainable=False, initializer=tf.zeros_initializer())
            v = tf.get_variable(name=param_name + "/adam_v", shape=param.shape.as_list(), dtype=tf.float32,
                                trainable=False, initializer=tf.zeros_initializer())
            next_m = tf.multiply(self.beta_1, m) + tf.multiply(1.0 - self.beta_1, grad)
            next_v = tf.multiply(self.beta_2, v) + tf.multiply(1.0 - self.beta_2, tf.square(grad))
            update = next_m / (tf.sqrt(next_v) + self.epsilon)
            if self._do_use_weight_decay(param_name):
                update += self.weight_decay_rate * param
            next_param = param - self.learning_rate * update
            assignments.extend([param.assign(next_param), m.assign(next_m), v.assign(next_v)])
        return tf.group(*assignments, name=name)

    def _do_use_weight_decay(self, param_name):
        return not any(re.search(r, param_name) for r in self.exclude_from_weight_decay or ())

    def _get_variable_name(self, param_name):
        m = re.match("^(.*):\\d+$", param_name)
        return m.group(1) if m is not None else param_name


def create_optimizer(loss, init_lr, num_train_steps, num_warmup_steps):
    global_step = tf.train.get_or_create_global_step()
    learning_rate = tf.constant(value=init_lr, shape=[], dtype=tf.float32)
    learning_rate = tf.train.polynomial_decay(learning_rate, global_step, num_train_steps, end_learning_rate=0.0,
                                              power=1.0, cycle=False)
    global_steps_int = tf.cast(global_step, tf.int32)
    warmup_steps_int = tf.constant(num_warmup_steps, dtype=tf.int32)
    warmup_percent_done = tf.cast(global_steps_int, tf.float32) / tf.cast(warmup_steps_int, tf.float32)
    is_warmup = tf.cast(global_steps_int < warmup_steps_int, tf.float32)
    learning_rate = (1.0 - is_warmup) * learning_rate + is_warmup * init_lr * warmup_percent_done
    optimizer = AdamWeightDecayOptimizer(learning_rate, 0.01, exclude_from_weight_decay=["LayerNorm", "layer_norm", "bias"])
    tvars = tf.trainable_variables()
    grads, _ = tf.clip_by_global_norm(tf.gradients(loss, tvars), clip_norm=1.0)
    train_op = optimizer.apply_gradients(zip(grads, tvars), global_step=global_step)
    with tf.control_dependencies([train_op]):  # published code lets this race with the rate
        return global_step.assign(global_step + 1).op


def gelu(x):
    return 0.5 * (1.0 + tf.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * tf.pow(x, 3)))) * x


def layer_norm(x, name="LayerNorm"):
    with tf.variable_scope(name):
        beta = tf.get_variable("beta", [HIDDEN], initializer=tf.zeros_initializer())
        gamma = tf.get_variable("gamma", [HIDDEN], initializer=tf.ones_initializer())
        mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
        return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-12)


def init(seed):
    return tf.truncated_normal_initializer(stddev=0.1, seed=seed)


def attention(x, mask, seed):
    batch = tf.shape(x)[0]

    def heads(t):
        return tf.transpose(tf.reshape(t, [batch, LENGTH, HEADS, HIDDEN // HEADS]), [0, 2, 1, 3])
    q, k, v = [tf.layers.dense(x, HIDDEN, name=n, kernel_initializer=init(seed + i))
               for i, n in enumerate(("query", "key", "value"))]
    scores = tf.matmul(heads(q), heads(k), transpose_b=True) / math.sqrt(HIDDEN / HEADS)
    scores += (1.0 - tf.cast(mask[:, None, None, :], tf.float32)) * -10000.0
    context = tf.matmul(tf.nn.softmax(scores), heads(v))
    return tf.reshape(tf.transpose(context, [0, 2, 1, 3]), [batch, LENGTH, HIDDEN])


def bert(ids, mask, segments):
    with tf.variable_scope("bert"):
        with tf.variable_scope("embeddings"):
            table = tf.get_variable("word_embeddings", [VOCAB, HIDDEN], initializer=init(1))
            types = tf.get_variable("token_type_embeddings", [2, HIDDEN], initializer=init(2))
            positions = tf.get_variable("position_embeddings", [32, HIDDEN], initializer=init(3))
            x = tf.gather(table, ids) + tf.tensordot(tf.one_hot(segments, 2), types, 1)
            x = layer_norm(x + tf.slice(positions, [0, 0], [LENGTH, -1])[None])
        with tf.variable_scope("encoder"):
            for i in range(LAYERS):
                with tf.variable_scope("layer_%d" % i):
                    with tf.variable_scope("attention"):
                        with tf.variable_scope("self"):
                            a = attention(x, mask, 10 * i + 4)
                        with tf.variable_scope("output"):
                            a = layer_norm(tf.layers.dense(a, HIDDEN, kernel_initializer=init(10 * i + 8)) + x)
                    with tf.variable_scope("intermediate"):
                        h = tf.layers.dense(a, 4 * HIDDEN, activation=gelu, kernel_initializer=init(10 * i + 9))
                    with tf.variable_scope("output"):
                        x = layer_norm(tf.layers.dense(h, HIDDEN, kernel_initializer=init(10 * i + 10)) + a)
        with tf.variable_scope("pooler"):
            first = tf.squeeze(x[:, 0:1, :], axis=1)
            return tf.layers.dense(first, HIDDEN, activation=tf.tanh, kernel_initializer=init(50))


def get_assignment_map_from_checkpoint(tvars, checkpoint):
    names = {re.match("^(.*):\\d+$", v.name).group(1): v for v in tvars}
    return {n: n for n, _ in tf.train.list_variables(checkpoint) if n in names}


def model_fn(features, labels, mode, params):
    pooled = bert(features["input_ids"], features["input_mask"], features["segment_ids"])
    if mode == tf.estimator.ModeKeys.TRAIN:
        pooled = tf.nn.dropout(pooled, keep_prob=1.0)
    w = tf.get_variable("output_weights", [2, HIDDEN], initializer=init(60))
    b = tf.get_variable("output_bias", [2], initializer=tf.zeros_initializer())
    logits = tf.nn.bias_add(tf.matmul(pooled, w, transpose_b=True), b)
    log_probs = tf.nn.log_softmax(logits, axis=-1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"probabilities": tf.exp(log_probs)})
    loss = tf.reduce_mean(-tf.reduce_sum(tf.one_hot(labels, 2) * log_probs, axis=-1))
    initialized = get_assignment_map_from_checkpoint(tf.trainable_variables(), params["init"])
    tf.train.init_from_checkpoint(params["init"], initialized)
    if mode == tf.estimator.ModeKeys.TRAIN:
        print("initialized", len(initialized), "of", len(tf.trainable_variables()))
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=create_optimizer(loss, 4e-3, 24, 4))
    return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={
        "eval_accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, -1)), "eval_loss": tf.metrics.mean(loss)})


def data():
    rng = np.random.RandomState(7)
    ids = rng.randint(2, VOCAB, (32, LENGTH)).astype(np.int32)
    lengths = rng.randint(4, LENGTH + 1, 32)
    mask = (np.arange(LENGTH)[None] < lengths[:, None]).astype(np.int32)
    return {"input_ids": ids * mask, "input_mask": mask, "segment_ids": np.zeros_like(ids)}, (ids[:, 1] > 15).astype(np.int32)


def input_fn(epochs):
    features, labels = data()
    return lambda: tf.data.Dataset.from_tensor_slices((features, labels)).repeat(epochs).batch(8, drop_remainder=True)


def main(_):
    with tf.Graph().as_default(), tf.Session() as sess:  # what a published checkpoint would be
        bert(tf.zeros([1, LENGTH], tf.int32), tf.ones([1, LENGTH], tf.int32), tf.zeros([1, LENGTH], tf.int32))
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(sess, "pretrained/bert_model.ckpt")
    estimator = tf.estimator.Estimator(model_fn, "model", params={"init": path}, config=tf.estimator.RunConfig(
        save_checkpoints_steps=12, keep_checkpoint_max=1, tf_random_seed=1))
    estimator.train(input_fn(6), max_steps=24)
    for key, value in sorted(six.iteritems(estimator.evaluate(input_fn(1)))):
        print("%s = %.4f" % (key, value))
    predictions = [p["probabilities"] for p in estimator.predict(input_fn(1))]
    print("predicted", [[round(float(v), 3) for v in p] for p in predictions[:3]])
    names = estimator.get_variable_names()
    print(len(names), "variables", [n for n in sorted(names) if "layer_0/output/dense" in n])


if __name__ == "__main__":
    tf.app.run()
