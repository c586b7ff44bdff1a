"""Devices without a slash, and tf.distribute."""
from machine import case

SPELLINGS = ["cpu:0", "CPU:0", "device:CPU:0", "job:worker/task:1/cpu:0", "cpu", "CPU:*", "job:ps", "/cpu:0", ""]


@case()
def spellings_of_devices(tf):
    out = []
    for text in SPELLINGS:
        with tf.device(text):
            out.append(tf.constant(1).device)
    with tf.device("job:ps"), tf.device("cpu:0"):
        out.append(tf.constant(1).device)
    return out


@case()
def nothing_to_run(tf):
    tf.constant(1)
    with tf.Session() as sess:
        return [sess.run([]), sess.run({}), sess.run(())]
