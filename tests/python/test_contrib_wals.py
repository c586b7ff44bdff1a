"""tf.contrib.factorization.WALSModel against least squares in float64."""
import numpy as np
import pytest

import weft as tf

RNG = np.random.RandomState(9)
ROWS, COLS, WIDTH = 6, 5, 2
GIVEN = (RNG.rand(ROWS, COLS) < 0.6) & (np.arange(COLS) != 2) | (np.arange(ROWS)[:, None] == 1)
MATRIX = np.where(GIVEN, RNG.randint(1, 6, [ROWS, COLS]), 0).astype(np.float32)


def sparse(matrix, given, rows=None):
    """The entries of some rows."""
    at = [(i, j) for i in (range(len(matrix)) if rows is None else rows) for j in range(matrix.shape[1]) if given[i, j]]
    return tf.SparseTensor(np.array(at, np.int64), np.array([matrix[i, j] for i, j in at], np.float32), matrix.shape)


def solved(matrix, weights, v, regularization):
    """The factors of the rows that have the least loss."""
    return np.array([np.linalg.solve((v.T * w) @ v + regularization * np.eye(v.shape[1]), (v.T * w) @ a) for a, w in zip(
        matrix.astype(np.float64), weights)])


def sweep(sess, model, rows, **given):
    sess.run(model.row_update_prep_gramian_op if rows else model.col_update_prep_gramian_op)
    sess.run(model.initialize_row_update_op if rows else model.initialize_col_update_op)
    return sess.run((model.update_row_factors if rows else model.update_col_factors)(**given))


@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize("kind", ["number", "lists", "none"])
def test_factors_are_least_squares(cached, kind):
    row_weights, col_weights = RNG.rand(ROWS).astype(np.float32) + 0.5, RNG.rand(COLS).astype(np.float32) + 0.5
    given = {"number": dict(row_weights=2, col_weights=col_weights), "none": dict(row_weights=None, col_weights=None),
             "lists": dict(row_weights=[row_weights[:3], row_weights[3:]], col_weights=[col_weights])}[kind]
    r = {"number": np.full(ROWS, 2.0), "lists": row_weights, "none": np.zeros(ROWS)}[kind]
    c = np.zeros(COLS) if kind == "none" else col_weights
    weights = 0.1 + GIVEN * np.outer(r, c)
    start = RNG.randn(COLS, WIDTH).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as sess:
        model = tf.contrib.factorization.WALSModel(
            ROWS, COLS, WIDTH, unobserved_weight=0.1, regularization=0.3, col_init=start, num_row_shards=2 if kind == "lists" else 1,
            use_factors_weights_cache=cached, use_gramian_cache=cached, **given)
        sess.run([model.initialize_op])
        sess.run([model.worker_init])
        found, _, loss, squares, total = sweep(sess, model, True, sp_input=sparse(MATRIX, GIVEN))
        u = solved(MATRIX, weights, start.astype(np.float64), 0.3)
        np.testing.assert_allclose(found, u, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(np.concatenate(sess.run(model.row_factors)), u, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(loss, (weights * (MATRIX - u @ start.T) ** 2).sum(), rtol=1e-3)
        np.testing.assert_allclose(squares, 0.3 * ((u ** 2).sum() + (start ** 2).sum()), rtol=1e-3)
        np.testing.assert_allclose(total, weights.sum(), rtol=1e-4)
        few = [4, 1]  # of the rows of the transposed matrix
        found, _, loss, squares, total = sweep(sess, model, False, sp_input=sparse(MATRIX.T, GIVEN.T, few), transpose_input=True)
        v = solved(MATRIX.T[few], weights.T[few], u, 0.3)
        np.testing.assert_allclose(found, v, rtol=1e-3, atol=1e-4)
        want = start.copy()
        want[few] = v
        np.testing.assert_allclose(sess.run(model.col_factors[0]), want, rtol=1e-3, atol=1e-4)
        scale = COLS / 2.0
        np.testing.assert_allclose(loss, (weights.T[few] * (MATRIX.T[few] - v @ u.T) ** 2).sum() * scale, rtol=1e-3)
        np.testing.assert_allclose(squares, 0.3 * ((v ** 2).sum() * scale + (u ** 2).sum()), rtol=1e-3)
        np.testing.assert_allclose(total, weights.T[few].sum() * scale, rtol=1e-4)


def test_rows_and_columns_are_projected():
    c = RNG.rand(COLS).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as sess:
        model = tf.contrib.factorization.WALSModel(ROWS, COLS, WIDTH, unobserved_weight=0.2, regularization=0.1, col_weights=c)
        sess.run(model.initialize_op)
        sess.run(model.worker_init)
        for rows in (True, False):
            sess.run(model.row_update_prep_gramian_op if rows else model.col_update_prep_gramian_op)
            sess.run(model.initialize_row_update_op if rows else model.initialize_col_update_op)
        u, v = sess.run([model.row_factors[0], model.col_factors[0]])
        for own in (None, 3.0, [2.0, 5.0]):
            found = sess.run(model.project_row_factors(sparse(MATRIX, GIVEN, [1, 3]), projection_weights=own))
            weights = 0.2 + GIVEN[[1, 3]] * np.outer(np.broadcast_to(1.0 if own is None else own, [2]), c)
            np.testing.assert_allclose(found, solved(MATRIX[[1, 3]], weights, v.astype(np.float64), 0.1), rtol=1e-3, atol=1e-4)
        found = sess.run(model.project_col_factors(sparse(MATRIX.T, GIVEN.T, [0, 1]), transpose_input=True))
        weights = 0.2 + GIVEN.T[[0, 1]]
        np.testing.assert_allclose(found, solved(MATRIX.T[[0, 1]], weights, u.astype(np.float64), 0.1), rtol=1e-3, atol=1e-4)


def test_factors_of_a_matrix_of_low_rank_are_found():
    full = RNG.randn(20, 3) @ RNG.randn(3, 15)
    given = np.ones(full.shape, bool)
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(4)
        model = tf.contrib.factorization.WALSModel(20, 15, 3, unobserved_weight=0, regularization=1e-3)
        data = sparse(full, given)
        row_op, col_op = model.update_row_factors(sp_input=data)[1], model.update_col_factors(sp_input=data)[1]
        sess.run(model.initialize_op)
        sess.run(model.worker_init)
        for _ in range(20):
            for op in (model.row_update_prep_gramian_op, model.initialize_row_update_op, row_op,
                       model.col_update_prep_gramian_op, model.initialize_col_update_op, col_op):
                sess.run(op)
        u, v = sess.run([model.row_factors[0], model.col_factors[0]])
    np.testing.assert_allclose(u @ v.T, full, atol=0.05)


def test_rows_of_shards_are_replaced_and_wrong_arguments_refused():
    wals = tf.contrib.factorization.WALSModel
    with tf.Graph().as_default(), tf.Session() as sess:
        model = wals(4, 3, 2, num_row_shards=2, row_init=np.zeros([4, 2]))
        sess.run(model.initialize_op)
        op = wals.scatter_update(model.row_factors, tf.constant([3, 0]), [[1.0, 2.0], [3.0, 4.0]], lambda i: (i // 2, i % 2))
        sess.run(op)
        assert np.concatenate(sess.run(model.row_factors)).tolist() == [[3, 4], [0, 0], [0, 0], [1, 2]]
        with pytest.raises(ValueError, match="must both be None"):
            wals(4, 3, 2, row_weights=None)
        with pytest.raises(ValueError, match=r"row_weights must be lists of \[4\] numbers"):
            wals(4, 3, 2, row_weights=[[1.0, 2.0]])
        with pytest.raises(ValueError, match="number of shards"):
            wals(4, 3, 2, num_col_shards=9)
        with pytest.raises(ValueError, match="Only 'random'"):
            wals(4, 3, 2, row_init="zeros")
        with pytest.raises(ValueError, match="must not be negative"):
            wals(4, 3, 2, row_weights=-1)
        with pytest.raises(ValueError, match="must be a SparseTensor"):
            model.update_row_factors(tf.constant([1.0]))
