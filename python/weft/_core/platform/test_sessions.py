"""The sessions of tf.test.TestCase: a kept one and new ones, both with TensorFlow's settings for tests."""
import contextlib
import random

import numpy as np

_SEED = 87654321  # the seed of TensorFlow's tests


class SessionCase:
    """The session methods of a test case. They also work in classes whose setUp does not call that of the base."""

    _kept = None  # (session, graph, config) of the kept session

    def begin_graph(self):
        """Resets the default graph, with the seed of tests, and closes the kept session."""
        from weft._core.framework.graph import get_default_graph, reset_default_graph
        self.drop_session()
        random.seed(_SEED)
        np.random.seed(_SEED)
        reset_default_graph()
        get_default_graph().seed = _SEED

    def drop_session(self):
        """Closes the kept session."""
        if self._kept is not None:
            self._kept[0].close()
            self._kept = None

    def _new_session(self, graph, config, force_gpu):
        from weft._core.framework.protos import ConfigProto
        from weft._core.session.client import Session
        if config is None:
            config = ConfigProto(allow_soft_placement=not force_gpu)
        elif force_gpu and config.allow_soft_placement:
            config = ConfigProto.FromString(config.SerializeToString())
            config.allow_soft_placement = False
        return Session(graph=graph, config=config)

    def _kept_session(self, graph, config, force_gpu, same):
        """Returns the session that the test keeps; with `same`, an error if it was made for something else."""
        if self._kept is None:
            self._kept = self._new_session(graph, config, force_gpu), graph, config
        elif same and self._kept[1] is not graph:
            raise ValueError("The graph used to get the cached session is different than the one that was used to create the session. "
                             "Maybe create a new session with self.session()")
        elif same and self._kept[2] is not config:
            raise ValueError("The config used to get the cached session is different than the one that was used to create the session. "
                             "Maybe create a new session with self.session()")
        return self._kept[0]

    @contextlib.contextmanager
    def _in_session(self, sess, use_gpu, force_gpu):
        """Makes sess the default session; without use_gpu the nodes of its graph are placed on the CPU."""
        from weft._core.platform.test import gpu_device_name
        place = (gpu_device_name() or "/device:GPU:0") if force_gpu else None if use_gpu else "/device:CPU:0"
        with sess.graph.as_default() as graph, sess.as_default(), graph.device(place) if place else contextlib.nullcontext():
            yield sess

    @contextlib.contextmanager
    def session(self, graph=None, config=None, use_gpu=True, force_gpu=False):
        """Yields a new session, which is closed at the end of the block."""
        sess = self._new_session(graph, config, force_gpu)
        try:
            with self._in_session(sess, use_gpu, force_gpu):
                yield sess
        finally:
            sess.close()

    @contextlib.contextmanager
    def cached_session(self, graph=None, config=None, use_gpu=True, force_gpu=False):
        """Yields the kept session, which is made on first use."""
        with self._in_session(self._kept_session(graph, config, force_gpu, True), use_gpu, force_gpu) as sess:
            yield sess

    @contextlib.contextmanager
    def test_session(self, graph=None, config=None, use_gpu=True, force_gpu=False):
        """Yields the kept session, or a new one if a graph is given."""
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")
        if graph is not None:
            with self.session(graph, config, use_gpu, force_gpu) as sess:
                yield sess
            return
        with self._in_session(self._kept_session(graph, config, force_gpu, False), use_gpu, force_gpu) as sess:
            yield sess

    def evaluate(self, tensors):
        """Returns the values of tensors, in the default session or else in the one that the test keeps."""
        from weft._core.session.client import get_default_session
        sess = get_default_session()
        if sess is not None:
            return sess.run(tensors)
        with self.test_session() as sess:
            return sess.run(tensors)
