"""Methods and properties of TensorFlow's classes: queues, readers, shapes, types, definitions of ops."""
from calls_python_modules import said
from machine import case


@case
def attributes_of_classes(tf):
    """Methods and properties that classes have in TensorFlow 1."""
    shape, spec = tf.TensorShape, tf.DeviceSpec.from_string("/job:a/task:1")
    types = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 bool string qint8 complex64 bfloat16".split()
    slices = tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 1]), tf.constant([5, 3]))
    tf.identity(slices.values)
    sparse = tf.sparse_placeholder(tf.float32)
    sparse.set_shape([2, None])
    whole = tf.SparseTensor([[0, 0]], [1.0], [2, 3])
    with tf.variable_scope("s") as scope:
        tf.get_local_variable("l", [1])
    state = tf.nn.rnn_cell.LSTMStateTuple(tf.zeros([1]), tf.ones([1]))
    options = tf.io.TFRecordOptions
    return ([said(lambda t=t: tf.as_dtype(t).limits) for t in types], [tf.as_dtype(t).is_numeric for t in types],
            str(shape([None, 3]).as_proto()), str(shape(None).as_proto()), str(shape([2, 3]).most_specific_compatible_shape([2, 4])),
            str(shape([2]).most_specific_compatible_shape([2, 3])), spec.replace(task=3, device_type="CPU", device_index=0).to_string(),
            spec.make_merged_spec(tf.DeviceSpec.from_string("/job:b/gpu:1")).to_string(), [o.type for o in slices.consumers()],
            str(sparse.shape), said(whole.set_shape, [2, 4])[0], [v.name for v in scope.local_variables()], state.dtype.name,
            tf.GraphKeys.TRAINABLE_RESOURCE_VARIABLES, said(lambda: options("LZ4")), options.get_compression_type_string(options("GZIP")),
            tf.errors.OutOfRangeError(None, None, "x").experimental_payloads)


@case
def one_of_several_queues(tf):
    queues = [tf.FIFOQueue(3, [tf.float32], [[]], name="q%d" % i) for i in range(2)]
    which = tf.placeholder(tf.int32, [])
    chosen = tf.QueueBase.from_list(which, queues)
    put, sizes = chosen.enqueue(3.0), [q.size() for q in queues]
    with tf.Session() as sess:
        sess.run(put, {which: 1})
        found = sess.run(sizes)
    return found, [d.name for d in chosen.dtypes], [str(s) for s in chosen.shapes], said(tf.QueueBase.from_list, 0, [])


@case
def states_of_readers(tf):
    reader, queue = tf.IdentityReader(), tf.FIFOQueue(9, [tf.string], [[]])
    fill, read = queue.enqueue_many([["a", "b", "c"]]), reader.read(queue).value
    state, count, given = reader.serialize_state(), reader.num_records_produced(), tf.placeholder(tf.string, [])
    back = reader.restore_state(given)
    with tf.Session() as sess:
        sess.run(fill)
        found = [sess.run(read)]
        kept = sess.run(state)
        found += [sess.run(read), sess.run(count)]
        sess.run(back, {given: kept})
        found.append(sess.run(count))
    return found, reader.supports_serialize, tf.TextLineReader().supports_serialize


@case(nodes=False)
def records_by_options(tf):
    sizes = []
    for given in (dict(compression_type="GZIP", compression_level=9), dict(compression_type="ZLIB", compression_level=0),
                  dict(compression_type="ZLIB", compression_level=1, window_bits=12, mem_level=4, compression_strategy=2),
                  dict(compression_type="GZIP", window_bits=31, compression_level=0), dict(compression_type="ZLIB")):
        options = tf.io.TFRecordOptions(**given)
        with tf.io.TFRecordWriter("records", options) as writer:
            for i in range(300):
                writer.write(b"abc%d" % (i % 7))
        with open("records", "rb") as f:
            sizes.append(len(f.read()) // 100)
        sizes.append(sum(1 for _ in tf.io.tf_record_iterator("records", tf.io.TFRecordOptions(given["compression_type"]))))
    return sizes


@case(nodes=False)
def definitions_of_ops(tf):
    """op.op_def is the message: its arguments, and the attributes with defaults, minima and allowed types."""
    x = tf.ones([2, 2])
    conv = tf.nn.conv2d(tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1, 1]), 1, "SAME")
    ops = [tf.matmul(x, x).op, tf.placeholder(tf.float32).op, conv.op, tf.Variable(1.0, use_resource=False).op, tf.stack([x, x]).op]
    return [(d.name, [(a.name, a.type_attr, a.number_attr, a.is_ref) for a in d.input_arg], [a.name for a in d.output_arg],
             sorted((a.name, a.type, a.HasField("default_value"), str(a.default_value), a.has_minimum, a.minimum) for a in d.attr
                    if a.name != "_output_shapes"), d.is_stateful) for d in (op.op_def for op in ops)]


@case
def outputs_as_signatures(tf):
    y, text = tf.zeros([2, 2], name="y"), tf.placeholder(tf.string, [None], name="p")
    export = tf.estimator.export
    made = [export.PredictOutput({"a": y}), export.ClassificationOutput(scores=y), export.RegressionOutput(value=y)]
    return [str(o.as_signature_def({"in": text})) for o in made], said(made[1].as_signature_def, {"in": y})[0]
