"""Sparse matrices by compressed rows, against TensorFlow's."""
import os
import sys

import numpy as np
import pytest
import tensorflow as tf

import weftlib
from scenario import Fails, check

sys.path.append(os.environ.get("WEFT_PYTHON", str(weftlib.ROOT / "build" / "python")))
import weft  # noqa: E402

raw, v1 = tf.raw_ops, tf.compat.v1
A = np.array([[1, 0, 2], [0, 0, 3]], np.float32)
B = np.arange(6, dtype=np.float32).reshape(3, 2)
BATCH = np.stack([A, 2 * A, 0 * A])


def places(x):
    return np.argwhere(x != 0).astype(np.int64)


def csr(x):
    x = np.asarray(x)
    at = places(x)
    return raw.SparseTensorToCSRSparseMatrix(indices=at, values=x[tuple(at.T)], dense_shape=np.array(x.shape, np.int64))


def dense(m, dtype=tf.float32):
    return raw.CSRSparseMatrixToDense(sparse_input=m, type=dtype)


def parts(m, index=0, dtype=tf.float32):
    return list(raw.CSRSparseMatrixComponents(csr_sparse_matrix=m, index=index, type=dtype))


def as_complex(x):
    return (x + 2j * x * x).astype(np.complex64)


def test_a_matrix_comes_back_as_it_was_given():
    def steps():
        made = [csr(A), csr(BATCH), raw.DenseToCSRSparseMatrix(dense_input=A, indices=np.array([[0, 0], [0, 1], [1, 2]], np.int64)),
                raw.DenseToCSRSparseMatrix(dense_input=BATCH, indices=places(BATCH))]
        found = [dense(m) for m in made] + [raw.SparseMatrixNNZ(sparse_matrix=m) for m in made]
        return [found, parts(made[0]), parts(made[1], 1), parts(made[1], 2), parts(made[2]),
                list(raw.CSRSparseMatrixToSparseTensor(sparse_matrix=made[1], type=tf.float32)),
                dense(csr(A.astype(np.complex128)), tf.complex128), dense(csr(A.astype(np.float64)), tf.float64)]
    check(steps)


def test_transposes():
    def steps():
        c = as_complex(A)
        return [parts(raw.SparseMatrixTranspose(input=csr(A), type=tf.float32)),
                parts(raw.SparseMatrixTranspose(input=csr(c), type=tf.complex64, conjugate=True), 0, tf.complex64),
                dense(raw.SparseMatrixTranspose(input=csr(BATCH), type=tf.float32))]
    check(steps)


@pytest.mark.parametrize("a, b, how", [
    (A, B, {}), (A, B[:2], {"transpose_a": True}), (A, B.T.copy(), {"transpose_b": True}), (A, B, {"transpose_output": True}),
    (BATCH, np.stack([B, B + 1, B]), {}), (as_complex(A), as_complex(B[:2]), {"adjoint_a": True}),
    (as_complex(A), as_complex(B.T.copy()), {"adjoint_b": True}), (as_complex(A), as_complex(B), {"conjugate_output": True})])
def test_products(a, b, how):
    def steps():
        made = [raw.SparseMatrixMatMul(a=csr(a), b=b, **how)]
        if not how.keys() & {"transpose_output", "conjugate_output"}:
            kind = tf.as_dtype(a.dtype)
            both = raw.SparseMatrixSparseMatMul(a=csr(a), b=csr(b), type=kind, **how)
            made += [dense(both, kind), *parts(both, 0, kind)]
        return [made]
    check(steps)


def test_a_sum_that_is_zero_stays():
    check(lambda: [parts(raw.SparseMatrixSparseMatMul(a=csr(np.float32([[1, 1]])), b=csr(np.float32([[1], [-1]])), type=tf.float32))])


def test_what_is_refused():
    def steps():
        out = raw.SparseTensorToCSRSparseMatrix(indices=np.int64([[5, 0]]), values=np.float32([1]), dense_shape=np.int64([2, 2]))
        beyond = raw.DenseToCSRSparseMatrix(dense_input=A, indices=np.int64([[0, 9]]))
        return [Fails(parts(csr(BATCH), 3)), Fails(parts(csr(BATCH), -1)), Fails(dense(csr(A), tf.float64)), Fails(dense(out)),
                Fails(dense(beyond)), Fails(dense(raw.SparseMatrixSparseMatMul(a=csr(BATCH), b=csr(B), type=tf.float32)))]
    check(steps)


def gradients(system):
    raw_ops = system.raw_ops
    x, values = system.constant(A), system.constant([1.0, 2.0, 3.0])
    m = raw_ops.DenseToCSRSparseMatrix(dense_input=x, indices=places(A))
    turned = raw_ops.CSRSparseMatrixToDense(sparse_input=raw_ops.SparseMatrixTranspose(input=m, type=system.float32), type=system.float32)
    of = raw_ops.SparseTensorToCSRSparseMatrix(indices=places(A), values=values, dense_shape=np.int64([2, 3]))
    back = raw_ops.CSRSparseMatrixToSparseTensor(sparse_matrix=of, type=system.float32).values
    whole = raw_ops.CSRSparseMatrixToDense(sparse_input=of, type=system.float32)
    made = [*system.gradients(turned * turned, x), *system.gradients(whole * whole, values), *system.gradients(back * back, values)]
    with system.Session() as session:
        return [v.tolist() for v in session.run(made)]


def test_gradients_of_conversions():
    import tensorflow.python.ops.linalg.sparse.sparse_csr_matrix_grad  # noqa: F401 - it registers them
    found = []
    for system in (v1, weft):
        with system.Graph().as_default():
            found.append(gradients(system))
    assert found[0] == found[1] and found[1][1] == [2.0, 4.0, 6.0]


@pytest.mark.parametrize("name", ["SparseMatrixAdd", "SparseMatrixMul", "SparseMatrixSoftmax", "SparseMatrixSoftmaxGrad",
                                  "SparseMatrixZeros"])
def test_ops_for_gpus_only(name):
    for system in (v1, weft):
        with system.Graph().as_default(), system.Session() as session:
            m = system.raw_ops.DenseToCSRSparseMatrix(dense_input=A, indices=places(A))
            given = {"SparseMatrixAdd": dict(a=m, b=m, alpha=1.0, beta=2.0), "SparseMatrixMul": dict(a=m, b=2.0),
                     "SparseMatrixSoftmax": dict(logits=m, type=system.float32), "SparseMatrixZeros":
                     dict(dense_shape=np.int64([2, 3]), type=system.float32), "SparseMatrixSoftmaxGrad":
                     dict(softmax=m, grad_softmax=m, type=system.float32)}[name]
            made = getattr(system.raw_ops, name)(**given)
            assert made.shape.as_list() == []
            assert system.raw_ops.CSRSparseMatrixToDense(sparse_input=made, type=system.float32).shape.as_list() == [2, 3]
            with pytest.raises(system.errors.InvalidArgumentError, match="No OpKernel was registered to support Op '%s'" % name):
                session.run(made.op)


TURNS = [{}, {"transpose_a": True}, {"transpose_b": True}, {"transpose_a": True, "transpose_b": True}, {"adjoint_a": True},
         {"adjoint_b": True}, {"adjoint_a": True, "adjoint_b": True}, {"transpose_a": True, "adjoint_b": True},
         {"adjoint_a": True, "transpose_b": True}, {"transpose_output": True}, {"conjugate_output": True},
         {"transpose_output": True, "conjugate_output": True, "adjoint_a": True}]


def product_gradients(system, how, dtype, batch, sparse):
    """The gradients of a product by both operands, the second sparse if asked; it has places that the first has not."""
    raw_ops, random = system.raw_ops, np.random.RandomState(3)
    a, b = A.astype(dtype), random.rand(*((2, 4) if {"transpose_a", "adjoint_a"} & how.keys() else (3, 4))).astype(dtype)
    b[-1, 2] = 0
    b = b.T if {"transpose_b", "adjoint_b"} & how.keys() else b
    if dtype is np.complex64:
        a, b = a * (1 + 2j), b * np.complex64(1 - 0.5j)
    if batch:
        a, b = np.stack([a, 2 * a]), np.stack([b, 3 * b])
    x, y = system.constant(a), system.constant(b)
    m = raw_ops.DenseToCSRSparseMatrix(dense_input=x, indices=places(a))
    if sparse:
        other = raw_ops.DenseToCSRSparseMatrix(dense_input=y, indices=places(b))
        made = raw_ops.SparseMatrixSparseMatMul(a=m, b=other, type=x.dtype, **how)
        made = raw_ops.CSRSparseMatrixToDense(sparse_input=made, type=x.dtype)
    else:
        made = raw_ops.SparseMatrixMatMul(a=m, b=y, **how)
    return system.gradients(made, [x, y], made + system.ones_like(made))


@pytest.mark.parametrize("how", TURNS, ids=lambda how: "-".join(how) or "plain")
def test_gradients_of_products(how):
    import tensorflow.python.ops.linalg.sparse.sparse_csr_matrix_grad  # noqa: F401 - it registers them
    found = []
    for system in (v1, weft):
        with system.Graph().as_default(), system.Session() as session:
            found.append(session.run([product_gradients(system, how, dtype, batch, sparse) for dtype in (np.float32, np.complex64)
                                      for batch in (False, True) for sparse in (False, True)
                                      if not sparse or not {"transpose_output", "conjugate_output"} & how.keys()]))
    for expected, ours in zip(*found):
        for one, other in zip(expected, ours):
            np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-6)
            assert np.abs(one).max() > 0.1


def test_places_that_a_product_does_not_have_get_no_gradient():
    """The first matrix has a place behind all places of the gradient's product."""
    with weft.Graph().as_default(), weft.Session() as session:
        x, y = weft.constant(np.float32([[1, 0], [0, 2]])), weft.constant(np.float32([[3, 0], [0, 0]]))
        m, other = [weft.raw_ops.DenseToCSRSparseMatrix(dense_input=v, indices=places(w)) for v, w in ((x, np.eye(2)), (y, np.eye(2)[:1]))]
        made = weft.raw_ops.SparseMatrixSparseMatMul(a=m, b=other, type=weft.float32)
        grads = weft.gradients(weft.raw_ops.CSRSparseMatrixToDense(sparse_input=made, type=weft.float32), [x, y])
        assert [g.tolist() for g in session.run(grads)] == [[[3, 0], [0, 0]], [[1, 0], [0, 0]]]


def gradient_inputs(system, kind):
    """The ops that lead to the gradient of a matrix through an op for GPUs only.  Nodes that make a matrix count as one kind."""
    raw_ops = system.raw_ops
    x = system.constant(A)
    m = raw_ops.DenseToCSRSparseMatrix(dense_input=x, indices=places(A))
    made = (raw_ops.SparseMatrixAdd(a=m, b=m, alpha=system.constant(3.0), beta=system.constant(2.0)) if kind == "SparseMatrixAdd"
            else raw_ops.SparseMatrixSoftmax(logits=m, type=system.float32))
    above = system.gradients(raw_ops.CSRSparseMatrixToDense(sparse_input=made, type=system.float32), m)[0].op
    terms = list(above.inputs) if above.type == "AddN" else [above.outputs[0]]
    return [(t.op.type, [i.op.type.replace("DenseTo", "SparseTensorTo") for i in t.op.inputs]) for t in terms]


@pytest.mark.parametrize("kind", ["SparseMatrixAdd", "SparseMatrixSoftmax"])
def test_nodes_of_gradients_that_run_on_gpus_only(kind):
    import tensorflow.python.ops.linalg.sparse.sparse_csr_matrix_grad  # noqa: F401 - it registers them
    found = []
    for system in (v1, weft):
        with system.Graph().as_default():
            found.append(gradient_inputs(system, kind))
    assert found[0] == found[1], found


def test_a_product_by_numbers_has_no_gradient():
    for system in (v1, weft):
        with system.Graph().as_default():
            m = system.raw_ops.DenseToCSRSparseMatrix(dense_input=A, indices=places(A))
            with pytest.raises(NotImplementedError):
                system.gradients(system.raw_ops.CSRSparseMatrixToDense(
                    sparse_input=system.raw_ops.SparseMatrixMul(a=m, b=system.constant(2.0)), type=system.float32), m)


def definite(n, seed, dense=0.3, dtype=np.float64):
    """A positive definite matrix with about that part of its elements."""
    random = np.random.RandomState(seed)
    low = np.tril(random.randn(n, n) * (random.rand(n, n) < dense), -1)
    a = low + low.T if dtype != np.complex128 else low * (1 + 0.3j) + (low * (1 + 0.3j)).conj().T
    return (a + np.diag(np.abs(a).sum(1) + 1)).astype(dtype)


def grid(m):
    """The Laplacian of a square grid with m * m points."""
    line = 2 * np.eye(m) - np.eye(m, k=1) - np.eye(m, k=-1)
    return np.kron(line, np.eye(m)) + np.kron(np.eye(m), line) + 0.1 * np.eye(m * m)


def factor(m, order, dtype=tf.float64):
    return raw.SparseMatrixSparseCholesky(input=m, permutation=order, type=dtype)


ARROW = np.eye(5) * 10 + np.outer(np.eye(5)[0], np.ones(5)) + np.outer(np.ones(5), np.eye(5)[0])


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [1, 2, 3, 4, 0], [2, 0, 1, 4, 3]], ids=str)
def test_cholesky_factors(order):
    def steps():
        made = []
        for a in (definite(5, 7, 0.5), ARROW, definite(5, 3, 0.9), np.eye(5), np.tril(definite(5, 7, 0.5)), np.ones((5, 5)) + np.eye(5)):
            made.append(factor(csr(a), order))
        again = raw.SparseTensorToCSRSparseMatrix(  # unsorted, with an element twice and one that is not read
            indices=np.int64([[0, 0], [0, 0], [0, 4], [1, 1], [1, 0], [2, 2], [3, 3], [4, 4]]), values=np.float64([4, 5, 9, 6, 1, 1, 1, 1]),
            dense_shape=np.int64([5, 5]))
        cancels = factor(csr(np.float64([[1, 1, 1], [1, 2, 1], [1, 1, 3]])), [0, 1, 2])
        exact = definite(5, 2, 0.5, np.complex128)
        others = [(factor(csr(a), order, dtype), dtype) for a, dtype in (
            (exact, tf.complex128), (exact + np.diag([3j] * 5), tf.complex128), (exact.astype(np.complex64), tf.complex64),
            (definite(5, 1, 0.5, np.float32), tf.float32))]
        batch = factor(csr(np.stack([definite(5, 4, 0.5), definite(5, 5, 0.5)])), [order, order[::-1]])
        return [*[[*parts(m, dtype=tf.float64), dense(m, tf.float64)] for m in (*made, factor(again, order), cancels)],
                *[[*parts(m, dtype=t)[:2], dense(m, t)] for m, t in others], parts(batch, 0, tf.float64), parts(batch, 1, tf.float64),
                raw.SparseMatrixNNZ(sparse_matrix=batch), dense(factor(csr(definite(5, 4) * np.nan), order), tf.float64)]
    check(steps)


def test_what_cholesky_factors_refuse():
    def steps():
        a, two = csr(definite(3, 1)), csr(np.stack([definite(3, 1), definite(3, 2)]))
        hidden = [tf.identity(tf.constant(x)) for x in ([[0, 1, 2]], [0, 1, 2])]
        return [Fails(dense(m, tf.float64)) for m in (
            factor(csr(-definite(3, 1)), [0, 1, 2]), factor(csr(np.zeros((3, 3))), [0, 1, 2]), factor(a, hidden[0]), factor(two, hidden[1]),
            factor(two, hidden[0]))] + [Fails(dense(factor(a, [0, 1, 2], tf.float32)))]
    check(steps)


@pytest.mark.parametrize("order", [[0, 1, 1], [0, 1, 3], [0, 1, -1], [2**31 - 1, 0, 1]], ids=str)
def test_a_permutation_that_is_none_is_refused(order):
    """TensorFlow's process ends for some of them."""
    with weft.Graph().as_default(), weft.Session() as sess:
        m = weft.raw_ops.SparseTensorToCSRSparseMatrix(indices=np.int64([[0, 0], [1, 1], [2, 2]]), values=[1., 1., 1.],
                                                       dense_shape=np.int64([3, 3]))
        made = weft.raw_ops.SparseMatrixSparseCholesky(input=m, permutation=order, type=weft.float32)
        with pytest.raises(weft.errors.InvalidArgumentError, match="each of the numbers 0 to 2 once"):
            sess.run(weft.raw_ops.SparseMatrixNNZ(sparse_matrix=made))


def test_shapes_of_orders_and_factors():
    for system in (weft, tf.compat.v1):
        ops = system.raw_ops
        with system.Graph().as_default():
            def sparse(*dims):
                return ops.SparseTensorToCSRSparseMatrix(indices=np.zeros([0, len(dims)], np.int64), values=np.zeros(0),
                                                         dense_shape=np.int64(dims))
            assert ops.SparseMatrixOrderingAMD(input=sparse(3, 3)).shape.as_list() == [3]
            assert ops.SparseMatrixOrderingAMD(input=sparse(2, 3, 3)).shape.as_list() == [2, 3]
            made = ops.SparseMatrixSparseCholesky(input=sparse(3, 3), permutation=[0, 1, 2], type=system.float64)
            assert made.shape.as_list() == []
            assert ops.CSRSparseMatrixToDense(sparse_input=made, type=system.float64).shape.as_list() == [3, 3]
            for wrong in (lambda: ops.SparseMatrixOrderingAMD(input=sparse(2, 3)),
                          lambda: ops.SparseMatrixSparseCholesky(input=sparse(2, 3), permutation=[0, 1], type=system.float64),
                          lambda: ops.SparseMatrixSparseCholesky(input=sparse(3, 3), permutation=[0, 1], type=system.float64),
                          lambda: ops.SparseMatrixSparseCholesky(input=sparse(3, 3), permutation=1, type=system.float64)):
                with pytest.raises(ValueError, match="must be"):
                    wrong()
            with pytest.raises(LookupError):
                system.gradients(ops.CSRSparseMatrixToDense(sparse_input=made, type=system.float64), made.op.inputs[0])


def orders(system, matrices):
    with system.Graph().as_default(), system.Session() as sess:
        raw_ops = system.raw_ops

        def sparse(x):
            at = places(x)
            return raw_ops.SparseTensorToCSRSparseMatrix(indices=at, values=x[tuple(at.T)], dense_shape=np.array(x.shape, np.int64))
        made = [raw_ops.SparseMatrixOrderingAMD(input=sparse(x)) for x in matrices]
        filled = [raw_ops.SparseMatrixNNZ(sparse_matrix=raw_ops.SparseMatrixSparseCholesky(
            input=sparse(x), permutation=order, type=system.float64)) for x, order in zip(matrices, made)]
        return sess.run(made), sess.run(filled)


def test_orders_keep_factors_as_sparse_as_tensorflows():
    """The orders may differ where several rows have as few neighbors; the factors then have about as many elements."""
    given = [ARROW, np.eye(6), grid(4), grid(9), grid(16), definite(60, 1, 0.05), definite(120, 2, 0.02), definite(30, 3, 0.5),
             np.ones((6, 6)) + 6 * np.eye(6), grid(1)]
    (ours, mine), (_, theirs) = (orders(system, given) for system in (weft, tf.compat.v1))
    for matrix, order in zip(given, ours):
        assert sorted(order) == list(range(len(matrix)))
    assert mine[0] == 9 and ours[1].tolist() == list(range(6))
    for a, b in zip(mine, theirs):
        assert a <= 1.15 * b, (mine, theirs)
    batch = np.stack([definite(6, 5), definite(6, 8)])
    (together, _), (apart, _) = (orders(weft, given) for given in ([batch], list(batch)))
    assert together[0].tolist() == [x.tolist() for x in apart]
    assert sorted(orders(weft, [np.zeros((4, 4)) + np.eye(4)])[0][0]) == [0, 1, 2, 3]
