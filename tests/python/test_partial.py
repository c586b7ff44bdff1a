"""Session.partial_run and make_callable in one process, as in TensorFlow."""
import pathlib
import sys

import numpy as np
import pytest

import weft
from both import oracle

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parent.parent / "interop"))
import partial  # noqa: E402


@pytest.mark.parametrize("name", partial.SCENARIOS)
def test_in_one_process(name):
    partial.same(partial.run(weft, "", name), partial.run(oracle, "", name))


def test_closing_the_session_ends_it():
    said = []
    for tf in weft, oracle:
        with tf.Graph().as_default():
            p = partial.Program(tf)
            sess = tf.Session()
            sess.run(p.v.initializer)
            h = sess.partial_run_setup([p.r1, p.r2], [p.a, p.b, p.c])
            sess.partial_run(h, p.r1, {p.a: 1, p.b: 2})
            call = sess.make_callable(p.other, [p.a])
            sess.close()
            said.append([partial.outcome(sess.partial_run, h, p.r2, {p.c: 1}), partial.outcome(sess.partial_run_setup, p.r1),
                         partial.outcome(call, 1)])
    assert said[0] == said[1]


def test_what_is_fed_may_change_after_the_call():
    with weft.Graph().as_default(), weft.Session() as sess:
        a, b = weft.placeholder(weft.float32, [100000]), weft.placeholder(weft.float32, [])
        product = a * b
        h = sess.partial_run_setup([product], [a, b])
        given = np.ones([100000], np.float32)
        sess.partial_run(h, [], {a: given})
        given[:] = 7
        assert sess.partial_run(h, product, {b: 2}).sum() == 200000
