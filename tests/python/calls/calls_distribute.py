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


@case(nodes=False)
def loss_scales(tf):
    out = []
    for scale in (tf.train.experimental.FixedLossScale(8.0), tf.train.experimental.DynamicLossScale(16.0, 2, 2.0)):
        with tf.variable_scope(type(scale).__name__):
            for kind in (tf.train.GradientDescentOptimizer(0.1), tf.train.AdamOptimizer(0.1)):
                w, e = tf.Variable(1.0, name="w"), tf.Variable([1.0, 2.0], name="e")
                x = tf.placeholder(tf.float32, [])
                optimizer = tf.train.experimental.MixedPrecisionLossScaleOptimizer(kind, scale)
                train = optimizer.minimize(w * x + tf.reduce_sum(tf.gather(e, [1])), var_list=[w, e])
                with tf.Session() as sess:
                    sess.run(tf.global_variables_initializer())
                    for value in (1.0, float("inf") if "Dynamic" in type(scale).__name__ else 3.0, 2.0, 1.0, 1.0):
                        sess.run(train, {x: value})
                        out.append(sess.run([w, e, scale()]))
    return [out, scale.get_config()]


@case(nodes=False)
def method_names(tf):
    x = tf.placeholder(tf.float32, [None], name="x")
    with tf.Session() as sess:
        tf.saved_model.simple_save(sess, "model", {"x": x}, {"y": x + 1.0})
    updater = tf.saved_model.signature_def_utils.MethodNameUpdater("model")
    updater.replace_method_name(signature_key="serving_default", method_name="classify", tags="serve")
    tf.gfile.MakeDirs("other")
    updater.save(new_export_dir="other")
    out = []
    for folder in ("model", "other"):
        with tf.Graph().as_default(), tf.Session() as sess:
            out.append(tf.saved_model.load(sess, ["serve"], folder).signature_def["serving_default"].method_name)
    for wrong in (("none", "m", None), ("serving_default", "", None), ("serving_default", "m", ["no"])):
        try:
            updater.replace_method_name(*wrong)
        except ValueError as e:
            out.append(str(e)[:60])
    return out
