"""tf.estimator.experimental.KMeans."""
import numpy as np

from machine import case

ROWS = np.float32([[0, 0], [0, 1], [1, 0], [10, 10], [10, 11], [11, 10], [20, 0], [21, 0], [20, 1]])


def rows(tf):
    return tf.train.limit_epochs(tf.convert_to_tensor(ROWS), num_epochs=1)


def forever(tf):
    return tf.constant(ROWS)


def described(tf, model):
    return [model.cluster_centers(), float(model.score(lambda: rows(tf))),
            [int(c) for c in model.predict_cluster_index(lambda: rows(tf))], np.stack(list(model.transform(lambda: rows(tf)))),
            sorted(n for n in model.get_variable_names() if n in ("clusters", "initialized", "global_step"))]


@case(nodes=False, tolerance=1e-4)
def clusters_of_the_whole_input(tf):
    model = tf.estimator.experimental.KMeans(3, model_dir="m", initial_clusters=ROWS[[0, 1, 6]], use_mini_batch=False)
    model.train(lambda: forever(tf), steps=4)
    return described(tf, model), sorted(model.evaluate(lambda: rows(tf), steps=1))


@case(nodes=False)
def clusters_by_cosine(tf):
    model = tf.estimator.experimental.KMeans(
        2, model_dir="m", initial_clusters=np.float32([[1, 0], [0, 1]]), use_mini_batch=False, distance_metric="cosine",
        feature_columns=[tf.feature_column.numeric_column("a"), tf.feature_column.numeric_column("b")])
    data = np.float32([[1, 0.1], [2, 0.3], [0.1, 3], [0.2, 1]])
    model.train(lambda: {"a": tf.constant(data[:, :1]), "b": tf.constant(data[:, 1:])}, steps=3)
    return model.cluster_centers()


@case(nodes=False, tolerance=1e-3)
def clusters_from_chosen_rows(tf):
    """Which rows are chosen is chance: any choice of k-means++ ends at the same three centers."""
    model = tf.estimator.experimental.KMeans(3, initial_clusters="kmeans_plus_plus", use_mini_batch=False, seed=1,
                                             relative_tolerance=0.001, kmeans_plus_plus_num_retries=8)
    model.train(lambda: forever(tf), max_steps=20)
    return np.sort(model.cluster_centers(), axis=0)


@case(alone=True, nodes=False)
def clusters_from_a_function_and_from_small_batches(tf):
    model = tf.contrib.factorization.KMeansClustering(3, initial_clusters=lambda inputs, count: tf.gather(inputs, [0, 3, 6]),
                                                      use_mini_batch=False)
    model.train(lambda: forever(tf), steps=2)
    np.testing.assert_allclose(model.cluster_centers(), [[1 / 3, 1 / 3], [31 / 3, 31 / 3], [61 / 3, 1 / 3]], rtol=1e-5)
    few = tf.estimator.experimental.KMeans(3, seed=2)
    few.train(lambda: tf.data.Dataset.from_tensor_slices(ROWS).repeat().batch(2), steps=3)
    assert few.cluster_centers().shape == (3, 2)


@case(nodes=False, tolerance=0.1)
def clusters_by_batches(tf):
    """TensorFlow counts a batch before or after it adds it, as its threads run: the centers agree after many steps."""
    model = tf.estimator.experimental.KMeans(3, initial_clusters=ROWS[[0, 3, 6]], mini_batch_steps_per_iteration=1)
    model.train(lambda: forever(tf), steps=60)
    later = tf.estimator.experimental.KMeans(3, initial_clusters=ROWS[[0, 3, 6]], mini_batch_steps_per_iteration=3)
    later.train(lambda: forever(tf), steps=60)
    return model.cluster_centers(), later.cluster_centers()


@case
def clusters_are_checked(tf):
    said = []
    for kwargs in (dict(distance_metric="x"), dict(initial_clusters="x")):
        try:
            tf.estimator.experimental.KMeans(2, **kwargs)
        except ValueError as e:
            said.append(str(e))
    kind = tf.estimator.experimental.KMeans
    return [*said, kind.ALL_DISTANCES, kind.CLUSTER_CENTERS_VAR_NAME, kind.CLUSTER_INDEX, kind.COSINE_DISTANCE,
            kind.KMEANS_PLUS_PLUS_INIT, kind.RANDOM_INIT, kind.SCORE, kind.SQUARED_EUCLIDEAN_DISTANCE]
