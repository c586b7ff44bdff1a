"""products.py - products of matrices with few rows (kernels/gemm/skinny.cu), against NumPy.

    python3 -m weft tests/gpu/products.py    with the package on PYTHONPATH, on a machine with a card

Each line has the sizes, whether the second matrix is transposed, and whether the result is right.
"""
import numpy as np
import tensorflow as tf

rng = np.random.RandomState(0)

with tf.Session() as s:
    for rows in (1, 6, 11, 13, 20, 23, 28, 32, 33):
        for inner, columns in ((1300, 2600), (2600, 1300), (1301, 1028), (5000, 132)):
            a, b = rng.randn(rows, inner).astype(np.float32), rng.randn(inner, columns).astype(np.float32)
            expected = a.astype(np.float64) @ b
            for flip in (False, True):
                y = tf.placeholder(tf.float32, b.T.shape if flip else b.shape)
                product = tf.matmul(tf.constant(a), y, transpose_b=flip)
                got = [s.run(product, {y: b.T if flip else b}) for _ in range(3)]
                error = max(np.abs(g - expected).max() for g in got) / np.sqrt(inner)
                right = error < 1e-5 and got[1].tobytes() == got[2].tobytes()
                print(rows, inner, columns, int(flip), "right" if right else "WRONG: %g" % error, flush=True)
