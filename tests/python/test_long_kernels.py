"""Ops that may compute for hours on inputs that fit memory: each ends soon after its step's deadline, fed or folded."""
import resource
import time
import zlib

import numpy as np
import pytest

import weft as tf

LONG = 1_000_000  # a row of so many numbers, under a window as long


def image(*shape):
    return np.linspace(0, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)


def boxes(n):
    at = 2 * np.arange(n, dtype=np.float32)
    return np.stack([at, at, at + 1, at + 1], 1)


def sequence(n):
    return np.stack([np.zeros(n, np.int64), np.arange(n)], 1), np.arange(n), np.array([1, n])


def matrix(*shape, dtype=np.float32):
    return np.random.RandomState(1).uniform(0, 9, shape).astype(dtype)


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


def dominant(n):
    """A symmetric matrix that is positive definite."""
    half = matrix(n, n)
    return half + half.T + 20 * n * np.eye(n, dtype=np.float32)


def dense_rows(n, per_row):
    """The places of a square sparse matrix with as many numbers in each row."""
    at = np.arange(n * per_row)
    return np.stack([at // per_row, at % per_row * (n // per_row)], 1)


def rows_matrix(op, at, x, n):
    return op.SparseTensorToCSRSparseMatrix(indices=at, values=x, dense_shape=[n, n])


def sampled(name, n):
    return lambda: [np.array([[1]])], lambda op, x: getattr(op, name)(
        true_classes=x, num_true=1, num_sampled=n, unique=True, range_max=n)


def pooled(name, rank, **more):
    ones = [1] * rank
    window = [LONG if i == rank - 2 else 1 for i in range(rank)]
    return lambda: [image(*window)], lambda op, x: getattr(op, name)(
        **{more.get("arg", "input"): x}, ksize=window, strides=ones, padding="SAME")


def pooled_gradient(op, x):
    return op.MaxPoolGrad(orig_input=x, orig_output=x, grad=x, ksize=[1, 1, LONG, 1], strides=[1, 1, 1, 1], padding="SAME")


def averaged_gradient(op, x):
    return op.AvgPoolGrad(orig_input_shape=[1, 1, LONG, 1], grad=x, ksize=[1, 1, LONG, 1], strides=[1, 1, 1, 1], padding="SAME")


def quantized_pool(op, x):
    return op.QuantizedMaxPool(input=tf.bitcast(x, tf.quint8), min_input=0., max_input=1., ksize=[1, 1, LONG, 1],
                               strides=[1, 1, 1, 1], padding="SAME")


def edits(op, *x):
    names = ["hypothesis_indices", "hypothesis_values", "hypothesis_shape", "truth_indices", "truth_values", "truth_shape"]
    return op.EditDistance(**dict(zip(names, x, strict=True)))


def suppressed(op, at, scores):
    return op.NonMaxSuppressionV5(boxes=at, scores=scores, max_output_size=len(boxes(300_000)), iou_threshold=.5,
                                  score_threshold=-1., soft_nms_sigma=.5)


def combined(op, at, scores):
    return op.CombinedNonMaxSuppression(boxes=at, scores=scores, max_output_size_per_class=300_000, max_total_size=300_000,
                                        iou_threshold=.5, score_threshold=-1.)


def widened(op, name, x, f, **more):
    return getattr(op, name)(input=x, filter=f, strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="SAME", **more)


CASES = {
    "index shuffle": (lambda: [np.zeros(LONG, np.int32), np.arange(3, dtype=np.int32)],
                      lambda op, x, seed: op.RandomIndexShuffle(index=x, seed=seed, max_index=x, rounds=64)),
    "log uniform": sampled("LogUniformCandidateSampler", 40_000_000),
    "uniform": sampled("UniformCandidateSampler", 100_000_000),
    "unigrams": (lambda: [np.array([[1]])], lambda op, x: op.FixedUnigramCandidateSampler(
        true_classes=x, num_true=1, num_sampled=2, unique=True, range_max=2, unigrams=[1e30, 1e-30])),
    "hits": (lambda: [np.full((300_000, 1), -1), np.arange(300_000)],
             lambda op, x, y: op.ComputeAccidentalHits(true_classes=x, sampled_candidates=y, num_true=1)),
    "suppression": (lambda: [boxes(300_000), image(300_000)], suppressed),
    "combined suppression": (lambda: [boxes(300_000).reshape(1, -1, 1, 4), image(1, 300_000, 1)], combined),
    "edits": (lambda: [*sequence(300_000), *sequence(300_000)], edits),
    "neighbors": (lambda: [image(LONG, 1), image(LONG, 1)],
                  lambda op, x, y: op.NearestNeighbors(points=x, centers=y, k=1)),
    "neighbors of one": (lambda: [image(1, 1), 1 + image(LONG, 1)[::-1]],
                         lambda op, x, y: op.NearestNeighbors(points=x, centers=y, k=LONG)),
    "centers": (lambda: [image(100_000, 4)], lambda op, x: op.KmeansPlusPlusInitialization(
        points=x, num_to_sample=100_000, seed=1, num_retries_per_sample=10_000)),
    "max pool": pooled("MaxPool", 4),
    "max pool with places": pooled("MaxPoolWithArgmax", 4),
    "mean pool": pooled("AvgPool", 4, arg="value"),
    "max pool of volumes": pooled("MaxPool3D", 5),
    "mean pool of volumes": pooled("AvgPool3D", 5),
    "gradient of a max pool": (lambda: [image(1, 1, LONG, 1)], pooled_gradient),
    "gradient of a mean pool": (lambda: [image(1, 1, LONG, 1)], averaged_gradient),
    "quantized pool": (lambda: [np.zeros((1, 1, LONG, 1), np.uint8)], quantized_pool),
    "dilation": (lambda: [image(1, 1, LONG, 1), image(1, LONG, 1)], lambda op, x, f: widened(op, "Dilation2D", x, f)),
    "gradient of a dilation": (lambda: [image(1, 1, LONG, 1), image(1, LONG, 1)],
                               lambda op, x, f: widened(op, "Dilation2DBackpropFilter", x, f, out_backprop=x)),
    "coefficients": (lambda: [image(1, 100, 100_000)], lambda op, x: op.Mfcc(
        spectrogram=x, sample_rate=16_000, filterbank_channel_count=100_000, dct_coefficient_count=100_000)),
    "paths": (lambda: [image(20_000, 1, 4), sequence(10_000)[0], np.arange(10_000, dtype=np.int32) % 3],
              lambda op, x, at, labels: op.CTCLoss(inputs=x, labels_indices=at, labels_values=labels, sequence_length=[20_000])),
    "beams": (lambda: [image(1000, 1, 1000)],
              lambda op, x: op.CTCBeamSearchDecoder(inputs=x, sequence_length=[1000], beam_width=1000, top_paths=1)),
    "product": (lambda: [matrix(4000, 4000, dtype=np.int32)] * 2, lambda op, x, y: op.MatMul(a=x, b=y)),
    "products": (lambda: [matrix(20, 1500, 1500, dtype=np.int64)] * 2, lambda op, x, y: op.BatchMatMulV2(x=x, y=y)),
    "sum of products": (lambda: [matrix(4000, 4000, dtype=np.int32)] * 2,
                        lambda op, x, y: op.Einsum(inputs=[x, y], equation="ij,jk->ik")),
    "singular values": (lambda: [matrix(2000, 2000)], lambda op, x: op.Svd(input=x)),
    "singular values of many": (lambda: [matrix(4000, 60, 60)], lambda op, x: op.Svd(input=x)),
    "eigenvalues": (lambda: [dominant(2500)], lambda op, x: op.SelfAdjointEigV2(input=x)),
    "complex eigenvalues": (lambda: [matrix(1000, 1000)], lambda op, x: op.Eig(input=x, Tout=tf.complex64)),
    "root": (lambda: [dominant(1500)], lambda op, x: op.MatrixSquareRoot(input=x)),
    "logarithm": (lambda: [dominant(1500).astype(np.complex64)], lambda op, x: op.MatrixLogarithm(input=x)),
    "reflections": (lambda: [matrix(3000, 3000)], lambda op, x: op.Qr(input=x, full_matrices=True)),
    "triangle": (lambda: [dominant(6000)], lambda op, x: op.Cholesky(input=x)),
    "gradient of a triangle": (lambda: [dominant(3000), matrix(3000, 3000)],
                               lambda op, x, y: op.CholeskyGrad(l=x, grad=y)),
    "elimination": (lambda: [dominant(6000)], lambda op, x: op.Lu(input=x)),
    "inverse": (lambda: [dominant(5000)], lambda op, x: op.MatrixInverse(input=x)),
    "solution": (lambda: [dominant(5000)] * 2, lambda op, x, y: op.MatrixSolve(matrix=x, rhs=y)),
    "determinant": (lambda: [dominant(6000)], lambda op, x: op.MatrixDeterminant(input=x)),
    "substitution": (lambda: [dominant(6000)] * 2, lambda op, x, y: op.MatrixTriangularSolve(matrix=x, rhs=y)),
    "least squares": (lambda: [matrix(2000, 1000), matrix(2000, 1000)], lambda op, x, y: op.MatrixSolveLs(
        matrix=x, rhs=y, l2_regularizer=tf.constant(0., tf.float64), fast=False)),
    "convolution": (lambda: [zeros(64, 128, 128, 64), zeros(7, 7, 64, 256)],
                    lambda op, x, f: op.Conv2D(input=x, filter=f, strides=[1] * 4, padding="SAME")),
    "convolution of doubles": (lambda: [zeros(8, 64, 64, 64, dtype=float), zeros(5, 5, 64, 128, dtype=float)],
                               lambda op, x, f: op.Conv2D(input=x, filter=f, strides=[1] * 4, padding="SAME")),
    "gradient of a convolution": (lambda: [zeros(16, 128, 128, 64), zeros(16, 128, 128, 256)],
                                  lambda op, x, y: op.Conv2DBackpropFilter(
                                      input=x, filter_sizes=[5, 5, 64, 256], out_backprop=y, strides=[1] * 4, padding="SAME")),
    "elements": (lambda: [image(20_000_000)], lambda op, x: op.Igamma(a=x, x=x)),
    "sparse product": (lambda: [np.zeros((6_000_000, 2), np.int64), image(6_000_000), image(1, 20_000)],
                       lambda op, at, x, y: op.SparseTensorDenseMatMul(a_indices=at, a_values=x, a_shape=[1, 1], b=y)),
    "sparse matrices": (lambda: [dense_rows(8000, 1000), image(8_000_000)], lambda op, at, x: op.SparseMatrixSparseMatMul(
        a=rows_matrix(op, at, x, 8000), b=rows_matrix(op, at, x, 8000), type=tf.float32)),
    "order of rows": (lambda: [dense_rows(20_000, 100), image(2_000_000)],
                      lambda op, at, x: op.SparseMatrixOrderingAMD(input=rows_matrix(op, at, x, 20_000))),
    "quantized convolution": (lambda: [zeros(8, 256, 256, 64, dtype=np.uint8), zeros(5, 5, 64, 64, dtype=np.uint8)],
                              lambda op, x, f: op.QuantizedConv2D(
                                  input=tf.bitcast(x, tf.quint8), filter=tf.bitcast(f, tf.quint8), min_input=0., max_input=1.,
                                  min_filter=0., max_filter=1., strides=[1] * 4, padding="SAME")),
    "dequantization": (lambda: [zeros(400_000_000, dtype=np.uint8)], lambda op, x: op.Dequantize(
        input=tf.bitcast(x, tf.quint8), min_range=0., max_range=1.)),
    "gammas": (lambda: [np.array([100_000_000])], lambda op, x: op.RandomGamma(shape=x, alpha=tf.constant([.3]))),
    "top elements": (lambda: [matrix(1000, 100_000)], lambda op, x: op.TopKV2(input=x, k=90_000)),
    "resized image": (lambda: [image(8, 30, 30, 4)], lambda op, x: op.ScaleAndTranslate(
        images=x, size=[7000, 4000], scale=[1., 1.], translation=[0., 0.])),
    "segments": (lambda: [matrix(1000, 1000), np.zeros(10_000_000, np.int32), np.zeros(10_000_000, np.int32)],
                 lambda op, x, at, ids: op.SparseSegmentSum(data=x, indices=at, segment_ids=ids)),
    "distinct numbers": (lambda: [np.random.RandomState(1).uniform(size=40_000_000)], lambda op, x: op.Unique(x=x)),
    "replaced words": (lambda: [np.full(3_000_000, "word 12 and more", object)], lambda op, x: op.RegexReplace(
        input=x, pattern="(w.r)(d+)", rewrite="\\2\\1")),
    "difference of sets": (lambda: [np.random.RandomState(1).randint(0, 1 << 60, (1, 8_000_000))] * 2,
                           lambda op, x, y: op.DenseToDenseSetOperation(set1=x, set2=y, set_operation="a-b")),
    "counts": (lambda: [np.random.RandomState(1).randint(0, 1 << 60, 8_000_000)], lambda op, x: op.DenseCountSparseOutput(
        values=x, weights=tf.zeros([0]), binary_output=False)),
    "capitals": (lambda: [np.array(["a" * (1 << 30)], object)], lambda op, x: op.StringUpper(input=x)),
    "capitals of letters": (lambda: [np.array(["\u00e9" * (1 << 27)], object)],
                            lambda op, x: op.StringUpper(input=x, encoding="utf-8")),
    "transform of a prime length": (lambda: [np.ones(9_999_991, np.complex64)], lambda op, x: op.FFT(input=x)),
    "transform of real numbers": (lambda: [zeros(9_999_991)], lambda op, x: op.RFFT(input=x, fft_length=[9_999_991])),
    "normalization": (lambda: [image(1, 1, 1, LONG)], lambda op, x: op.LRN(input=x, depth_radius=LONG)),
}


@pytest.mark.parametrize("name, fed", [(name, True) for name in CASES] + [("max pool", False), ("edits", False)])
def test_a_long_kernel_ends_at_its_deadline(name, fed):
    values, build = CASES[name]
    with tf.Graph().as_default():
        given = [np.ascontiguousarray(v) for v in values()]
        inputs = [tf.placeholder(tf.as_dtype(v.dtype), v.shape) if fed else tf.constant(v) for v in given]
        out = build(tf.raw_ops, *inputs)
        while isinstance(out, (list, tuple)):
            out = out[0]
        with tf.Session() as sess:
            begin = time.monotonic()
            with pytest.raises(tf.errors.DeadlineExceededError):
                sess.run(out.op, dict(zip(inputs, given, strict=True)) if fed else None, options=tf.RunOptions(timeout_in_ms=300))
            assert time.monotonic() - begin < 20


def test_zeta_far_below_zero_is_as_quick_as_near_it():
    q = np.array([-1500.25, -1e6 - .5, -1e10 - .5, -1e15 - .5])
    with tf.Graph().as_default(), tf.Session() as sess:
        even, odd = sess.run([tf.zeta(tf.fill([4], np.float64(s)), q) for s in (2, 3)])
    assert np.allclose(even[1:], np.pi**2)  # the sum over all n of 1 / (n + 1/2)^2
    assert np.allclose(odd[1:], 0, atol=1e-9)
    terms = -1500.25 + np.arange(4_000_000)
    assert np.allclose([even[0], odd[0]], [(terms**-2).sum() + 1 / 3_998_500, (terms**-3).sum()], rtol=1e-9)


@pytest.mark.parametrize("name, bomb", [
    ("ParseTensor", tf.compat.as_bytes(b"\x08\x01\x12\x08\x12\x06\x08\x80\xa8\xd6\xb9\x07\x2d\x00\x00\x80\x3f")),
    ("DecodeCompressed", zlib.compress(b"\0" * (64 << 20), 9))])
def test_a_constant_that_unpacks_to_gigabytes_takes_no_memory_before_it_runs(name, bomb):
    more = {"serialized": bomb, "out_type": tf.float32} if name == "ParseTensor" else {"bytes": bomb, "compression_type": "ZLIB"}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tf.Graph().as_default():
        x = getattr(tf.raw_ops, name)(**more)
        tf.reshape(x, [tf.rank(x), -1])
        tf.reduce_max(x if x.dtype == tf.float32 else tf.strings.length(x))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 32 << 10


def test_a_query_without_rows_ends_with_its_step():
    query = "with recursive n(x) as (select 1 union all select x + 1 from n) select x from n where x < 0"
    with tf.Graph().as_default(), tf.Session() as sess:
        row = tf.data.experimental.SqlDataset("sqlite", ":memory:", query, (tf.int64,)).make_one_shot_iterator().get_next()
        begin = time.monotonic()
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(row, options=tf.RunOptions(timeout_in_ms=300))
        assert time.monotonic() - begin < 20
