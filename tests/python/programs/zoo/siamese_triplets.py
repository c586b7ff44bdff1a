"""Triplet and contrastive losses, batch-hard mining, shared variables by reuse."""

import numpy as np
import tensorflow as tf


def _pairwise_distances(embeddings, squared=False):
    dot_product = tf.matmul(embeddings, tf.transpose(embeddings))
    square_norm = tf.diag_part(dot_product)
    distances = tf.expand_dims(square_norm, 1) - 2.0 * dot_product + tf.expand_dims(square_norm, 0)
    distances = tf.maximum(distances, 0.0)
    if not squared:
        mask = tf.to_float(tf.equal(distances, 0.0))
        distances = distances + mask * 1e-16
        distances = tf.sqrt(distances)
        distances = distances * (1.0 - mask)
    return distances


def _triplet_mask(labels):
    indices_equal = tf.cast(tf.eye(tf.shape(labels)[0]), tf.bool)
    indices_not_equal = tf.logical_not(indices_equal)
    i_not_equal_j = tf.expand_dims(indices_not_equal, 2)
    i_not_equal_k = tf.expand_dims(indices_not_equal, 1)
    j_not_equal_k = tf.expand_dims(indices_not_equal, 0)
    distinct = tf.logical_and(tf.logical_and(i_not_equal_j, i_not_equal_k), j_not_equal_k)
    label_equal = tf.equal(tf.expand_dims(labels, 0), tf.expand_dims(labels, 1))
    valid = tf.logical_and(tf.expand_dims(label_equal, 2), tf.logical_not(tf.expand_dims(label_equal, 1)))
    return tf.logical_and(distinct, valid)


def batch_all(labels, embeddings, margin, squared=False):
    d = _pairwise_distances(embeddings, squared)
    loss = tf.expand_dims(d, 2) - tf.expand_dims(d, 1) + margin
    mask = tf.to_float(_triplet_mask(labels))
    loss = tf.maximum(tf.multiply(mask, loss), 0.0)
    valid = tf.to_float(tf.greater(loss, 1e-16))
    num_pos = tf.reduce_sum(valid)
    return tf.reduce_sum(loss) / (num_pos + 1e-16), num_pos / (tf.reduce_sum(mask) + 1e-16)


def batch_hard(labels, embeddings, margin):
    d = _pairwise_distances(embeddings)
    same = tf.equal(tf.expand_dims(labels, 0), tf.expand_dims(labels, 1))
    mask_ap = tf.to_float(tf.logical_and(same, tf.logical_not(tf.cast(tf.eye(tf.shape(labels)[0]), tf.bool))))
    hardest_pos = tf.reduce_max(tf.multiply(mask_ap, d), axis=1, keepdims=True)
    mask_an = tf.to_float(tf.logical_not(same))
    max_an = tf.reduce_max(d, axis=1, keepdims=True)
    hardest_neg = tf.reduce_min(d + max_an * (1.0 - mask_an), axis=1, keepdims=True)
    return tf.reduce_mean(tf.maximum(hardest_pos - hardest_neg + margin, 0.0))


class siamese:
    def __init__(self):
        self.x1 = tf.placeholder(tf.float32, [None, 20])
        self.x2 = tf.placeholder(tf.float32, [None, 20])
        with tf.variable_scope("siamese") as scope:
            self.o1 = self.network(self.x1)
            scope.reuse_variables()
            self.o2 = self.network(self.x2)
        self.y_ = tf.placeholder(tf.float32, [None])
        self.loss = self.loss_with_spring()

    def network(self, x):
        fc1 = self.fc_layer(x, 16, "fc1")
        ac1 = tf.nn.relu(fc1)
        fc2 = self.fc_layer(ac1, 2, "fc2")
        return fc2

    def fc_layer(self, bottom, n_weight, name):
        assert len(bottom.get_shape()) == 2
        n_prev = bottom.get_shape()[1]
        initer = tf.truncated_normal_initializer(stddev=0.1, seed=5)
        W = tf.get_variable(name + "W", dtype=tf.float32, shape=[n_prev, n_weight], initializer=initer)
        b = tf.get_variable(
            name + "b", dtype=tf.float32, initializer=tf.constant(0.01, shape=[n_weight], dtype=tf.float32)
        )
        return tf.nn.bias_add(tf.matmul(bottom, W), b)

    def loss_with_spring(self):
        margin = 5.0
        labels_t = self.y_
        labels_f = tf.subtract(1.0, self.y_, name="one_minus_y")
        eucd2 = tf.reduce_sum(tf.pow(tf.subtract(self.o1, self.o2), 2), 1)
        eucd = tf.sqrt(eucd2 + 1e-6, name="eucd")
        C = tf.constant(margin, name="C")
        pos = tf.multiply(labels_t, eucd2, name="yi_x_eucd2")
        neg = tf.multiply(labels_f, tf.pow(tf.maximum(tf.subtract(C, eucd), 0), 2), name="Nyi_x_C-eucd_xx_2")
        losses = tf.add(pos, neg, name="losses")
        return tf.reduce_mean(losses, name="loss")


def main():
    rng = np.random.RandomState(1)
    centers = rng.randn(4, 20)
    y = rng.randint(0, 4, 60)
    x = (centers[y] + 0.3 * rng.randn(60, 20)).astype(np.float32)
    s = siamese()
    print(s.o1.get_shape(), s.o2.name, s.loss.name, [v.name for v in tf.trainable_variables()])
    train_step = tf.train.GradientDescentOptimizer(0.01).minimize(s.loss)
    with tf.Session() as sess:
        tf.initialize_all_variables().run()
        for step in range(40):
            a, b = rng.randint(0, 60, 16), rng.randint(0, 60, 16)
            _, loss_v = sess.run(
                [train_step, s.loss], feed_dict={s.x1: x[a], s.x2: x[b], s.y_: (y[a] == y[b]).astype("f")}
            )
            if np.isnan(loss_v):
                print("Model diverged with loss = NaN")
                quit()
            if step % 10 == 0:
                print("step %d: loss %.3f" % (step, loss_v))
        emb = s.o1.eval({s.x1: x})
        print(emb.shape, "%.4f" % emb.std())
    tf.reset_default_graph()
    tf.set_random_seed(7)
    xs, ys = tf.placeholder(tf.float32, [None, 20]), tf.placeholder(tf.int64, [None])
    h = tf.layers.dense(xs, 16, tf.nn.relu, name="h")
    e = tf.nn.l2_normalize(tf.layers.dense(h, 8, name="e"), dim=1, epsilon=1e-10)
    all_loss, frac = batch_all(ys, e, 0.5)
    hard = batch_hard(ys, e, 0.5)
    gs = tf.train.get_or_create_global_step()
    lr = tf.train.exponential_decay(0.05, gs, 10, 0.7, staircase=True)
    op = tf.train.MomentumOptimizer(lr, 0.9, use_nesterov=True).minimize(hard, global_step=gs)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(31):
            out = sess.run([all_loss, frac, hard, lr, gs, op], {xs: x[:30], ys: y[:30]})
            if i % 10 == 0:
                print("%.4f %.4f %.4f lr %.4f at %d %s" % tuple(out[:5] + [out[5]]))


if __name__ == "__main__":
    main()
