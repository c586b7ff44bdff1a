"""Train, export a SavedModel two ways, serve it with the loader and a frozen graph."""
import os
import shutil

import numpy as np
import tensorflow as tf

RNG = np.random.RandomState(0)
X = RNG.randn(64, 4).astype(np.float32)
Y = (X[:, 0] * 2 - X[:, 2] > 0).astype(np.int64)
LABELS = tf.constant(["no", "yes"])


def model(x):
    net = tf.layers.dense(x, 8, tf.nn.elu, kernel_initializer=tf.glorot_normal_initializer(seed=1), name="hidden")
    return tf.layers.dense(net, 2, kernel_initializer=tf.glorot_normal_initializer(seed=2), name="logits")


x = tf.placeholder(tf.float32, [None, 4], name="x")
y = tf.placeholder(tf.int64, [None], name="y")
logits = model(x)
prob = tf.nn.softmax(logits, name="prob")
table = tf.contrib.lookup.index_to_string_table_from_tensor(LABELS) if hasattr(tf, "contrib") else \
    tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(tf.constant([0, 1], tf.int64), LABELS), "?")
values, indices = tf.nn.top_k(prob, 2)
classes = table.lookup(tf.to_int64(indices))
loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
train = tf.train.ProximalAdagradOptimizer(0.3).minimize(loss)

serialized = tf.placeholder(tf.string, [None], name="tf_example")
parsed = tf.parse_example(serialized, {"x": tf.FixedLenFeature([4], tf.float32)})

with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
    for step in range(21):
        value, _ = sess.run([loss, train], {x: X, y: Y})
        if step % 10 == 0:
            print("step", step, "loss %.5f" % value)
    shutil.rmtree("export", ignore_errors=True)
    builder = tf.saved_model.builder.SavedModelBuilder("export/1")
    classification = tf.saved_model.signature_def_utils.build_signature_def(
        inputs={tf.saved_model.signature_constants.CLASSIFY_INPUTS: tf.saved_model.utils.build_tensor_info(x)},
        outputs={tf.saved_model.signature_constants.CLASSIFY_OUTPUT_CLASSES:
                 tf.saved_model.utils.build_tensor_info(classes),
                 tf.saved_model.signature_constants.CLASSIFY_OUTPUT_SCORES:
                 tf.saved_model.utils.build_tensor_info(values)},
        method_name=tf.saved_model.signature_constants.CLASSIFY_METHOD_NAME)
    prediction = tf.saved_model.signature_def_utils.predict_signature_def({"x": x}, {"prob": prob})
    builder.add_meta_graph_and_variables(
        sess, [tf.saved_model.tag_constants.SERVING],
        signature_def_map={"predict": prediction,
                           tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: classification},
        main_op=tf.group(tf.tables_initializer(), name="init_all_tables"), strip_default_attrs=True)
    builder.save()
    tf.saved_model.simple_save(sess, "export/2", inputs={"x": x}, outputs={"prob": prob})
    frozen = tf.graph_util.convert_variables_to_constants(sess, sess.graph_def, ["prob"])
    with tf.gfile.GFile("frozen.pb", "wb") as f:
        f.write(frozen.SerializeToString())
    print("frozen has", len(frozen.node), "nodes", sorted({n.op for n in frozen.node}))
    want = sess.run(prob, {x: X[:3]})

for version in ("1", "2"):
    with tf.Graph().as_default(), tf.Session() as sess:
        meta = tf.saved_model.loader.load(sess, [tf.saved_model.tag_constants.SERVING], os.path.join("export", version))
        print(version, sorted(meta.signature_def))
        signature = meta.signature_def["predict" if version == "1" else "serving_default"]
        got = sess.run(signature.outputs["prob"].name, {signature.inputs["x"].name: X[:3]})
        print("same", bool(np.allclose(got, want)), signature.method_name)
        if version == "1":
            both = meta.signature_def["serving_default"].outputs
            names, scores = sess.run([both["classes"].name, both["scores"].name],
                                     {signature.inputs["x"].name: X[:2]})
            print([[n.decode() for n in row] for row in names], ["%.4f" % s for s in scores.ravel()])

with tf.Graph().as_default() as graph:
    graph_def = tf.GraphDef()
    with tf.gfile.GFile("frozen.pb", "rb") as f:
        graph_def.ParseFromString(f.read())
    prob, = tf.import_graph_def(graph_def, return_elements=["prob:0"], name="served")
    with tf.Session(graph=graph) as sess:
        print(prob.name, bool(np.allclose(sess.run(prob, {"served/x:0": X[:3]}), want)))
