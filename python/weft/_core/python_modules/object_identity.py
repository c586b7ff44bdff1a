"""tensorflow.python.util.object_identity: sets and dicts that compare their members by identity."""
import collections.abc
import weakref


class Reference:
    """An object, compared by identity."""

    __slots__ = ("_wrapped", "__weakref__")

    def __init__(self, wrapped):
        self._wrapped = wrapped

    @property
    def unwrapped(self):
        """The object."""
        return self._wrapped

    def deref(self):
        """Returns the object."""
        return self._wrapped

    def __eq__(self, other):
        return isinstance(other, Reference) and self._wrapped is other._wrapped

    def __hash__(self):
        return id(self._wrapped)

    def __repr__(self):
        return "<Reference wrapping %r>" % (self._wrapped,)


class ObjectIdentityDictionary(collections.abc.MutableMapping):
    """A dict whose keys are compared by identity."""

    def __init__(self, *args, **kwargs):
        self._storage = {}  # {id: (key, value)}
        self.update(dict(*args, **kwargs) if not args or not hasattr(args[0], "items") else args[0], **kwargs)

    def __getitem__(self, key):
        try:
            return self._storage[id(key)][1]
        except KeyError:
            raise KeyError(key) from None

    def __setitem__(self, key, value):
        self._storage[id(key)] = (key, value)

    def __delitem__(self, key):
        if id(key) not in self._storage:
            raise KeyError(key)
        del self._storage[id(key)]

    def __len__(self):
        return len(self._storage)

    def __iter__(self):
        return iter([key for key, _ in self._storage.values()])


class ObjectIdentityWeakKeyDictionary(ObjectIdentityDictionary):
    """An ObjectIdentityDictionary that does not keep its keys alive."""

    def __setitem__(self, key, value):
        number, storage = id(key), self._storage
        storage[number] = (weakref.ref(key, lambda _: storage.pop(number, None)), value)

    def __iter__(self):
        return iter([key for key in (ref() for ref, _ in self._storage.values()) if key is not None])


class ObjectIdentitySet(collections.abc.MutableSet):
    """A set whose members are compared by identity, in insertion order."""

    _KIND = ObjectIdentityDictionary

    def __init__(self, *args):
        self._members = self._KIND()
        for member in args[0] if args else ():
            self.add(member)

    def __contains__(self, key):
        return key in self._members

    def add(self, key):
        """Adds an object to the set."""
        self._members[key] = None

    def discard(self, key):
        """Removes an object from the set, if it is there."""
        self._members.pop(key, None)

    def update(self, items):
        """Adds objects to the set."""
        for member in items:
            self.add(member)

    def clear(self):
        """Removes all objects from the set."""
        self._members.clear()

    def intersection(self, items):
        """Returns the objects that are in both."""
        return type(self)([member for member in items if member in self])

    def difference(self, items):
        """Returns the objects that are not among the items."""
        other = type(self)(items)
        return type(self)([member for member in self if member not in other])

    def __len__(self):
        return len(self._members)

    def __iter__(self):
        return iter(self._members)


class ObjectIdentityWeakSet(ObjectIdentitySet):
    """An ObjectIdentitySet that does not keep its members alive."""

    _KIND = ObjectIdentityWeakKeyDictionary
