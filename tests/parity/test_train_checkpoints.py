"""Every optimizer's state goes through checkpoints both ways: each side goes on where the other stopped."""
import ctypes as C

import pytest
import tensorflow as tf

import compare
import test_train_optimizers as optimizers
import weftlib
from trainlib import reference_variables  # noqa: F401

v1 = tf.compat.v1
lib = weftlib.lib


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("name", optimizers.KINDS)
def test_both_ways(name, resource, tmp_path):
    g, ours, _, train, *_ = optimizers.both(name, resource)
    feeds = optimizers.feeds(True)
    with g.as_default():
        names = [v.op.name + ("/Read/ReadVariableOp:0" if resource and v.op.name != "global_step" else ":0")
                 for v in v1.global_variables()]
        saver = v1.train.Saver()
    s, mine = weftlib.Session(ours), C.c_void_p()
    weftlib.check(lib.weft_saver_create(C.byref(mine), ours.ptr, None))

    def same(tfs, when, exactly=False):
        for n, a, b in zip(names, tfs.run(names), s.run(names)):
            d = compare.difference(f"{when}: {n}", a, b, 20.)
            assert d is None, d
            assert not exactly or a.tobytes() == b.tobytes(), f"{when}: {n}"

    def go_on(tfs, first):
        for i in range(first, first + 3):
            tfs.run(train, feeds(i)), s.run((), feeds(i), [train])

    with v1.Session(graph=g) as tfs:
        tfs.run("init")
        for i in range(3):
            tfs.run(train, feeds(i))
        theirs = saver.save(tfs, str(tmp_path / "theirs"))
        weftlib.check(lib.weft_saver_restore(mine, s.ptr, theirs.encode()))
        same(tfs, "restored here", exactly=True)
        go_on(tfs, 3)
        same(tfs, "gone on here")
    weftlib.check(lib.weft_saver_save(mine, s.ptr, str(tmp_path / "ours").encode(), None, None))
    with v1.Session(graph=g) as tfs:
        saver.restore(tfs, str(tmp_path / "ours"))
        same(tfs, "restored there", exactly=True)
        go_on(tfs, 6)
        same(tfs, "gone on there")
    lib.weft_saver_destroy(mine)
