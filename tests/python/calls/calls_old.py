"""Names of before 1.0, and what they stood for."""
import numpy as np

from machine import case


@case
def arithmetic(tf):
    return [tf.mul([1.0, 2.0], [3.0, 4.0]), tf.mul(2, 3)]


@case
def summaries(tf):
    x = tf.constant(2.0)
    made = [tf.scalar_summary("loss", x), tf.histogram_summary("h", tf.constant([1.0, 2.0])),
            tf.image_summary("i", tf.constant(np.zeros((1, 2, 2, 3), np.float32)))]
    merged = tf.merge_all_summaries()
    with tf.Session() as sess:
        return [sess.run(made), len(sess.run(merged)), [m.op.type for m in made], len(tf.get_collection("summaries"))]


@case
def writers(tf):
    import glob
    writer = tf.train.SummaryWriter("logs")
    with tf.Session() as sess:
        writer.add_summary(sess.run(tf.scalar_summary("loss", tf.constant(2.0))), 3)
    writer.flush()
    writer.close()
    path, = glob.glob("logs/*tfevents*")
    return [(e.step, [(v.tag, v.simple_value) for v in e.summary.value]) for e in tf.train.summary_iterator(path)]
