"""What takes a seed and is drawn by no other case: the same numbers as TensorFlow, or the same each time where it lacks them."""
import numpy as np

from machine import case


def fetched(tf, *tensors):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(list(tensors))


@case(nodes=False, tolerance=1e-5)
def backend(tf):
    x = tf.ones([3, 4])
    drawn = [tf.keras.backend.dropout(x, 0.4, seed=3), tf.keras.backend.random_bernoulli([5], 0.3, seed=3),
             tf.keras.backend.random_binomial([5], 0.3, seed=4), tf.keras.backend.random_normal([3], seed=5),
             tf.keras.backend.random_uniform([3], seed=6), tf.keras.backend.truncated_normal([3], seed=7)]
    made = [tf.keras.backend.random_normal_variable([2], 0., 1., seed=8),
            tf.keras.backend.random_uniform_variable([2], 0., 1., seed=9)]
    return fetched(tf, *drawn, *[tf.convert_to_tensor(v) for v in made])


def outcome(tf, make):
    """What a call draws, or the kind of its error."""
    try:
        return fetched(tf, make())[0]
    except Exception as e:
        return type(e).__name__


@case(nodes=False, tolerance=1e-4)
def stateless(tf):
    seed = [1, 2]
    return [outcome(tf, make) for make in (
        lambda: tf.random.stateless_binomial([4], seed=seed, counts=[10.], probs=[.4]),
        lambda: tf.random.stateless_categorical([[1., 2., 3.]], 5, seed=seed),
        lambda: tf.random.stateless_gamma([3], seed=seed, alpha=2.),
        lambda: tf.random.stateless_multinomial([[1., 2., 3.]], 5, seed=seed),
        lambda: tf.random.stateless_poisson([3], seed=seed, lam=4.),
        lambda: tf.random.experimental.stateless_shuffle(tf.range(6), seed=seed),
        lambda: tf.random.fold_in(seed=tf.constant(seed), data=3), lambda: tf.random.split(seed=tf.constant(seed), num=2),
        lambda: tf.nn.experimental.stateless_dropout(tf.ones([6]), .5, seed=seed),
        lambda: tf.convert_to_tensor(tf.random.create_rng_state(seed=5, alg="philox")))]


@case(nodes=False)
def elements(tf):
    def drain(dataset):
        one, seen = tf.data.make_one_shot_iterator(dataset).get_next(), []
        with tf.Session() as sess:
            for _ in range(4):
                seen.append(sess.run(one))
        return seen
    two = [tf.data.Dataset.range(9), tf.data.Dataset.range(20, 29)]
    kept = tf.data.experimental.rejection_resample(lambda x: tf.cast(x % 2, tf.int32), [.5, .5], [.5, .5], seed=2)
    return [drain(tf.data.experimental.sample_from_datasets(two, seed=1)), drain(tf.data.experimental.RandomDataset(seed=4)),
            len(drain(tf.data.Dataset.range(99).apply(kept)))]


@case(nodes=False)
def candidates(tf):
    labels = tf.constant([[1], [2]], tf.int64)
    drawn, _, _ = tf.nn.all_candidate_sampler(labels, num_true=1, num_sampled=4, unique=True, seed=3)
    pairs, _ = tf.keras.preprocessing.sequence.skipgrams([1, 2, 3, 4], 5, negative_samples=0., seed=2)
    return [sorted(fetched(tf, drawn)[0].tolist()), pairs]


@case(nodes=False)
def arrays(tf):
    rows = np.arange(24, dtype=np.float32).reshape(6, 2, 2, 1)
    found = tf.keras.preprocessing.image.NumpyArrayIterator(
        rows, np.arange(6), tf.keras.preprocessing.image.ImageDataGenerator(), batch_size=2, shuffle=True, seed=3)
    numbers = tf.keras.preprocessing.image.Iterator(6, 2, True, seed=3)
    return [found.n, found.seed, numbers.n, numbers.seed]  # TensorFlow's cannot go on without SciPy


def twice(tf, make):
    """What the same call draws in two graphs."""
    found = []
    for _ in range(2):
        with tf.Graph().as_default(), tf.Session() as sess:
            made = make()
            sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            found.append(sess.run(made))
    np.testing.assert_array_equal(*found)
    return found[0]


@case(alone=True)
def cells_and_helpers(tf):
    ones = tf.ones_initializer()  # the seed is that of dropout
    for make in (lambda: tf.contrib.cudnn_rnn.CudnnGRU(1, 3, seed=2, kernel_initializer=ones),
                 lambda: tf.contrib.cudnn_rnn.CudnnLSTM(1, 3, seed=2, kernel_initializer=ones),
                 lambda: tf.contrib.cudnn_rnn.CudnnRNNRelu(1, 3, seed=2, kernel_initializer=ones),
                 lambda: tf.contrib.cudnn_rnn.CudnnRNNTanh(1, 3, seed=2, kernel_initializer=ones)):
        assert twice(tf, lambda make=make: make()(tf.ones([2, 1, 4]))[0]).shape == (2, 1, 3)
    assert twice(tf, lambda: tf.contrib.nn.alpha_dropout(tf.ones([5]), 0.6, seed=4)).shape == (5,)
    table = np.eye(3, dtype=np.float32)
    helpers = [lambda: tf.contrib.seq2seq.SampleEmbeddingHelper(tf.constant(table), [0, 1], 2, seed=3),
               lambda: tf.contrib.seq2seq.ScheduledEmbeddingTrainingHelper(
                   tf.ones([2, 3, 3]), [3, 3], tf.constant(table), 0.5, seed=3, scheduling_seed=4),
               lambda: tf.contrib.seq2seq.ScheduledOutputTrainingHelper(tf.ones([2, 3, 3]), [3, 3], 0.5, seed=3)]
    for make in helpers:
        def draw(make=make):
            helper = make()
            helper.initialize()
            return helper.sample(time=tf.constant(0), outputs=tf.zeros([2, 3]), state=())
        assert twice(tf, draw).shape == (2,)


@case(alone=True)
def input_of_contrib(tf):
    with tf.python_io.TFRecordWriter("r") as out:
        for i in range(6):
            out.write(b"%d" % i)
    words = tf.contrib.text.skip_gram_sample(tf.constant(["a", "b", "c"]), min_skips=1, max_skips=1, seed=3)
    assert len(words) == 2
    assert tf.contrib.training.RandomStrategy(2, seed=3) is not None
    rate = tf.contrib.training.resample_at_rate([tf.constant([1, 2, 3])], [2., 2., 2.], seed=3)
    weighted = tf.contrib.training.weighted_resample([tf.constant([1, 2, 3])], tf.constant([.2, .3, .5]), 1., seed=3)
    assert len(rate) == 1 and len(weighted) == 2
    try:
        tf.contrib.learn.read_batch_examples("r", 2, tf.TFRecordReader, randomize_input=True, seed=2)
    except NotImplementedError as e:
        assert "seed" in str(e)
    tf.contrib.slim.parallel_reader.parallel_read("r", tf.TFRecordReader, shuffle=True, seed=2)
    decoder = tf.contrib.slim.tfexample_decoder.TFExampleDecoder(
        {"x": tf.FixedLenFeature([], tf.int64, 3)}, {"x": tf.contrib.slim.tfexample_decoder.Tensor("x")})
    data = tf.contrib.slim.dataset.Dataset("r", tf.TFRecordReader, decoder, 6, {})
    assert tf.contrib.slim.dataset_data_provider.DatasetDataProvider(data, seed=2).num_samples() == 6


@case(alone=True)
def files_that_are_not_there(tf):
    for load in (lambda: tf.keras.datasets.boston_housing.load_data("absent.npz", seed=1),
                 lambda: tf.keras.datasets.imdb.load_data("absent.npz", seed=1),
                 lambda: tf.keras.datasets.reuters.load_data("absent.npz", seed=1),
                 lambda: tf.keras.preprocessing.image.DirectoryIterator(
                     "absent", tf.keras.preprocessing.image.ImageDataGenerator(), seed=1)):
        try:
            load()
            raise AssertionError("it was read")
        except AssertionError:
            raise
        except Exception as e:
            assert str(e), e
