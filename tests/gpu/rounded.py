"""rounded.py - products whose operands are rounded to bfloat16 (WEFT_BF16=1), against NumPy, and long means.

    WEFT_BF16=1 python3 -m weft tests/gpu/rounded.py    with the package on PYTHONPATH, on a machine with a card

Each line has the sizes, the number of matrices, what is transposed, and whether the result is within the rounding of bfloat16 and the
same in each run.
"""
import numpy as np
import tensorflow as tf

rng = np.random.RandomState(0)


def said(got, expected, tolerance):
    error = max(np.abs(g - expected).max() for g in got)
    return "right" if error < tolerance and got[1].tobytes() == got[2].tobytes() else "WRONG: %g" % error


with tf.Session() as s:
    for m, k, n in ((512, 768, 1024), (300, 650, 1004), (129, 1301, 257)):
        for count in (1, 6):
            a, b = rng.randn(count, m, k).astype(np.float32), rng.randn(count, k, n).astype(np.float32)
            for flip_a, flip_b in ((False, False), (False, True), (True, False), (True, True)):
                x, y = (v.swapaxes(1, 2) if flip else v for v, flip in ((a, flip_a), (b, flip_b)))
                x, y = (v[0] if count == 1 else v for v in (x, y))
                feed = {tf.placeholder(tf.float32, v.shape): v for v in (x, y)}
                product = tf.matmul(*feed, transpose_a=flip_a, transpose_b=flip_b)
                got = [s.run(product, feed) for _ in range(3)]
                expected = a.astype(np.float64) @ b
                print(m, k, n, count, int(flip_a), int(flip_b), said(got, expected[0] if count == 1 else expected, 0.025 * np.sqrt(k)))
    # Products that share operands, which are rounded once: of matrices, of batches, and of sizes that are no multiple of four.
    for m, k, n in ((512, 768, 1024), (301, 651, 257)):
        a, b, c = (rng.randn(*size).astype(np.float32) for size in ((m, k), (k, n), (m, n)))
        x, y, z = (tf.placeholder_with_default(v, v.shape) for v in (a, b, c))
        twice = tf.stack([x * 2.0, x])
        made = tf.tanh(x) * 2.0 + tf.sigmoid(x)  # by a group, which writes it rounded
        shared = [tf.matmul(made, y), tf.matmul(made, z, transpose_a=True), tf.matmul(x, y),
                  tf.matmul(x, z, transpose_a=True), tf.matmul(z, y, transpose_b=True),
                  tf.matmul(twice, tf.stack([y, y])), tf.matmul(twice, twice, transpose_b=True)]
        two = np.stack([a * 2.0, a]).astype(np.float64)
        of = np.tanh(a.astype(np.float64)) * 2 + 1 / (1 + np.exp(-a.astype(np.float64)))
        wide = [v.astype(np.float64) for v in (a, b, c)]
        expected = [of @ b, of.T @ c, wide[0] @ b, wide[0].T @ c, wide[2] @ b.T, two @ b, two @ two.swapaxes(1, 2)]
        got = [s.run(shared) for _ in range(3)]
        for i, right in enumerate(expected):
            print("shared", m, k, n, i, said([g[i] for g in got], right, 0.006 * np.abs(right).std() * 10))
    for rows, columns in ((1, 1 << 20), (3, 300004), (4096, 768), (5000, 1001)):
        x = rng.rand(rows, columns).astype(np.float32)
        mean = tf.reduce_mean(tf.placeholder_with_default(x, x.shape), axis=1)
        print("mean", rows, columns, said([s.run(mean) for _ in range(3)], x.astype(np.float64).mean(axis=1), 1e-6))
