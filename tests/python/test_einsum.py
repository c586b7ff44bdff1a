"""tf.einsum: the nodes and numbers that TensorFlow makes of the same equation."""
import numpy as np
import pytest

import weft
from both import both, oracle

R = np.random.RandomState(3)
A, B, C, V = (R.randn(*s).astype(np.float32) for s in ((2, 3), (3, 4), (4, 5), (3,)))
BATCH = R.randn(6, 2, 3).astype(np.float32)


@pytest.mark.parametrize("equation,inputs", [
    ("ij,jk->ik", (A, B)), ("ij,jk", (A, B)), (" ij , jk -> ki ", (A, B)), ("ij->ji", (A,)), ("ba", (A,)), ("ij,ij->", (A, A)),
    ("i,j->ij", (V, V)), ("bij,jk->bik", (BATCH, B)), ("...ij,jk->...ik", (BATCH, B)), ("...j,jk", (BATCH, B)), ("bij->b", (BATCH,))])
def test_equations(equation, inputs):
    def program(tf):
        x = [tf.constant(i) for i in inputs]
        return [tf.einsum(equation, *x)]
    both(program)


def test_gradients():
    def program(tf):
        a, b, v = tf.constant(BATCH), tf.constant(B), tf.constant(V)
        y = tf.einsum("bij,jk,j->bk", a, b, v)
        return [y, *tf.gradients(tf.square(y), [a, b, v])]
    both(program, same_nodes=False, tolerance=1e-4)


def test_many_operands():
    both(lambda tf: [tf.einsum("ij,jk,kl->il", tf.constant(A), tf.constant(B), tf.constant(C), name="chain"),
                     tf.einsum("ij,j,jk->k", tf.constant(A), tf.constant(V), tf.constant(B))], same_nodes=False, tolerance=1e-4)


def test_equations_that_mean_nothing():
    for equation, inputs in (("ij,jk->ik", (A,)), ("ij->ik", (A,)), ("i1->i", (A,)), ("ijk->i", (A,)), ("ij,jk->ik", (A, A))):
        for tf in (weft, oracle):
            with tf.Graph().as_default(), pytest.raises(ValueError):
                tf.einsum(equation, *[tf.constant(i) for i in inputs])
