"""tf.make_template: wraps a function whose variables are made at the first call and shared by all later calls."""
import functools

from weft._core.framework.graph import GraphKeys, get_collection
from weft._core.ops.variable_scope import variable_scope


def make_template(name_, func_, create_scope_now_=False, unique_name_=None, custom_getter_=None, **kwargs):
    """Wraps a function so that all of its calls share the variables that the first call made.

    Args:
      name_: the name of the variable scope, made unique.
      func_: the function; it makes its variables by tf.get_variable.
      create_scope_now_: whether the scope is that of this call, instead of that of the first call of the template.
      unique_name_: the exact name of the scope; two templates with the same one are an error.
      custom_getter_: a custom getter for the scope, or None.
      **kwargs: arguments that every call of the function gets.
    """
    function = functools.partial(func_, **kwargs) if kwargs else func_
    return Template(name_, function, create_scope_now_, unique_name_, custom_getter_)


class Template:
    """The result of make_template, which is called like the function."""

    def __init__(self, name, func, create_scope_now=False, unique_name=None, custom_getter=None):
        if name is None:
            raise ValueError("name cannot be None.")
        self._func, self._name, self._unique_name, self._getter = func, name, unique_name, custom_getter
        self._scope, self._called = None, False
        if create_scope_now:
            self._open_first()

    def _open_first(self):
        """Opens the scope once so that its name is reserved; each call enters it again."""
        with variable_scope(self._unique_name, self._name, custom_getter=self._getter, auxiliary_name_scope=False) as scope:
            self._scope = scope

    def __call__(self, *args, **kwargs):
        if self._called:
            with variable_scope(self._scope, reuse=True):
                return self._func(*args, **kwargs)
        if self._scope is not None:
            # The scope exists already, but its name scope has not been used yet.
            with variable_scope(self._scope):
                made = self._func(*args, **kwargs)
        else:
            with variable_scope(self._unique_name, self._name, custom_getter=self._getter) as scope:
                self._scope = scope
                made = self._func(*args, **kwargs)
        self._called = True
        return made

    def _listed(self, key):
        if self._scope is None:
            return []
        return get_collection(key, scope=self.variable_scope_name)

    name = property(lambda self: self._name)
    func = property(lambda self: self._func)
    variable_scope = property(lambda self: self._scope)
    var_scope = property(lambda self: self._scope)
    variable_scope_name = property(lambda self: self._scope and self._scope.name + "/")
    global_variables = property(lambda self: self._listed(GraphKeys.GLOBAL_VARIABLES))
    local_variables = property(lambda self: self._listed(GraphKeys.LOCAL_VARIABLES))
    trainable_variables = property(lambda self: self._listed(GraphKeys.TRAINABLE_VARIABLES))
    trainable_weights = property(lambda self: self.trainable_variables)
    variables = property(lambda self: self.global_variables + self.local_variables)
    weights = property(lambda self: self.variables)

    @property
    def non_trainable_variables(self):
        trainable = set(self.trainable_variables)
        return [v for v in self.variables if v not in trainable]

    non_trainable_weights = property(lambda self: self.non_trainable_variables)
