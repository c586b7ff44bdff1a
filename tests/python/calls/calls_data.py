"""tf.data, and contrib's experiments."""
import calls_estimator
from machine import case


def drained(tf, dataset):
    one, seen = dataset.make_one_shot_iterator().get_next(), []
    with tf.Session() as sess:
        try:
            while len(seen) < 100:
                seen.append(sess.run(one))
        except tf.errors.OutOfRangeError:
            return seen
    return "no end"


@case(nodes=False)
def records(tf):
    with tf.python_io.TFRecordWriter("r") as out:
        for i in range(5):
            out.write(b"%d" % i)
    data = tf.data.TFRecordDataset(["r"])
    more = tf.data.TFRecordDataset(["r"], num_parallel_reads=1)
    return [drained(tf, data.map(lambda r: tf.string_to_number(r, tf.int32) + 1)), drained(tf, more.batch(2)),
            data.output_types, data.output_shapes]


@case(nodes=False)
def lines(tf):
    with open("t", "w") as out:
        out.write("a,1\nb,2\nc,3\n")
    text = tf.data.TextLineDataset("t")
    pairs = tf.data.TextLineDataset(["t"]).map(lambda s: tf.decode_csv(s, record_defaults=[[""], [0]]))
    twice = tf.data.TextLineDataset("t").repeat(2)
    mixed = tf.data.TextLineDataset("t").shuffle(3)
    return [drained(tf, text.batch(2)), drained(tf, pairs), drained(tf, twice.skip(1).take(3)),
            sorted(drained(tf, mixed)), drained(tf, text.prefetch(1).shard(2, 1))]


@case(nodes=False, tolerance=1e-4)
def experiments(tf):
    estimator = tf.estimator.Estimator(model_fn=calls_estimator.model(tf), model_dir="m", params={"rate": 0.1})
    first = tf.contrib.learn.Experiment(estimator=estimator, train_input_fn=calls_estimator.inputs(tf), train_steps=2,
                                        eval_input_fn=calls_estimator.once(tf), eval_steps=1)
    second = tf.contrib.learn.Experiment(estimator, train_input_fn=calls_estimator.inputs(tf),
                                         eval_input_fn=calls_estimator.once(tf))
    first.train()
    return [first.evaluate(delay_secs=0), int(estimator.get_variable_value("global_step")), second is not None]
