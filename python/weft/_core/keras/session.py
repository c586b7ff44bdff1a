"""The state of tf.keras.backend: the session that Keras uses, the learning phase, uids, and the values of variables.

Everything belongs to a graph, so that programs with several graphs keep them apart.  Keras initializes its variables
when it first asks for the session; variables that a program or a checkpoint has set already keep their values.
"""
import contextlib
import threading

import numpy as np

import weft as tf
from weft._core.framework.nest import flatten, pack_like
from weft._core.keras.other_shapes import OtherShapes

_local = threading.local()
_manual = False


class _Config:
    """Holds the settings of Keras's ~/.keras/keras.json."""

    floatx, epsilon, image_data_format = "float32", 1e-7, "channels_last"


def _of(graph, key, make):
    return graph.__dict__.setdefault("_keras_" + key, make())


# ---- settings ----

def backend():
    """Returns the name of the library that Keras uses."""
    return "tensorflow"


def epsilon():
    """Returns the small number that keeps divisions and logarithms away from zero."""
    return _Config.epsilon


def set_epsilon(value):
    _Config.epsilon = value


def floatx():
    """Returns the default floating-point type."""
    return _Config.floatx


def set_floatx(value):
    accepted = {"bfloat16", "float16", "float32", "float64"}
    if value not in accepted:
        raise ValueError("Unknown `floatx` value: %s. Expected one of %s" % (value, accepted))
    _Config.floatx = str(value)


def cast_to_floatx(x):
    """Returns an array or a tensor cast to the type floatx()."""
    if isinstance(x, (tf.Tensor, tf.Variable, tf.SparseTensor)):
        return tf.cast(x, dtype=floatx())
    return np.asarray(x, dtype=floatx())


def image_data_format():
    """Returns the default layout of images: channels_last or channels_first."""
    return _Config.image_data_format


def set_image_data_format(data_format):
    accepted = {"channels_last", "channels_first"}
    if data_format not in accepted:
        raise ValueError("Unknown `data_format`: %s. Expected one of %s" % (data_format, accepted))
    _Config.image_data_format = str(data_format)


# ---- names ----

def get_uid(prefix=""):
    """Returns the next number of a prefix in this graph, counted from 1."""
    counts = tf.get_default_graph().__dict__.setdefault("_layer_counts", {})
    counts[prefix] = counts.get(prefix, 0) + 1
    return counts[prefix]


def reset_uids():
    """Restarts the numbers from 1."""
    tf.get_default_graph().__dict__.pop("_layer_counts", None)


# ---- the learning phase ----

def learning_phase():
    """Returns the value that was set, or an input that is False unless it is fed."""
    graph = tf.get_default_graph()
    if graph.__dict__.get("_keras_phase") is None:
        with tf.name_scope(None), graph.control_dependencies(None):
            graph._keras_phase = tf.placeholder_with_default(False, [], name="keras_learning_phase")
    return graph._keras_phase


def set_learning_phase(value):
    """Sets the phase for layers of this graph made from now on: 1 for training, 0 otherwise."""
    if value not in (0, 1):
        raise ValueError("Expected learning phase to be 0 or 1.")
    tf.get_default_graph()._keras_phase = int(value)


@contextlib.contextmanager
def learning_phase_scope(value):
    """Sets the phase inside a with block, and restores the previous one after it."""
    if value not in (0, 1):
        raise ValueError("Expected learning phase to be 0 or 1.")
    graph = tf.get_default_graph()
    before = graph.__dict__.get("_keras_phase")
    try:
        set_learning_phase(value)
        yield value
    finally:
        graph._keras_phase = before


def symbolic_phase():
    """Returns the input that is fed while training, or None if the phase is a number or was never used."""
    found = tf.get_default_graph().__dict__.get("_keras_phase")
    return found if isinstance(found, tf.Tensor) else None


# ---- the session ----

def manual_variable_initialization(value):
    """Sets whether the program initializes variables itself."""
    global _manual
    _manual = value


def track_variable(variable):
    """Records a variable that get_session initializes."""
    _of(variable.graph, "variables", dict)[id(variable)] = variable


def track_optimizer(optimizer):
    """Records an optimizer of tf.train whose variables get_session initializes."""
    _of(tf.get_default_graph(), "optimizers", list).append(optimizer)


def _initialize(session):
    """Initializes the variables of Keras that have no value."""
    graph = session.graph
    found = list(_of(graph, "variables", dict).values())
    for optimizer in _of(graph, "optimizers", list):
        found += optimizer.variables()
    seen = session.__dict__.setdefault("_keras_initialized", set())
    found = [v for v in found if id(v) not in seen and v.initializer is not None]
    if not found:
        return
    with graph.as_default(), graph.control_dependencies(None):
        checks = _of(graph, "checks", dict)
        for v in found:
            if id(v) not in checks:
                checks[id(v)] = tf.is_variable_initialized(v)
        done = session.run([checks[id(v)] for v in found])
        left = [v.initializer for v, ready in zip(found, done) if not ready]
        if left:
            session.run(left)
    seen.update(id(v) for v in found)


def any_initialized(variables):
    """Returns whether Keras has initialized any of the variables."""
    session = tf.get_default_session() or getattr(_local, "session", None)
    seen = session.__dict__.get("_keras_initialized", ()) if session is not None else ()
    return any(id(v) in seen for v in variables)


def get_session(op_input_list=()):
    """Returns the default session, the one that was set, or a new one, with the variables of Keras initialized."""
    session = tf.get_default_session()
    if session is None:
        session, graph = getattr(_local, "session", None), _graph_of(op_input_list)
        if session is None or session._closed or session.graph is not graph:
            with graph.as_default():
                session = _local.session = tf.Session(config=tf.ConfigProto(allow_soft_placement=True))
    if not _manual:
        _initialize(session)
    return session


def _graph_of(inputs):
    for x in inputs or ():
        if hasattr(x, "graph"):
            return x.graph
    return tf.get_default_graph()


def set_session(session):
    """Makes Keras use this session from now on."""
    _local.session = session


def clear_session():
    """Closes the session and resets the default graph and the uids."""
    tf.reset_default_graph()
    reset_uids()
    session, _local.session = getattr(_local, "session", None), None
    if session is not None:
        session.close()
    tf.get_default_graph()._keras_phase = None
    learning_phase()


# ---- values ----

def eval(x):
    """Returns the value of a variable, or of a tensor that needs no input."""
    return get_value(x)


def get_value(x):
    """Returns the value of a variable, as an array."""
    if not isinstance(x, (tf.Tensor, tf.Variable, tf.SparseTensor)):
        return x
    return get_session((x,)).run(x)


def batch_get_value(tensors):
    """Returns the values of several variables, computed in one run."""
    return get_session(tensors).run(tensors) if tensors else []


def _assignment(x):
    """Returns the op that assigns to a variable, and its input. They are made once for each variable."""
    found = _of(x.graph, "assigns", dict)
    if id(x) not in found:
        with x.graph.as_default(), x.graph.control_dependencies(None), tf.name_scope(None):
            value = tf.placeholder(x.dtype.base_dtype, shape=[None] * x.shape.ndims if x.shape.ndims is not None else None)
            found[id(x)] = value, x.assign(value), x
    return found[id(x)][:2]


def set_value(x, value):
    """Sets the value of a variable, from an array."""
    batch_set_value([(x, value)])


def batch_set_value(tuples):
    """Sets the values of several variables in one run. tuples: (variable, value) pairs."""
    if not tuples:
        return
    feeds, assigned = {}, []
    for x, value in tuples:
        value = np.asarray(value, dtype=x.dtype.base_dtype.name if x.dtype.base_dtype != tf.string else None)
        fed, assign = _assignment(x)
        feeds[fed] = value
        assigned.append(assign)
    get_session([x for x, _ in tuples]).run([a.op if isinstance(a, tf.Tensor) else a for a in assigned], feeds)


# ---- functions ----

class Function:
    """The result of K.function: a call feeds its inputs and runs outputs and updates."""

    def __init__(self, inputs, outputs, updates=None, name=None, **session_kwargs):
        if not isinstance(updates or [], (list, tuple)):
            raise TypeError("`updates` in a Keras backend function should be a list or tuple.")
        self._structure, self.inputs = outputs, flatten(inputs)
        self.outputs = flatten(outputs) if outputs is not None else []
        self.name, self.feed_dict = name, session_kwargs.pop("feed_dict", None)
        self.fetches = session_kwargs.pop("fetches", None) or []
        self.fetches = self.fetches if isinstance(self.fetches, list) else [self.fetches]
        self.run_options, self.run_metadata = session_kwargs.pop("options", None), session_kwargs.pop("run_metadata", None)
        self.fetch_callbacks, self._shapes = {}, OtherShapes()
        if session_kwargs:
            raise ValueError("Some keys in session_kwargs are not supported at this time: %s" % (tuple(session_kwargs),))
        with tf.control_dependencies([o for o in self.outputs[:1] if not isinstance(o, tf.Operation)]):
            self.updates_op = tf.group(*[self._update(u) for u in updates or []]) if updates or self.outputs else None

    @staticmethod
    def _update(update):
        if isinstance(update, tuple):
            return tf.assign(update[0], update[1])
        return update

    def __call__(self, inputs):
        inputs = flatten(inputs)
        session = get_session(inputs)
        feeds, symbols = dict(self.feed_dict or {}), {}
        for key, value in zip(self.inputs, inputs):
            if value is not None:
                (symbols if isinstance(value, (tf.Tensor, tf.Variable, tf.SparseTensor)) else feeds)[key] = value
        if symbols:  # All are computed in one run, so that the parts of an element of a data set belong together.
            feeds.update(zip(symbols, session.run(list(symbols.values()))))
        targets = [self.updates_op] if self.updates_op is not None else []
        fetches, feeds = self._shapes.chosen([*self.outputs, *targets, *self.fetches], feeds)
        done = session.run(fetches, feeds, self.run_options, self.run_metadata)
        found, more = done[:len(self.outputs)], done[len(self.outputs) + len(targets):]
        for fetch, value in zip(self.fetches, more):
            if fetch in self.fetch_callbacks:
                self.fetch_callbacks[fetch](value)
        if self._structure is None:
            return []
        return pack_like(self._structure, found)


def function(inputs, outputs, updates=None, name=None, **kwargs):
    """Returns a function from the values of inputs to the values of outputs. Updates run after the outputs."""
    for key in kwargs:
        if key not in ("feed_dict", "fetches", "options", "run_metadata"):
            raise ValueError('Invalid argument "%s" passed to K.function with TensorFlow backend' % key)
    return Function(inputs, outputs, updates=updates, name=name, **kwargs)
