"""tf.train's producers and batches: every parameter makes TensorFlow's nodes, and the queues give TensorFlow's values."""
import numpy as np
import pytest

from both import outcome, same_in_folders


@pytest.fixture
def same(tmp_path, monkeypatch):
    return lambda program: same_in_folders(program, tmp_path, monkeypatch)


ATTRS = ("shapes", "component_types", "capacity", "min_after_dequeue", "shared_name", "seed", "seed2")


def graph_rows(tf):
    return [(n.name, n.op, list(n.input), n.device, {a: n.attr[a].SerializeToString() for a in ATTRS if a in n.attr})
            for n in tf.get_default_graph().as_graph_def().node]


def values(tf, fetch, steps):
    """What the queues give in some steps, and how it ends."""
    out = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        try:
            for _ in range(steps):
                got = sess.run(fetch, options=tf.RunOptions(timeout_in_ms=20000))
                out.append([np.asarray(g).tolist() for g in (got if isinstance(got, (list, tuple)) else [got])])
        except tf.errors.OutOfRangeError:
            out.append("the end")
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=10)
    return out


def info(x):
    if isinstance(x, dict):
        return {k: info(v) for k, v in x.items()}
    return [info(v) for v in x] if isinstance(x, (list, tuple)) else (x.name, x.dtype.name, x.shape.as_list())


def unknown(tf):
    return tf.placeholder_with_default(np.float32([1, 2, 3]), shape=None, name="u")


def known(tf):
    return tf.constant([1., 2., 3.], name="k")


BATCHES = {
    "plain": lambda tf: tf.train.batch([known(tf), tf.constant(1)], 2),
    "shapes": lambda tf: tf.train.batch([unknown(tf)], 2, shapes=[[3]], name="bb"),
    "shapes of rows": lambda tf: tf.train.batch([unknown(tf)], 2, enqueue_many=True, shapes=[[]]),
    "shapes that are wider": lambda tf: tf.train.batch([known(tf)], 2, shapes=[(None,)], dynamic_pad=True),
    "dict": lambda tf: tf.train.batch({"b": known(tf), "a": tf.constant(2)}, 2)["b"],
    "many": lambda tf: tf.train.batch([tf.constant([[1, 2], [3, 4], [5, 6]])], 2, enqueue_many=True, shared_name="sh",
                                      allow_smaller_final_batch=True, capacity=7, num_threads=1),
    "batch size as a tensor": lambda tf: tf.train.batch([known(tf)], tf.placeholder_with_default(2, [])),
    "batch size as a constant": lambda tf: tf.train.batch([known(tf)], tf.constant(2), capacity=np.int64(4)),
    "rows of a sparse tensor": lambda tf: tf.train.batch([tf.SparseTensor([[0, 0], [1, 1]], [1., 2.], [2, 2])], 2,
                                                         enqueue_many=True).values,
    "sparse and dense": lambda tf: tf.train.batch([known(tf), tf.SparseTensor([[0], [2]], [1., 2.], [3])], 2)[1].indices,
    "join": lambda tf: tf.train.batch_join([[known(tf), tf.constant(1)], [known(tf), tf.constant(1)]], 2,
                                           shapes=[[3], []], allow_smaller_final_batch=True, shared_name="s"),
    "join of dicts": lambda tf: tf.train.batch_join([{"a": known(tf)}, {"a": known(tf)}], 2)["a"],
    "join of shapes": lambda tf: tf.train.batch_join([[known(tf)], [tf.placeholder_with_default([1., 2., 3.], [None])]], 2),
    "shuffled": lambda tf: tf.train.shuffle_batch([unknown(tf), tf.constant(1)], 2, capacity=10, min_after_dequeue=3, seed=5,
                                                  num_threads=2, shapes=[[3], []], name="q", shared_name="x"),
    "shuffled join": lambda tf: tf.train.shuffle_batch_join([[known(tf)], [known(tf)]], 2, 10, 3, seed=5, shapes=[[3]],
                                                            allow_smaller_final_batch=True, shared_name="x", name="n"),
    "maybe": lambda tf: tf.train.maybe_batch([known(tf)], True, 2),
    "maybe by rows": lambda tf: tf.train.maybe_batch([tf.constant([1, 2, 3, 4])], tf.constant([True, False, True, False]), 2,
                                                     enqueue_many=True),
    "maybe join": lambda tf: tf.train.maybe_batch_join([[known(tf)], [known(tf)]], tf.constant(True), 2),
    "maybe shuffled": lambda tf: tf.train.maybe_shuffle_batch([known(tf)], 2, 10, 3, tf.constant(True), seed=3),
    "maybe shuffled join": lambda tf: tf.train.maybe_shuffle_batch_join([[known(tf)], [known(tf)]], 2, 10, 3, tf.constant(True)),
}


@pytest.mark.parametrize("what", BATCHES)
def test_batches(same, what):
    def program(tf):
        made = BATCHES[what](tf)
        return [info(made), graph_rows(tf), values(tf, made, 2)]
    same(program)


def test_a_tensor_decides_which_elements_are_kept(same):
    def program(tf):
        i = tf.train.range_input_producer(8, shuffle=False).dequeue()
        return values(tf, tf.train.maybe_batch([i], tf.equal(i % 2, 0), 2), 3)
    same(program)


def test_padding_to_the_longest_element(same):
    def program(tf):
        i = tf.train.range_input_producer(6, shuffle=False).dequeue()
        x = tf.fill([i + 1], i)
        return values(tf, tf.train.batch([x], 3, dynamic_pad=True), 2)
    same(program)


def test_what_batches_refuse(same):
    def program(tf):
        k = known(tf)
        vector, row = tf.constant([True, False, True]), tf.constant([1., 2.])
        return [outcome(f).replace("TensorShape([Dimension(None)])", "TensorShape([None])") for f in (
            lambda: tf.train.batch([unknown(tf)], 2).name, lambda: tf.train.batch([k, k], 2, shapes=[[3]]),
            lambda: tf.train.batch([k], 2, shapes=[[4]]), lambda: tf.train.batch([], 2),
            lambda: tf.train.batch([k], 2, num_threads=0), lambda: tf.train.batch_join([], 2),
            lambda: tf.train.batch_join([[k], [tf.constant(1)]], 2), lambda: tf.train.batch_join([[k], [row]], 2),
            lambda: tf.train.shuffle_batch([k], 2, 3, 5), lambda: tf.train.maybe_batch([k], vector, 2),
            lambda: tf.train.maybe_batch([k], tf.placeholder_with_default(True, None), 2))]
    same(program)


@pytest.mark.parametrize("option", ["capacity", "num_threads"])
def test_a_tensor_cannot_be_a_capacity_or_a_number_of_threads(same, option):
    def program(tf):
        return outcome(lambda: tf.train.batch([known(tf)], 2, **{option: tf.constant(4)})).partition(":")[0]
    assert same(program) == "TypeError"


PRODUCERS = {
    "strings": lambda tf: tf.train.string_input_producer(["a", "b", "c"], num_epochs=2, shuffle=False, capacity=5,
                                                         shared_name="s", name="sp"),
    "shuffled strings": lambda tf: tf.train.string_input_producer(tf.constant(["a", "b", "c"]), seed=3),
    "strings of unknown shape": lambda tf: tf.train.string_input_producer(
        tf.placeholder_with_default(["a", "b"], None), shuffle=False),
    "files": lambda tf: tf.train.string_input_producer(tf.train.match_filenames_once("./*.txt"), shuffle=False, num_epochs=1),
    "cancel op": lambda tf: tf.train.string_input_producer(["a", "b"], shuffle=False, cancel_op=tf.no_op(name="can")),
    "rows": lambda tf: tf.train.input_producer(tf.constant([[1, 2], [3, 4]]), shuffle=False, summary_name="sum", capacity=9,
                                               name="ip", num_epochs=1, element_shape=[2], shared_name="z"),
    "rows of unknown shape": lambda tf: tf.train.input_producer(unknown(tf), element_shape=[], shuffle=False),
    "numbers": lambda tf: tf.train.range_input_producer(3, num_epochs=1, shuffle=False, capacity=4, shared_name="r", name="rr"),
    "numbers below a tensor": lambda tf: tf.train.range_input_producer(tf.placeholder_with_default(3, []), seed=4),
}


@pytest.mark.parametrize("what", PRODUCERS)
def test_producers(same, what):
    def program(tf):
        for name in "xyz":
            with open(name + ".txt", "w") as f:
                f.write(name)
        queue = PRODUCERS[what](tf)
        got = queue.dequeue()
        runners = [(r.name, r.close_op.name, r.cancel_op.name) for r in tf.get_collection("queue_runners")]
        return [type(queue).__name__, [d.name for d in queue.dtypes], runners, info(got), graph_rows(tf),
                what != "cancel op" and values(tf, got, 7),  # nothing would close that queue
                [v.name for v in tf.local_variables()]]
    same(program)


@pytest.mark.parametrize("options", [{"num_epochs": 1, "shuffle": False, "capacity": 4, "name": "sl", "shared_name": "q"},
                                     {"seed": 2}, {}])
def test_rows_of_several_tensors(same, options):
    def program(tf):
        made = tf.train.slice_input_producer([tf.constant([1, 2, 3]), tf.constant(["a", "b", "c"])], **options)
        return [info(made), graph_rows(tf), values(tf, made, 5)]
    same(program)


def test_what_producers_refuse(same):
    def program(tf):
        return [outcome(f) for f in (
            lambda: tf.train.string_input_producer([]), lambda: tf.train.slice_input_producer([]),
            lambda: tf.train.string_input_producer(["a"], num_epochs=0), lambda: tf.train.limit_epochs(known(tf), -1),
            lambda: tf.train.input_producer(unknown(tf)), lambda: tf.train.input_producer(tf.constant(1)))]
    same(program)


def test_assertions_on_strings_and_numbers_have_no_conditional(same):
    def program(tf):
        p = tf.placeholder(tf.bool, [], name="p")
        tf.Assert(p, ["x", tf.constant(3)], name="direct", summarize=2)
        tf.Assert(p, ["x", tf.constant(3.)], name="guarded")
        return sorted((n.name, n.op, tuple(n.input)) for n in tf.get_default_graph().as_graph_def().node)
    same(program)
