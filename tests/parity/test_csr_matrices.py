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


@pytest.mark.parametrize("name", ["SparseMatrixAdd", "SparseMatrixMul", "SparseMatrixSoftmax", "SparseMatrixSoftmaxGrad", "SparseMatrixZeros"])
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
