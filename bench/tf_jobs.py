"""tf_jobs.py SYSTEM JOB [--shape SHAPE] [--optimizer NAME]

The bench's jobs in one process, as a TensorFlow 1 program: on TensorFlow, or on Weft.
"""
import sys

import tf_models
import tf_pipelines
import tf_sparse
from jobs import batches, converse, parse_job, tell_check
from library import load

tf = load(sys.argv[1])
MODELS = {**tf_models.MODELS, **tf_sparse.MODELS}


def dense(x, n, name):
    w = tf.get_variable(name + "/w", [x.shape[1], n], initializer=tf.truncated_normal_initializer(stddev=0.1))
    b = tf.get_variable(name + "/b", [n], initializer=tf.zeros_initializer())
    return tf.matmul(x, w) + b


def conv_pool(x, n, name):
    w = tf.get_variable(name + "/w", [5, 5, x.shape[3], n], initializer=tf.truncated_normal_initializer(stddev=0.1))
    b = tf.get_variable(name + "/b", [n], initializer=tf.zeros_initializer())
    h = tf.nn.relu(tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME") + b)
    return tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")


def softmax(x):
    return dense(x, 10, "out"), tf.train.AdagradOptimizer(0.01)


def mlp(x):
    return dense(tf.nn.relu(dense(x, 500, "hidden")), 10, "out"), tf.train.GradientDescentOptimizer(0.01)


def cnn(x):
    h = conv_pool(conv_pool(tf.reshape(x, [-1, 28, 28, 1]), 32, "conv1"), 64, "conv2")
    h = tf.nn.relu(dense(tf.reshape(h, [-1, 7 * 7 * 64]), 1024, "hidden"))
    return dense(h, 10, "out"), tf.train.AdamOptimizer(1e-4)


def inputs():
    """Placeholders for images and labels, and what step i feeds to them."""
    x = tf.placeholder(tf.float32, [None, 784])
    y = tf.placeholder(tf.int64, [None])
    data = [{x: images, y: labels} for images, labels in batches()]
    return x, y, lambda i: data[i % len(data)]


def mean_loss(logits, labels):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


def trainer(model):
    x, y, feed = inputs()
    logits, optimizer = model(x)
    return optimizer.minimize(mean_loss(logits, y)), feed


def run_model(job, shape):
    """Starts from the values that all systems share, and tells the losses of the first steps."""
    model = MODELS[job](tf, shape)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        tf_models.load_shared(tf, session)
        tell_check(lambda i: session.run([model.check, model.step], model.feed(i))[0])
        converse(lambda i: session.run(model.step, model.feed(i)), 3)


def main(job, shape):
    if job in MODELS:
        run_model(job, shape)
        return
    if job in tf_pipelines.JOBS:
        with tf_pipelines.JOBS[job](tf, shape) as (step, check):
            tell_check(check)
            converse(step, 1)
        return
    feed = lambda i: None  # noqa: E731
    if job == "empty":
        fetch = tf.no_op()
    elif job == "add":
        fetch = tf.assign_add(tf.train.get_or_create_global_step(), 1)
    else:
        fetch, feed = trainer({"softmax": softmax, "mlp": mlp, "cnn": cnn}[job])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        converse(lambda i: session.run(fetch, feed(i)), 5 if job == "cnn" else 50)


if __name__ == "__main__":
    main(*parse_job(sys.argv[2:]))
