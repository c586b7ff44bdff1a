"""Savers: renames, subsets, max_to_keep, import_meta_graph and continued training, checkpoint readers, optimistic restore."""

import os
import numpy as np
import tensorflow as tf


def model():
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    with tf.variable_scope("net"):
        h = tf.layers.dense(x, 5, tf.nn.tanh, name="fc", kernel_initializer=tf.glorot_uniform_initializer(seed=1))
        with tf.variable_scope("bn"):
            b = tf.layers.batch_normalization(h, training=True, name="b")
    y = tf.layers.dense(b, 1, name="out", kernel_initializer=tf.glorot_uniform_initializer(seed=2))
    loss = tf.reduce_mean(tf.square(y - tf.reduce_sum(x, 1, keepdims=True)), name="loss")
    gs = tf.train.get_or_create_global_step()
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = tf.train.AdamOptimizer(0.05).minimize(loss, global_step=gs, name="train")
    return x, loss, train, gs


rng = np.random.RandomState(0)
data = rng.randn(32, 4)
with tf.Graph().as_default():
    x, loss, train, gs = model()
    tf.add_to_collection("train_op", train)
    tf.add_to_collection("loss", loss)
    tf.add_to_collection("x", x)
    saver = tf.train.Saver(max_to_keep=2, keep_checkpoint_every_n_hours=1000, name="mysaver", pad_step_number=True)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(4):
            for _ in range(3):
                sess.run(train, {x: data})
            path = saver.save(
                sess,
                "ck/model",
                global_step=gs,
                write_meta_graph=(i == 3),
                latest_filename="latest",
                meta_graph_suffix="MG",
            )
            print(path, "%.5f" % sess.run(loss, {x: data}))
        print(
            saver.last_checkpoints,
            sorted(os.listdir("ck")),
            saver.saver_def.filename_tensor_name,
            saver.saver_def.restore_op_name,
            saver.saver_def.save_tensor_name,
        )
        st = tf.train.get_checkpoint_state("ck", "latest")
        print(
            st.model_checkpoint_path,
            list(st.all_model_checkpoint_paths),
            tf.train.latest_checkpoint("ck"),
            tf.train.latest_checkpoint("ck", "latest"),
        )
        print(
            tf.train.checkpoint_exists(path),
            tf.train.checkpoint_exists("ck/nope"),
            len(tf.train.get_checkpoint_mtimes([path])),
        )
        w0 = sess.run(tf.global_variables())
        tf.train.Saver({"renamed/" + v.op.name: v for v in tf.trainable_variables()}).save(
            sess, "ck/renamed", write_state=False
        )
        final = path
r = tf.train.NewCheckpointReader(final)
print(
    sorted(r.get_variable_to_shape_map().items()),
    str(r.get_variable_to_dtype_map()["global_step"]),
    r.has_tensor("net/fc/kernel"),
    "%.5f" % r.get_tensor("net/fc/kernel").sum(),
)
print(
    tf.train.list_variables("ck/renamed"),
    "%.5f" % tf.train.load_variable("ck/renamed", "renamed/out/kernel").sum(),
    tf.train.load_checkpoint("ck/renamed").get_tensor("renamed/out/bias").shape,
)
with tf.Graph().as_default() as g, tf.Session() as sess:
    saver = tf.train.import_meta_graph(
        "ck/model-%08d.MG" % 12 if os.path.exists("ck/model-%08d.MG" % 12) else final + ".MG", clear_devices=True
    )
    saver.restore(sess, final)
    x, loss, train = g.get_tensor_by_name("x:0"), tf.get_collection("loss")[0], tf.get_collection_ref("train_op")[0]
    print(
        type(train).__name__,
        tf.get_collection("x")[0] is x,
        [v.name for v in tf.trainable_variables()],
        len(tf.global_variables()),
        sorted(g.get_all_collection_keys()),
    )
    print(all((a == b).all() for a, b in zip(w0, sess.run(tf.global_variables()))), tf.train.get_global_step(g).eval())
    for _ in range(3):
        sess.run(train, {x: data})
    print("%.5f" % sess.run(loss, {x: data}), sess.run("global_step:0"))
    with g.as_default():
        v = tf.get_variable("extra", [3], initializer=tf.ones_initializer())
        y2 = tf.reduce_sum(v) + loss
        sess.run(v.initializer)
        print("%.4f" % sess.run(y2, {x: data}))
with tf.Graph().as_default(), tf.Session() as sess:
    with tf.variable_scope("renamed/net/fc"):
        k = tf.get_variable("kernel", [4, 5])
        b = tf.get_variable("bias", [5])
    with tf.variable_scope("mine"):
        o = tf.get_variable("o", [5, 1])
    tf.train.init_from_checkpoint("ck/renamed", {"renamed/out/kernel": o})
    tf.train.init_from_checkpoint("ck/renamed", {"renamed/net/": "renamed/net/"})
    sess.run(tf.global_variables_initializer())
    print("%.5f %.5f" % (sess.run(k).sum(), sess.run(o).sum()))
    s = tf.train.Saver([k, b])
    s.restore(sess, "ck/renamed")
    for make in (
        lambda: tf.train.Saver([o]).restore(sess, "ck/renamed"),
        lambda: s.restore(sess, "ck/missing"),
        lambda: s.restore(sess, None),
        lambda: tf.train.Saver({"renamed/net/fc/bias": k}).restore(sess, "ck/renamed"),
        lambda: tf.train.Saver([k, k]),
        lambda: tf.train.Saver({}),
        lambda: tf.train.import_meta_graph("nope.meta"),
        lambda: tf.train.NewCheckpointReader("nope"),
        lambda: s.save(sess, "no/such/dir/m"),
        lambda: tf.train.Saver({"a": 3}),
        lambda: tf.train.init_from_checkpoint("ck/renamed", {"renamed/out/bias": o}),
    ):
        try:
            print(make())
        except Exception as e:
            m = [l for l in str(e).split("\n") if l.strip() and not l.startswith(("Graph exec", "Detected", "Node"))]
            print(type(e).__name__, m[0].split("[[")[0][:75] if "Restoring" in m[0] or "No such" not in str(e) else "")
    sh = tf.train.Saver([k, b, o], sharded=True, reshape=False, allow_empty=True)
    print(sorted(os.path.basename(p) for p in [sh.save(sess, "ck/sh")] + os.listdir("ck") if "sh" in p))
    sh.set_last_checkpoints_with_time([("ck/a", 1.0)])
    print(sh.last_checkpoints, sh.as_saver_def().sharded, sh.to_proto().max_to_keep)
    tf.train.update_checkpoint_state("ck", "ck/sh", ["ck/renamed", "ck/sh"])
    print(open("ck/checkpoint").read())
    tf.train.remove_checkpoint("ck/sh")
    print([f for f in os.listdir("ck") if "sh" in f])
