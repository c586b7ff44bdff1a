"""Objects that a checkpoint identifies by the path of names from a root to them (tf.train.Checkpoint).

A class describes its contents with two methods. `_trackable_children` returns its children by name, and
`_gather_saveables_for_checkpoint` returns the values that it holds itself. Both are called whenever a checkpoint is
written or read, so that later additions, such as new items of a list, are included.

A class says what it holds in two methods.  `_trackable_children` gives its children by name, and
`_gather_saveables_for_checkpoint` gives the values that it holds itself.  Both are asked when a checkpoint is written
or read, so that a list that grew, or a layer that was built since, counts with all that it holds by then.
"""
import collections

from weft._core.framework.absent import Named


class Trackable:
    """An object whose children are registered by `_track_trackable`."""

    def _trackable_children(self):
        """Returns {name: child}, in the order in which they were registered."""
        return dict(self.__dict__.get("_tracked_children", {}))

    def _track_trackable(self, trackable, name, overwrite=False):
        """Registers `trackable` as a child of this object."""
        if not is_trackable(trackable):
            raise TypeError("Trackable._track_trackable() can only be used to track objects of type Trackable. Got type %s."
                            % type(trackable))
        children = self.__dict__.setdefault("_tracked_children", {})
        if not overwrite and children.get(name, trackable) is not trackable:
            raise ValueError("Called Trackable._track_trackable() with name='%s', but a Trackable with this name is already "
                             "declared as a dependency. Names must be unique (or overwrite=True)." % name)
        children[name] = trackable
        return trackable

    _track_checkpointable = _track_trackable  # the name before TensorFlow 1.13

    def _lookup_dependency(self, name):
        return self._trackable_children().get(name)

    def _gather_saveables_for_checkpoint(self):
        """Returns {name of the attribute: a Variable, a PythonState or a SaveableObject}."""
        return {}

    def _no_dependency(self, value):
        return value


class NoDependency:
    """Wraps a value that is assigned to an attribute, so that checkpoints do not include it."""

    def __init__(self, value):
        self.value = value


class AutoTrackable(Trackable):
    """An object whose attributes are its children, if a checkpoint can hold them."""

    _NOT_TRACKED = frozenset()  # attributes that a subclass excludes from checkpoints

    def __setattr__(self, name, value):
        hidden = self.__dict__.get("_untracked_names", ())
        if isinstance(value, NoDependency):
            self.__dict__["_untracked_names"] = {*hidden, name}
            value = value.value
        elif name in hidden:
            hidden.discard(name)
        object.__setattr__(self, name, value)

    def _no_dependency(self, value):
        return NoDependency(value)

    def _trackable_children(self):
        children = super()._trackable_children()
        hidden = self._NOT_TRACKED.union(self.__dict__.get("_untracked_names", ()), ("_tracked_children",))
        for name, value in self.__dict__.items():
            if name not in hidden and name not in children and is_trackable(value):
                children[name] = value
        return children


_LISTS, _MAPS = (list,), (dict, collections.OrderedDict)


def is_trackable(value):
    """Returns whether a checkpoint can hold a value.

    It can hold lists and dicts, but tuples only if they contain something trackable.
    """
    if isinstance(value, Trackable) or type(value) in _LISTS + _MAPS:
        return True
    return isinstance(value, tuple) and any(is_trackable(x) for x in value)


def is_container(value):
    """Returns whether a trackable value is one of Python's own containers."""
    return not isinstance(value, Trackable)


def children_of(value):
    """Returns the children of any trackable value, by name."""
    if isinstance(value, Trackable):
        return value._trackable_children()
    if isinstance(value, dict):
        found = {name: x for name, x in value.items() if is_trackable(x)}
        if all(isinstance(name, str) for name in found):
            return found
        raise ValueError(
            "Unable to save the object %s (a dictionary wrapper constructed automatically on attribute assignment). The "
            "wrapped dictionary contains a non-string key which maps to a trackable object or mutable data structure.\n\nIf "
            "you don't need this dictionary checkpointed, wrap it in a non-trackable object; it will be subsequently ignored."
            % (value,))
    found = {str(i): x for i, x in enumerate(value) if is_trackable(x)}
    for name in getattr(value, "_fields", ()):
        if is_trackable(getattr(value, name)):
            found[name] = getattr(value, name)
    return found


def saveables_of(value):
    return value._gather_saveables_for_checkpoint() if isinstance(value, Trackable) else {}


# ---- public containers ----

class List(Trackable, collections.UserList):
    """A list that checkpoints can hold: tf.contrib.checkpoint.List(*items)."""

    def __init__(self, *args):
        collections.UserList.__init__(self, args)
        for x in args:
            _check(x)

    def _trackable_children(self):
        return {**super()._trackable_children(), **children_of(list(self.data))}

    def append(self, item):
        super().append(_check(item))

    def extend(self, other):
        super().extend([_check(x) for x in other])

    def __hash__(self):
        return id(self)

    def __eq__(self, other):
        return self is other or self.data == (other.data if isinstance(other, List) else other)


class Mapping(Trackable, collections.UserDict):
    """A mapping from names to objects, in which each name is set once: tf.contrib.checkpoint.Mapping(**items)."""

    def __init__(self, *args, **kwargs):
        collections.UserDict.__init__(self)
        self.update(*args, **kwargs)

    def _trackable_children(self):
        return {**super()._trackable_children(), **children_of(dict(self.data))}

    def __setitem__(self, key, value):
        if not isinstance(key, str):
            raise TypeError("Mapping accepts only string keys, but got a key %r." % (key,))
        if self.data.setdefault(key, _check(value)) is not value:
            raise ValueError("Mappings are an append-only data structure. Tried to overwrite the key '%s' with value %s, but "
                             "it already contains %s" % (key, value, self.data[key]))

    def __hash__(self):
        return id(self)


class UniqueNameTracker(AutoTrackable):
    """Registers children under names that are made unique with numbers."""

    def __init__(self):
        self._counts = collections.Counter()

    _NOT_TRACKED = frozenset(["_counts"])

    def track(self, trackable, base_name):
        name, number = base_name, 1
        while name in self._trackable_children():
            name, number = "%s_%d" % (base_name, number), number + 1
        return self._track_trackable(trackable, name)


def _check(value):
    if not is_trackable(value):
        raise ValueError("Only trackable objects (such as Layers or Optimizers) may be stored in a List object. Got %s, which "
                         "does not inherit from Trackable." % (value,))
    return value


# ---- Python values ----

class PythonState(Trackable, metaclass=Named):
    """A Python value that a checkpoint holds as a string. Subclasses define serialize() and deserialize(string)."""

    def _gather_saveables_for_checkpoint(self):
        return {"py_state": self}


class PythonStateWrapper(PythonState):
    """A PythonState that is made from two functions: tf.contrib.checkpoint.PythonStateWrapper."""

    def __init__(self, save_callback, restore_callback):
        self.serialize, self.deserialize = save_callback, restore_callback


class NumpyState(PythonState):
    """An object whose numpy array attributes are saved in checkpoints."""

    def __setattr__(self, name, value):
        import numpy
        if name.startswith("_"):
            object.__setattr__(self, name, value)
            return
        held = self.__dict__.setdefault("_arrays", {})
        if name in held:
            held[name].array = numpy.asarray(value)
        else:
            held[name] = self._track_trackable(_NumpyArray(numpy.asarray(value)), name)

    def __getattr__(self, name):
        held = self.__dict__.get("_arrays", {})
        if name not in held:
            raise AttributeError("this NumpyState has no array named '%s'" % name)
        return held[name].array

    def _lookup_dependency(self, name):
        """Adds an attribute for a name that is only in the checkpoint."""
        held = self.__dict__.setdefault("_arrays", {})
        if name not in held:
            held[name] = self._track_trackable(_NumpyArray(None), name)
        return held[name]

    def _gather_saveables_for_checkpoint(self):
        return {}


class _NumpyArray(PythonState):
    def __init__(self, array):
        self.array = array

    def serialize(self):
        import io

        import numpy
        held = io.BytesIO()
        numpy.save(held, self.array)
        return held.getvalue()

    def deserialize(self, string_value):
        import io

        import numpy
        self.array = numpy.load(io.BytesIO(string_value))
