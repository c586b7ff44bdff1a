"""Automatic mixed precision: what turning it on and off says, and the optimizer that it gives."""
from machine import case


def outcome(function):
    try:
        return type(function()).__name__
    except ValueError as e:
        return str(e)


@case(nodes=False)
def the_graph_rewrite(tf):
    enable = tf.train.experimental.enable_mixed_precision_graph_rewrite
    out = [tf.config.optimizer.get_experimental_options().get("auto_mixed_precision")]
    out += [outcome(lambda: enable("x")), outcome(lambda: enable(tf.train.GradientDescentOptimizer(0.1), None)),
            outcome(lambda: enable(tf.train.GradientDescentOptimizer(0.1), "x")),
            outcome(lambda: enable(tf.train.GradientDescentOptimizer(0.1), 0.5))]
    made = tf.train.experimental.enable_mixed_precision_graph_rewrite(tf.train.AdamOptimizer(0.1), loss_scale="dynamic")
    out += [outcome(lambda: enable(made)), tf.config.optimizer.get_experimental_options().get("auto_mixed_precision")]
    w = tf.Variable([1.0, 2.0], name="w")
    train = made.minimize(tf.reduce_sum(w * w))
    out += [made.get_name(), made.get_slot_names(), made.get_slot(w, "m") is None]
    out += [sorted(v.name.rpartition("/")[2] for v in made.variables())]
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        out.append(sess.run(w))
    tf.train.experimental.disable_mixed_precision_graph_rewrite()
    return out + [tf.config.optimizer.get_experimental_options().get("auto_mixed_precision")]
