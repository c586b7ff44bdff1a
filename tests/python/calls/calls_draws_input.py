"""What draws in input pipelines and feature columns: the same seeds give TensorFlow's orders and weights."""
import numpy as np

from machine import case

X = np.random.RandomState(0).randn(4, 5, 3).astype(np.float32)
WORDS = ["a", "b", "c", "d", "e", "f"]


def elements(tf, made, count):
    """The first elements that come out of the queue runners of the graph."""
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        found = [sess.run(made) for _ in range(count)]
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=5)
    return found


@case(nodes=False)
def producers(tf):
    return [elements(tf, tf.train.string_input_producer(WORDS, seed=3).dequeue(), 12),
            elements(tf, tf.train.range_input_producer(limit=7, shuffle=True, seed=4).dequeue(), 14),
            elements(tf, tf.train.slice_input_producer([tf.constant(WORDS), tf.range(6)], seed=5), 12),
            elements(tf, tf.train.input_producer(tf.constant(X[:, 0]), shuffle=True, seed=2).dequeue(), 8)]


@case(nodes=False)
def producers_by_the_graph(tf):
    first, second = tf.train.string_input_producer(WORDS), tf.train.string_input_producer(WORDS, num_epochs=2)
    return elements(tf, [first.dequeue(), second.dequeue()], 12)


@case(nodes=False)
def shuffled_batches(tf):
    """Which elements are in the queue when one is taken depends on threads: the seeds alone are compared."""
    x = tf.constant(X[0])
    tf.train.shuffle_batch([x], batch_size=2, capacity=20, min_after_dequeue=5, seed=3, enqueue_many=True)
    tf.train.shuffle_batch([x], 2, 20, 5)
    tf.train.shuffle_batch_join([[x], [x]], batch_size=2, capacity=20, min_after_dequeue=5, seed=4)
    tf.train.maybe_shuffle_batch([x], 2, 20, 5, keep_input=True, seed=5, enqueue_many=True)
    tf.train.maybe_shuffle_batch_join([[x], [x]], 2, 20, 5, keep_input=True, seed=6)
    return tf.random_normal([2])


@case(nodes=False)
def shuffle_queues(tf):
    made = [tf.RandomShuffleQueue(10, 0, dtypes=[tf.int32], shapes=[[]], seed=7), tf.RandomShuffleQueue(10, 0, [tf.int32], [[]])]
    with tf.Session() as sess:
        for queue in made:
            sess.run(queue.enqueue_many([np.arange(10, dtype=np.int32)]))
        return [sess.run(queue.dequeue_many(10)) for queue in made]


@case(nodes=False)
def shuffled_data(tf):
    data = tf.data.Dataset.range(12)
    made = [data.shuffle(5, seed=3), data.shuffle(20), data.shuffle(4).repeat(2), data.shuffle(4, reshuffle_each_iteration=False).repeat(2),
            data.repeat(2).shuffle(30, seed=6).batch(4), data.apply(tf.data.experimental.shuffle_and_repeat(5, count=2, seed=8))]
    iterators = [tf.data.make_one_shot_iterator(m).get_next() for m in made]
    with tf.Session() as sess:
        return [[sess.run(i) for _ in range(6)] for i in iterators]


@case(nodes=False)
def mapped_draws(tf):
    data = tf.data.Dataset.range(3).map(lambda i: (i, tf.random_uniform([2], seed=5)))
    with tf.Session() as sess:
        pair = tf.data.make_one_shot_iterator(data).get_next()
        return [sess.run(pair) for _ in range(3)]


@case(tolerance=1e-4, nodes=False)
def columns_draw(tf):
    f = tf.feature_column
    words = f.categorical_column_with_hash_bucket("w", 10)
    columns = [f.embedding_column(words, 3), f.embedding_column(f.categorical_column_with_identity("n", 6), 2,
                                                                initializer=tf.truncated_normal_initializer(stddev=0.3, seed=4))]
    features = {"w": tf.constant([["a"], ["b"]]), "n": tf.constant([[1], [2]])}
    return [f.input_layer(features, columns), tf.nn.embedding_lookup(tf.get_variable("e", [5, 3]), [1, 4])]
