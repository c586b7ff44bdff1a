"""tf.contrib.staging: areas that hold tensors between two parts of a graph."""
from weft._core.framework import dtypes, tensor_shape
from weft._core.framework.absent import Named
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import colocate_with, get_default_graph, name_scope
from weft._core.ops.control_flow import no_op


class _BaseStagingArea(metaclass=Named):
    """The base of both kinds: types, shapes and names of the tensors, and the limits."""

    def __init__(self, dtypes, shapes, names, shared_name, capacity, memory_limit):
        kind = type(self).__name__
        self._name = get_default_graph().unique_name(kind) if shared_name is None else shared_name
        self._dtypes = [as_dtype(d) for d in (dtypes if isinstance(dtypes, (list, tuple)) else [dtypes])]
        if shapes is not None:
            if len(shapes) != len(self._dtypes):
                raise ValueError("StagingArea shapes must be the same length as dtypes")
            self._shapes = [tensor_shape.TensorShape(s) for s in shapes]
        else:
            self._shapes = [tensor_shape.TensorShape(None) for _ in self._dtypes]
        if names is not None and len(names) != len(self._dtypes):
            raise ValueError("StagingArea names must be the same length as dtypes")
        self._names = list(names) if names is not None else None
        self._capacity, self._memory_limit = capacity, memory_limit
        with name_scope("%s_root" % self._name):
            self._coloc_op = no_op()

    name = property(lambda self: self._name)
    dtypes = property(lambda self: self._dtypes)
    shapes = property(lambda self: self._shapes)
    names = property(lambda self: self._names)
    capacity = property(lambda self: self._capacity)
    memory_limit = property(lambda self: self._memory_limit)

    def _limits(self, types=None):
        return dict(dtypes=self._dtypes if types is None else types, shared_name=self._name, capacity=self._capacity,
                    memory_limit=self._memory_limit)

    def _given(self, values, indices=None):
        """Returns (tensors, their indices) of the values to put: a dictionary by name, a list, or one tensor."""
        if isinstance(values, dict):
            if not self._names:
                raise ValueError("Staging areas must have names to enqueue a dictionary")
            unknown = sorted(set(values) - set(self._names))
            if unknown:
                raise KeyError("Dictionary key(s) %s are not names of the staging area %s" % (unknown, self._names))
            pairs = [(values[n], i) for i, n in enumerate(self._names) if n in values]
            values, indices = [v for v, _ in pairs], [i for _, i in pairs]
        else:
            if self._names:
                raise ValueError("You must enqueue a dictionary in a staging area with names")
            values = list(values) if isinstance(values, (list, tuple)) else [values]
            if indices is None:
                if len(values) != len(self._dtypes):
                    raise ValueError("Unexpected number of inputs '%d' vs '%d'" % (len(values), len(self._dtypes)))
                indices = list(range(len(values)))
        tensors = []
        for value, i in zip(values, indices):
            tensor = convert_to_tensor(value, self._dtypes[i])
            if not tensor.shape.is_compatible_with(self._shapes[i]):
                raise ValueError("Incompatible shapes: %s and %s" % (tensor.shape, self._shapes[i]))
            tensors.append(tensor)
        return tensors, indices

    def _returned(self, tensors, indices):
        for tensor, i in zip(tensors, indices):
            tensor.set_shape(self._shapes[i])
        if self._names:
            return {self._names[i]: t for t, i in zip(tensors, indices)}
        return list(tensors)


def _tensors(made):
    return list(made) if isinstance(made, (list, tuple)) else [made]


class StagingArea(_BaseStagingArea):
    """Tuples of tensors that are taken in the order in which they were put."""

    def __init__(self, dtypes, shapes=None, names=None, shared_name=None, capacity=0, memory_limit=0):
        super().__init__(dtypes, shapes, names, shared_name, capacity, memory_limit)

    def put(self, values, name=None):
        """Puts a tuple, and waits until there is room."""
        with name_scope(name, "%s_put" % self._name, [None]) as scope:
            tensors, indices = self._given(values)
            if indices != list(range(len(self._dtypes))):
                raise ValueError("A tuple of this staging area has %d tensors, got %d" % (len(self._dtypes), len(tensors)))
            with colocate_with(self._coloc_op):
                return op("Stage", scope, values=tensors, **self._limits())

    def get(self, name=None):
        """Takes the first tuple, and waits until there is one."""
        with colocate_with(self._coloc_op):
            made = op("Unstage", name or "%s_get" % self._name, **self._limits())
        return self._returned(_tensors(made), range(len(self._dtypes)))

    def peek(self, index, name=None):
        """Returns the tuple at an index without removing it, and waits until there is one."""
        with colocate_with(self._coloc_op):
            made = op("StagePeek", name or "%s_peek" % self._name, index=index, **self._limits())
        return self._returned(_tensors(made), range(len(self._dtypes)))

    def size(self, name=None):
        """Returns the number of tuples."""
        return op("StageSize", name or "%s_size" % self._name, **self._limits())

    def clear(self, name=None):
        """Removes all tuples."""
        return op("StageClear", name or "%s_clear" % self._name, **self._limits())


class MapStagingArea(_BaseStagingArea):
    """Tuples of tensors that are taken by key. The tensors of a tuple can be put and taken separately."""

    def __init__(self, dtypes, shapes=None, names=None, shared_name=None, ordered=False, capacity=0, memory_limit=0):
        super().__init__(dtypes, shapes, names, shared_name, capacity, memory_limit)
        self._kind = "OrderedMap" if ordered else "Map"

    def _places(self, indices):
        if indices is None:
            return list(range(len(self._dtypes)))
        if self._names and all(isinstance(i, str) for i in indices):
            return [self._names.index(i) for i in indices]
        return list(indices)

    def put(self, key, vals, indices=None, name=None):
        """Puts tensors of the tuple of a key, and waits until there is room."""
        with name_scope(name, "%s_put" % self._name, [None]) as scope:
            tensors, indices = self._given(vals, indices)
            with colocate_with(self._coloc_op):
                return op(self._kind + "Stage", scope, key=convert_to_tensor(key, dtypes.int64), indices=convert_to_tensor(
                    indices, dtypes.int32, name="indices"), values=tensors, **self._limits())

    def get(self, key=None, indices=None, name=None):
        """Takes (key, tuple): the tuple of a key, for which it waits, or any complete one."""
        places = self._places(indices)
        types = [self._dtypes[i] for i in places]
        if key is None:
            with name_scope(name, "%s_get_nokey" % self._name, [None]) as scope, colocate_with(self._coloc_op):
                made = op(self._kind + "UnstageNoKey", scope, indices=convert_to_tensor(places, dtypes.int32, name="indices"),
                          **self._limits(types))
            return made.key, self._returned(_tensors(made.values), places)
        key = convert_to_tensor(key, dtypes.int64)
        return key, self._asked("Unstage", "get", key, places, name)

    def _asked(self, act, label, key, places, name):
        with name_scope(name, "%s_%s" % (self._name, label), [None]) as scope, colocate_with(self._coloc_op):
            made = op(self._kind + act, scope, key=convert_to_tensor(key, dtypes.int64), indices=convert_to_tensor(
                places, dtypes.int32, name="indices"), **self._limits([self._dtypes[i] for i in places]))
        return self._returned(_tensors(made), places)

    def peek(self, key, indices=None, name=None):
        """Returns the tuple of a key without removing it, and waits for it."""
        return self._asked("Peek", "pop", key, self._places(indices), name)

    def size(self, name=None):
        """Returns the number of complete tuples."""
        return op(self._kind + "Size", name or "%s_size" % self._name, **self._limits())

    def incomplete_size(self, name=None):
        """Returns the number of tuples that are not complete."""
        return op(self._kind + "IncompleteSize", name or "%s_incomplete_size" % self._name, **self._limits())

    def clear(self, name=None):
        """Removes all tuples."""
        return op(self._kind + "Clear", name or "%s_clear" % self._name, **self._limits())
