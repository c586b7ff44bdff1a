"""Multi-tower training in the style of cifar10_multi_gpu_train: device scopes, reuse, average_gradients, device fns."""

import numpy as np
import re
import tensorflow as tf

TOWER_NAME = "tower"
NUM = 2


def _variable_on_cpu(name, shape, initializer):
    with tf.device("/cpu:0"):
        return tf.get_variable(name, shape, initializer=initializer, dtype=tf.float32)


def _variable_with_weight_decay(name, shape, stddev, wd):
    var = _variable_on_cpu(
        name, shape, tf.truncated_normal_initializer(stddev=stddev, dtype=tf.float32, seed=len(name))
    )
    if wd is not None:
        weight_decay = tf.multiply(tf.nn.l2_loss(var), wd, name="weight_loss")
        tf.add_to_collection("losses", weight_decay)
    return var


def _activation_summary(x):
    tensor_name = re.sub("%s_[0-9]*/" % TOWER_NAME, "", x.op.name)
    tf.summary.histogram(tensor_name + "/activations", x)
    tf.summary.scalar(tensor_name + "/sparsity", tf.nn.zero_fraction(x))


def inference(x):
    with tf.variable_scope("local1") as scope:
        w = _variable_with_weight_decay("weights", [8, 12], 0.3, 0.004)
        b = _variable_on_cpu("biases", [12], tf.constant_initializer(0.1))
        h = tf.nn.relu(tf.matmul(x, w) + b, name=scope.name)
        _activation_summary(h)
    with tf.variable_scope("softmax_linear") as scope:
        w = _variable_with_weight_decay("weights", [12, 3], 1 / 12.0, 0.0)
        b = _variable_on_cpu("biases", [3], tf.constant_initializer(0.0))
        return tf.add(tf.matmul(h, w), b, name=scope.name)


def tower_loss(scope, images, labels):
    logits = inference(images)
    ce = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.cast(labels, tf.int64), logits=logits, name="cross_entropy_per_example"
    )
    tf.add_to_collection("losses", tf.reduce_mean(ce, name="cross_entropy"))
    losses = tf.get_collection("losses", scope)
    total_loss = tf.add_n(losses, name="total_loss")
    for l in losses + [total_loss]:
        loss_name = re.sub("%s_[0-9]*/" % TOWER_NAME, "", l.op.name)
        tf.summary.scalar(loss_name, l)
    return total_loss


def average_gradients(tower_grads):
    average_grads = []
    for grad_and_vars in zip(*tower_grads):
        grads = []
        for g, _ in grad_and_vars:
            grads.append(tf.expand_dims(g, 0))
        grad = tf.reduce_mean(tf.concat(axis=0, values=grads), 0)
        average_grads.append((grad, grad_and_vars[0][1]))
    return average_grads


rng = np.random.RandomState(0)
X = rng.randn(64, 8).astype("f")
Y = X[:, :3].argmax(1).astype("int32")
with tf.Graph().as_default() as g, tf.device("/cpu:0"):
    tf.set_random_seed(1)
    global_step = tf.get_variable("global_step", [], initializer=tf.constant_initializer(0), trainable=False)
    lr = tf.train.exponential_decay(0.1, global_step, 10, 0.9, staircase=True)
    opt = tf.train.GradientDescentOptimizer(lr)
    images, labels = tf.placeholder(tf.float32, [64, 8]), tf.placeholder(tf.int32, [64])
    img, lab = tf.split(images, NUM), tf.split(labels, NUM)
    tower_grads = []
    with tf.variable_scope(tf.get_variable_scope()):
        for i in range(NUM):
            with tf.device("/gpu:%d" % i):
                with tf.name_scope("%s_%d" % (TOWER_NAME, i)) as scope:
                    loss = tower_loss(scope, img[i], lab[i])
                    tf.get_variable_scope().reuse_variables()
                    summaries = tf.get_collection(tf.GraphKeys.SUMMARIES, scope)
                    grads = opt.compute_gradients(loss)
                    tower_grads.append(grads)
    grads = average_gradients(tower_grads)
    summaries.append(tf.summary.scalar("learning_rate", lr))
    for grad, var in grads:
        if grad is not None:
            summaries.append(tf.summary.histogram(var.op.name + "/gradients", grad))
    apply_gradient_op = opt.apply_gradients(grads, global_step=global_step)
    for var in tf.trainable_variables():
        summaries.append(tf.summary.histogram(var.op.name, var))
    variable_averages = tf.train.ExponentialMovingAverage(0.9, global_step)
    variables_averages_op = variable_averages.apply(tf.trainable_variables())
    train_op = tf.group(apply_gradient_op, variables_averages_op)
    saver = tf.train.Saver(tf.global_variables())
    summary_op = tf.summary.merge(summaries)
    init = tf.global_variables_initializer()
    for v in tf.global_variables():
        print(v.name, v.device, v.shape)
    print(
        loss.name,
        loss.device,
        grads[0][0].name,
        grads[0][0].device,
        [s.name for s in summaries],
        len(tf.get_collection("losses")),
    )
    print([o.device for o in g.get_operations() if o.name.startswith("tower_1/local1")])
    sess = tf.Session(config=tf.ConfigProto(allow_soft_placement=True, log_device_placement=False))
    sess.run(init)
    tf.train.start_queue_runners(sess=sess)
    writer = tf.summary.FileWriter("train", sess.graph)
    for step in range(21):
        _, loss_value = sess.run([train_op, loss], {images: X, labels: Y})
        assert not np.isnan(loss_value), "Model diverged with loss = NaN"
        if step % 10 == 0:
            s = sess.run(summary_op, {images: X, labels: Y})
            writer.add_summary(s, step)
            m = tf.Summary.FromString(s)
            print(step, "%.4f" % loss_value, [(v.tag, "%.4f" % (v.simple_value or v.histo.sum)) for v in m.value])


def dev(op):
    return "/job:ps/task:0" if op.type == "VariableV2" else "/job:worker/task:1"


with tf.Graph().as_default() as g:
    with tf.device(dev):
        v = tf.get_variable("v", [2])
        c = v * 2
        with tf.device("/cpu:1"):
            d = c + 1
        with tf.device(None):
            e = c + 2
        with tf.device(tf.train.replica_device_setter(ps_tasks=2, worker_device="/job:w/gpu:0")):
            f = tf.get_variable("f", [3])
            h = tf.get_variable("h", [1])
            k = f * 1
        with tf.colocate_with(c, ignore_existing=True):
            m = tf.identity(d, "m")
        with tf.colocate_with(v):
            n = tf.identity(d, "n")
    print(
        [x.device for x in (v, c, d, e, f, h, k, m, n)],
        n.op.colocation_groups(),
        tf.DeviceSpec.from_string(k.device).device_type,
        tf.DeviceSpec(job="a", task=3, device_type="GPU", device_index=1).to_string(),
    )
