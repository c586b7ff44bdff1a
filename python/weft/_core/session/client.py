"""Sessions: flattens the fetches, converts feeds to buffers, calls the library once, and packs the results."""
import atexit
import collections.abc
import contextlib
import re
import threading
import warnings
import weakref

import numpy as np

from weft import _weft
from weft._core.framework import dtypes, errors, protos
from weft._core.framework.absent import Named
from weft._core.framework.graph import Graph, IndexedSlices, Operation, Tensor, _Stack, get_default_graph
from weft._core.framework.indexed_slices import IndexedSlicesValue
from weft._core.framework.values import triple
from weft._core.ops.script_ops import interrupted as _interrupted
from weft._core.ops.sparse import SparseTensor, SparseTensorValue
from weft._core.ops.variables import Variable
from weft._core.ragged import operators as _ragged_operators  # noqa: F401
from weft._core.ragged.ragged_tensor import RaggedTensor
from weft._core.ragged.ragged_value import nested as _nested_ragged
from weft._core.session import device_config
from weft._core.session.conversions import feed_keys, feed_pairs, fetch_parts, register_session_run_conversion_functions  # noqa: F401
from weft._core.session.device_config import DeviceAttributes as _DeviceAttributes
from weft._core.session.handles import TensorHandle, delete_session_tensor
from weft._core.session.partial import PartialRuns

_sessions = _Stack()
text_results = False  # In Python 2 programs, fetched text is returned as str.
_DEAD_HANDLES = 10  # the number of dropped handles after which a run deletes their tensors
_open_sessions = weakref.WeakSet()  # These are closed before the servers when the program ends.


def _close_all():
    for session in list(_open_sessions):
        session._finish()


atexit.register(_close_all)


def get_default_session():
    return _sessions.items[-1] if _sessions.items else None


# ---- fetches ----

class _Fetch:
    """A compiled nest of fetches: the outputs and targets that it needs, and how to pack their values into the nest."""

    __slots__ = ("outs", "targets", "rebuild", "places", "session")

    def __init__(self, graph, fetches, session=None):
        self.outs, self.targets, self.places = [], [], {}
        self.session = session  # a weak reference, because the session keeps this fetch
        self.rebuild = _mapper(graph, fetches, self, self.places)

    def out(self, tensor, places):
        """Returns the index of an output in the list of fetched outputs, to which it is added if it is new."""
        at = places.get(tensor._out)
        if at is None:
            at = places[tensor._out] = len(self.outs)
            self.outs.append(tensor._out)
        return at


def _mapper(graph, fetch, into, places):
    """Returns a function that converts the list of values to this part of the nest."""
    if fetch is None:
        raise TypeError("Fetch argument None has invalid type <class 'NoneType'>")
    if isinstance(fetch, (list, tuple)) and not isinstance(fetch, SparseTensorValue):
        parts = [_mapper(graph, f, into, places) for f in fetch]
        if hasattr(fetch, "_fields"):
            return lambda values: type(fetch)(*[p(values) for p in parts])
        kind = type(fetch)
        return lambda values: kind(p(values) for p in parts) if kind is not list else [p(values) for p in parts]
    if isinstance(fetch, dict):
        kind = type(fetch)
        parts = [(k, _mapper(graph, f, into, places)) for k, f in fetch.items()]
        return lambda values: kind((k, p(values)) for k, p in parts)
    if isinstance(fetch, SparseTensor):
        at = [into.out(_element(graph, t), places) for t in (fetch.indices, fetch.values, fetch.dense_shape)]
        return lambda values: SparseTensorValue(*[values[i] for i in at])
    if isinstance(fetch, RaggedTensor):
        at = [into.out(_element(graph, t), places) for t in fetch._parts()]
        return lambda values: _nested_ragged(values[at[0]], [values[i] for i in at[1:]])
    if isinstance(fetch, IndexedSlices):
        parts = [t for t in (fetch.values, fetch.indices, fetch.dense_shape) if t is not None]
        at = [into.out(_element(graph, t), places) for t in parts]
        return lambda values: IndexedSlicesValue(*[values[i] for i in at] + [None] * (3 - len(at)))
    split = None if isinstance(fetch, (Tensor, Operation, Variable, str, bytes)) else fetch_parts(fetch)
    if split is not None:
        parts = [_mapper(graph, f, into, places) for f in split[0]]
        return lambda values: split[1]([p(values) for p in parts])
    element = _element(graph, fetch)
    if isinstance(element, Operation):
        into.targets.append(element._out)
        return lambda values: None
    place = into.out(element, places)
    if element.op.type == "GetSessionHandle" and into.session is not None:
        session, dtype = into.session, element.op.inputs[0].dtype
        return lambda values: TensorHandle(values[place], dtype, session())
    return lambda values: values[place]


def _key(fetches):
    """Returns a key that distinguishes flat nests of one type, or None for a nest that must be compiled each time.

    A nest that contains tuples gives None: equal tuples can be of different classes, with names for their fields.
    """
    kind = type(fetches)
    if kind is list or kind is tuple:
        parts = key = tuple(fetches)
    elif kind is dict:
        parts, key = fetches.values(), tuple(fetches.items())
    else:
        return None
    return None if any(isinstance(p, tuple) for p in parts) else key


def _element(graph, fetch):
    try:
        element = graph.as_graph_element(fetch)
    except TypeError as e:
        raise TypeError("Fetch argument %r has invalid type %s, must be a string or Tensor. (%s)" % (
            fetch, type(fetch), e)) from None
    except ValueError as e:
        raise ValueError("Fetch argument %r cannot be interpreted as a Tensor. (%s)" % (fetch, e)) from None
    except KeyError as e:
        raise ValueError("Fetch argument %r cannot be interpreted as a Tensor. (%s)" % (fetch, e.args[0])) from None
    if not graph.is_fetchable(element):
        raise ValueError("Tensor %s may not be fetched." % element)
    return element


def _text(value):
    """Returns bytes that are valid UTF-8 as str; other bytes, such as serialized messages, stay bytes."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        made = np.empty_like(value)
        made.flat = [_text(v) for v in value.flat]
        return made
    if not isinstance(value, bytes):
        return value
    try:
        made = value.decode()
    except UnicodeDecodeError:
        return value
    return made if all(c.isprintable() or c in "\n\t\r" for c in made) else value


# ---- feeds ----

class _Slot:
    """Caches what is known of the key of a feed. The shape is not cached, because the program may still refine it."""

    __slots__ = ("tensor", "out", "number", "kind")

    def __init__(self, graph, key):
        try:
            self.tensor = graph.as_graph_element(key, allow_operation=False)
        except Exception as e:
            raise TypeError("Cannot interpret feed_dict key as Tensor: %s" % (e.args[0] if e.args else e)) from None
        self.out = self.tensor._out
        self.number = graph._c.dtype(self.out) % 100
        self.kind = dtypes._NUMPY.get(self.number)


def _feed(graph, slots, key, value):
    """Returns (output, (dtype, shape, data)) of a feed. slots caches what is known of keys that are tensors."""
    slot = slots.get(key) if isinstance(key, Tensor) else _Slot(graph, key)
    if slot is None:
        if len(slots) > 1000:
            slots.clear()
        slot = slots[key] = _Slot(graph, key)
    if graph._unfeedable and slot.tensor in graph._unfeedable:
        raise ValueError("Tensor %s may not be fed." % slot.tensor)
    number = slot.number
    if isinstance(value, np.ndarray) and number != 7 and value.dtype == slot.kind and value.flags.c_contiguous:
        array = value  # The common case needs no conversion.
    else:
        number, shape, array = _converted(slot, key, value)
        if number == 7:
            _check_shape(graph._c, slot, shape)
            return slot.out, (number, shape, array)
    _check_shape(graph._c, slot, array.shape)
    return slot.out, (number, array.shape, dtypes.bfloat16_bits(array) if number == 14 else array)


def _converted(slot, key, value):
    """Returns (dtype, shape, data) for a value that is not yet an array of the feed's type."""
    if isinstance(value, Tensor):
        raise TypeError("The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python "
                        "scalars, strings, lists, numpy ndarrays, or TensorHandles. For reference, the tensor object was "
                        "%s which was passed to the feed with key %s." % (value, key))
    if isinstance(value, TensorHandle):
        value = value._value_for(slot.tensor)
    if slot.number == 7:
        return triple(value, dtypes.string)[0]
    kind = slot.kind
    array = np.asarray(value, dtype=kind, order="C")
    if isinstance(value, int) and kind is not None and not isinstance(value, bool) and kind(value) != value:
        raise TypeError("Type of feed value %s with type %s is not compatible with Tensor type %s. Try explicitly "
                        "setting the type of the feed tensor to a larger type (e.g. int64)." % (value, type(value), kind))
    return slot.number, array.shape, array


def _fits(known, given):
    if len(known) != len(given):
        return False
    for a, b in zip(known, given):
        if a is not None and a != b:
            return False
    return True


def _check_shape(c, slot, given):
    known = c.shape(slot.out)
    if known is not None and known != given and not _fits(known, given):
        raise ValueError("Cannot feed value of shape %r for Tensor %s, which has shape %s" % (
            given, slot.tensor.name, slot.tensor.shape))


def _spread(feed_dict):
    """Returns the feeds with composite values split: three feeds for a SparseTensor, two or three for IndexedSlices,
    and one for each tensor of a nest.
    """
    return _spread_pairs(_items(feed_dict))


def _items(feed_dict):
    if not isinstance(feed_dict, collections.abc.Mapping):
        raise TypeError("FlattenDictItems: 'dict' must be a dictionary or collection.Mapping type object, instead of '%s'." %
                        type(feed_dict).__name__)
    return feed_dict.items()


def _spread_pairs(pairs):
    for key, value in pairs:
        if isinstance(key, SparseTensor):
            yield from zip((key.indices, key.values, key.dense_shape), value)
        elif isinstance(key, RaggedTensor):
            yield from zip(key._parts(), (value.flat_values, *value.nested_row_splits))
        elif isinstance(key, IndexedSlices):
            yield from ((k, v) for k, v in zip((key.values, key.indices, key.dense_shape), value) if k is not None)
        elif isinstance(key, tuple):
            value = value if isinstance(value, (tuple, list)) else [value]
            if len(key) != len(value):
                raise ValueError("Could not flatten dictionary. Key had %d elements, but value had %d elements. Key: %s, value: %s."
                                 % (len(key), len(value), key, value))
            yield from _spread_pairs(zip(key, value))
        else:
            yield from feed_pairs(key, value) or [(key, value)]


def _feeds(graph, slots, feed_dict):
    """Returns the feeds of a run in the form that the library takes."""
    made = []
    for key, value in _items(feed_dict):
        if isinstance(key, Tensor):
            made.append(_feed(graph, slots, key, value))
        else:
            made.extend(_feed(graph, slots, k, v) for k, v in _spread_pairs([(key, value)]))
    return made


def _fed(graph, feed_dict, places, values):
    """Returns the values of a run, in which outputs that were fed are replaced by the arrays that were fed."""
    for key, value in _spread(feed_dict):
        tensor = graph.as_graph_element(key, allow_operation=False)
        if tensor._out in places:
            values[places[tensor._out]] = np.asarray(value, dtype=dtypes._NUMPY.get(tensor.dtype.base_dtype._number, object))
    return values


class _Runner:
    """What a step of a session needs, and the step itself.

    Its attributes are slots: reading an attribute of a class whose metaclass is Named takes several times as long, and
    a small step reads a dozen.
    """

    __slots__ = ("session", "graph", "c", "fetches", "single", "slots", "dead_handles", "closed", "has_nodes")

    def __init__(self, session, graph, c_session):
        self.session, self.graph, self.c = weakref.ref(session), graph, c_session  # weak: the session owns this object
        self.fetches, self.slots, self.dead_handles = {}, {}, []
        self.single = {}  # {id of a tensor or an operation in self.fetches: its compiled form}, which needs no hash
        self.closed = self.has_nodes = False

    def check_open(self):
        if self.closed:
            raise RuntimeError("Attempted to use a closed Session.")

    def compiled(self, fetches):
        """Returns the compiled form of a nest. It is cached, because a training loop runs the same few nests."""
        try:
            key = fetches if isinstance(fetches, (Tensor, Operation, Variable)) else _key(fetches)
            found = self.fetches.get((type(fetches), key)) if key is not None else None
        except TypeError:  # Something in the nest cannot be hashed.
            key = found = None
        if found is None:
            found = _Fetch(self.graph, fetches, self.session)
            if key is not None:
                if len(self.fetches) > 1000:
                    self.single.clear(), self.fetches.clear()
                self.fetches[type(fetches), key] = found
                if isinstance(fetches, (Tensor, Operation)):
                    self.single[id(fetches)] = found
        return found

    def run(self, fetches, feed_dict, options, run_metadata):
        if self.closed or self.dead_handles or not self.has_nodes:
            self._check()
        # Feeds are checked before the fetches, as in TensorFlow.
        feeds = _feeds(self.graph, self.slots, feed_dict) if feed_dict else ()
        fetch = self.single.get(id(fetches)) or self.compiled(fetches)
        outs, targets = fetch.outs, fetch.targets
        if not outs and not targets:
            made = []  # There is no step, as in TensorFlow.
        elif options is None and run_metadata is None:
            try:
                made = self.c.run(feeds, outs, targets)
            except errors.OpError as e:
                raise self.error(e) from None
        else:
            made = self.values(run_metadata, _asked(options, run_metadata), self.c.run, feeds, outs, targets)
        if feeds and outs and any(out in fetch.places for out, _ in feeds):
            made = _fed(self.graph, feed_dict, fetch.places, list(made))
        return fetch.rebuild(self.as_text(made) if text_results else made)

    def _check(self):
        """Does what a run rarely needs before it begins."""
        self.check_open()
        if len(self.dead_handles) >= _DEAD_HANDLES:
            self.session()._delete_dead_handles()
        self.has_nodes = self.graph._c.size() > 0
        if not self.has_nodes:
            raise RuntimeError("The Session graph is empty. Add operations to the graph before calling run().")

    def values(self, run_metadata, asked, call, *args):
        """Returns the values of a call into the library, and converts its errors."""
        try:
            made = call(*args, *asked)
        except errors.OpError as e:
            raise self.error(e) from None
        if asked[1]:
            made, data = made
            run_metadata.ParseFromString(data)
        return made

    def error(self, e):
        """Returns what a failed call of the library raises: what a Python function of the graph raised, or its error."""
        return _interrupted.pop() if _interrupted else self.placed(e)

    def placed(self, error):
        """Returns the error with the op that its message names."""
        found = re.search(r"\{\{node ([^}\s]+)\}\}", error.message) or re.search(r"(?:node '|uninitialized value )([^'\s]+)", error.message)
        if found:
            out = self.graph._c.find("^" + found.group(1))
            if out >= 0:
                error._op = self.graph._operation(out >> 16)
        return error

    @staticmethod
    def as_text(values):
        return [_text(v) for v in values] if text_results else values


def _asked(options, run_metadata):
    """Returns the timeout in ms, the bits of the wanted metadata (1 itself, 2 step stats, 4 device graphs) and the
    collective graph key.
    """
    if options is None:
        return 0, int(run_metadata is not None), 0
    bits = 1 | 2 * (options.trace_level > 0) | 4 * options.output_partition_graphs
    return options.timeout_in_ms, 0 if run_metadata is None else bits, options.experimental.collective_graph_key


class _Callable:
    """The library's callable for a request; it is made at its first call."""

    def __init__(self, session, feeds, fetch):
        self._session, self._request, self._made = session, (feeds, fetch.outs, fetch.targets), None
        session._callables.add(self)

    def get(self):
        with self._session._lock:
            if self._made is None:
                self._made = self._session._c.prepare(*self._request, False)
            return self._made

    def finish(self):
        self._made = None


class BaseSession:
    """The base of Session and InteractiveSession."""

    def __init__(self, target="", graph=None, config=None):
        graph = graph or get_default_graph()
        if not isinstance(graph, Graph):
            raise TypeError("graph must be a tf.Graph, but got %s" % type(graph))
        if config is not None and not isinstance(config, protos.ConfigProto):
            raise TypeError("config must be a tf.ConfigProto, but got %s" % type(config))
        if isinstance(target, bytes):
            target = target.decode()
        if target is not None and not isinstance(target, str):
            raise TypeError("target must be a string, but got %s" % type(target))
        made = _weft.Session(graph._c, target or "", device_config.session_config(config).SerializeToString())
        self._begin(graph, target, config, made)

    def _begin(self, graph, target, config, c_session):
        """Sets up the state of a session, around a session of the library."""
        self._runner, self._target, self._config = _Runner(self, graph, c_session), target or "", config
        self._lock, self._partial_runs, self._callables = threading.Lock(), PartialRuns(self), weakref.WeakSet()
        self._handle_nodes = {}
        _open_sessions.add(self)

    @property
    def _graph(self):
        return self._runner.graph

    @property
    def _c(self):
        """The library's session; None once the program ends."""
        return self._runner.c

    @property
    def _closed(self):
        return self._runner.closed

    @_closed.setter
    def _closed(self, closed):
        self._runner.closed = closed

    @property
    def graph(self):
        return self._graph

    @property
    def graph_def(self):
        return self._graph.as_graph_def()

    @property
    def sess_str(self):
        return self._target.encode()

    def list_devices(self):
        self._check_not_closed()
        return [_DeviceAttributes(*row) for row in _weft.devices(self._c)]

    def _check_not_closed(self):
        """What is no run refuses a closed session as TensorFlow's C library does."""
        if self._closed:
            raise errors.CancelledError(None, None, "Session has been closed.")

    def close(self):
        if not self._closed:
            self._closed = True
            try:
                self._c.close()
            except errors.UnavailableError:
                pass  # The master has left, and its session with it.

    def _finish(self):
        """Closes the session and frees the library's objects before the interpreter exits."""
        with contextlib.suppress(errors.OpError):
            self.close()
        self._partial_runs.finish()
        for made in list(self._callables):
            made.finish()
        self._runner.c = None

    def as_default(self):
        return _sessions.entered(self)

    # ---- tensors that the session keeps ----

    def _handle_node(self, make, handle, *args):
        """Returns the placeholder and the node that `make` adds for handles of this device. They are added only once.
        """
        key = make, handle.split(";")[-1], *args
        if key not in self._handle_nodes:
            with self._graph.as_default():
                self._handle_nodes[key] = make(handle, *args)
        return self._handle_nodes[key]

    def _delete_dead_handles(self):
        """Deletes the tensors whose handles the program no longer holds."""
        dead, self._runner.dead_handles = self._runner.dead_handles, []
        for handle in dead:
            holder, deleter = self._handle_node(delete_session_tensor, handle)
            self.run(deleter, {holder: handle})

    # ---- run ----

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        return self._runner.run(fetches, feed_dict, options, run_metadata)

    @property
    def _session(self):
        """The library's session; None once it is closed."""
        return None if self._closed else self._c

    def _extend_graph(self):
        """Does nothing, because a run sees every node of the graph."""

    def make_callable(self, fetches, feed_list=None, accept_options=False):
        """Returns a function that takes the values of feed_list and runs the fetches.

        The request is prepared only once.
        """
        if feed_list is not None and not isinstance(feed_list, (list, tuple)):
            raise TypeError("Argument `feed_list` must be a list or tuple. Received: feed_list=%s" % (feed_list,))
        runner, keys = self._runner, list(feed_list or ())
        graph, fetch = runner.graph, runner.compiled(fetches)
        outs = [graph.as_graph_element(k, allow_operation=False)._out for k in keys]
        # Requests in which an output is both fed and fetched, and calls with fewer values than keys, run as ordinary
        # steps.
        plain = len(set(outs)) != len(outs) or not set(outs).isdisjoint(fetch.outs) or not (fetch.outs or fetch.targets)
        prepared = None if plain else _Callable(self, outs, fetch)

        def call(*args, options=None, run_metadata=None):
            if feed_list is None:
                self._check_not_closed()
            runner.check_open()
            if prepared is None or len(args) != len(keys):
                return self.run(fetches, dict(zip(keys, args)), options, run_metadata)
            feeds = [_feed(graph, runner.slots, k, v) for k, v in zip(keys, args)]
            made = runner.values(run_metadata, _asked(options, run_metadata), prepared.get().call, feeds)
            return fetch.rebuild(runner.as_text(made))
        return call if accept_options else lambda *args: call(*args)

    def _make_callable_from_options(self, callable_options):
        """Returns a callable for the names in a tf.CallableOptions; it returns the list of the fetched values."""
        options = callable_options
        count = len(options.fetch)
        made = self.make_callable(list(options.fetch) + list(options.target), list(options.feed), accept_options=True)

        def call(*args, run_metadata=None):
            if len(args) != len(options.feed):
                raise errors.InvalidArgumentError(None, None, "Expected %d feed tensors, but got %d" % (len(options.feed), len(args)))
            return made(*args, options=options.run_options, run_metadata=run_metadata)[:count]
        return call

    def partial_run_setup(self, fetches, feeds=None):
        """Returns a handle for partial_run, which feeds and fetches these outputs in several calls of one step."""
        self._runner.check_open()
        return self._partial_runs.setup(self._runner.compiled(fetches), feeds)

    def partial_run(self, handle, fetches, feed_dict=None):
        """Feeds some of the outputs that were set up, and returns some of the fetches as soon as they are computed."""
        runner = self._runner
        runner.check_open()
        feeds = _feeds(runner.graph, runner.slots, feed_dict) if feed_dict else ()
        return self._partial_runs.run(handle, runner.compiled(fetches), feeds)


class Session(BaseSession, metaclass=Named):
    """Runs operations of a graph, in this process or on the server at `target`: with tf.Session(target, graph, config)
    as sess
    """

    def __init__(self, target="", graph=None, config=None):
        super().__init__(target, graph, config)
        self._entered = []

    def __enter__(self):
        if self._entered:
            raise RuntimeError("Session context managers are not re-entrant. Use `Session.as_default()` if you want to enter a "
                               "session multiple times.")
        graph = self._graph.as_default()
        session = self.as_default()
        graph.__enter__()
        session.__enter__()
        self._entered.append((graph, session))
        return self

    def __exit__(self, *exc):
        graph, session = self._entered.pop()
        session.__exit__(None, None, None)
        graph.__exit__(None, None, None)
        with contextlib.suppress(*[errors.OpError] if exc[0] else []):  # The program's own error is the one to report.
            self.close()
        return False

    @staticmethod
    def reset(target, containers=None, config=None):
        for container in containers or [None]:
            _weft.session_reset(target, container)


class InteractiveSession(BaseSession, metaclass=Named):
    """A session that is the default session from its creation until it is closed."""

    _active = 0  # the number of open interactive sessions

    def __init__(self, target="", graph=None, config=None):
        super().__init__(target, graph, config)
        if InteractiveSession._active:
            warnings.warn("An interactive session is already active. This can cause out-of-memory errors in some cases. You must "
                          "explicitly call `InteractiveSession.close()` to release resources held by the other session(s).", stacklevel=2)
        InteractiveSession._active += 1
        self._default = self.as_default()
        self._default.__enter__()
        self._explicit = graph
        if graph is not None:
            self._default_graph = graph.as_default()
            self._default_graph.__enter__()

    def close(self):
        super().close()
        if self._explicit is not None:
            self._default_graph.__exit__(None, None, None)
            self._explicit = None
        if self._default is not None:
            InteractiveSession._active -= 1
            self._default.__exit__(None, None, None)
            self._default = None
