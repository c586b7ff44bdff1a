"""tf.Module: an object that holds variables and other modules, and finds them in its attributes."""
import functools
import re

from weft._core.framework.graph import name_scope
from weft._core.framework.nest import flatten, is_nested
from weft._core.framework.trackable import AutoTrackable
from weft._core.ops.variables import Variable


def _snake_case(name):
    return re.sub(r"((?<=[a-z0-9])[A-Z]|(?!^)(?<!_)[A-Z](?=[a-z]))", r"_\1", name).lower()


class Module(AutoTrackable):
    """A named container of variables, modules and functions that use them."""

    # Attributes that are not searched for variables; subclasses extend the set.
    _TF_MODULE_IGNORED_PROPERTIES = frozenset(["_tracked_children", "_untracked_names"])

    def __init__(self, name=None):
        if name is None:
            name = _snake_case(type(self).__name__)
        elif not re.match(r"^[a-zA-Z_]([a-zA-Z0-9_])*$", name):
            raise ValueError("%r is not a valid module name. Module names must be valid Python identifiers (e.g. a valid class "
                             "name)." % name)
        self._name = name
        with name_scope(name) as scope:
            self._scope_name = scope

    name = property(lambda self: self._name)

    @property
    def name_scope(self):
        """The name scope of the module; it can be entered again without getting a new name."""
        return name_scope(self._scope_name)

    def _parts(self, wanted, seen, walked):
        """Yields the wanted objects of this module and the modules below it: its own attributes first, by name."""
        walked.add(id(self))
        below = []
        for key in sorted(vars(self)):
            value = vars(self)[key]
            for leaf in [] if key in self._TF_MODULE_IGNORED_PROPERTIES else flatten(value) if is_nested(value) else [value]:
                if isinstance(leaf, (Variable, Module)) and id(leaf) not in seen and wanted(leaf):
                    seen.add(id(leaf))
                    yield leaf
                if isinstance(leaf, Module):
                    below.append(leaf)
        for module in below:
            if id(module) not in walked:
                yield from module._parts(wanted, seen, walked)

    def _found(self, wanted):
        return tuple(self._parts(wanted, {id(self)}, set()))

    @property
    def variables(self):
        return self._found(lambda x: isinstance(x, Variable))

    @property
    def trainable_variables(self):
        return self._found(lambda x: isinstance(x, Variable) and x.trainable)

    @property
    def non_trainable_variables(self):
        return self._found(lambda x: isinstance(x, Variable) and not x.trainable)

    @property
    def submodules(self):
        return self._found(lambda x: isinstance(x, Module))

    @classmethod
    def with_name_scope(cls, method):
        """Decorates a method so that it runs in the module's name scope."""
        @functools.wraps(method)
        def scoped(self, *args, **kwargs):
            with self.name_scope:
                return method(self, *args, **kwargs)
        return scoped
