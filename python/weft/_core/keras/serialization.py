"""Converts objects of Keras to names and configurations and back, and keeps names that programs add."""
import inspect

from weft._core.framework.absent import Named

_custom = {}          # names that programs added permanently
_registered = {}      # class or function -> its name with the package


class CustomObjectScope(metaclass=Named):
    """A scope of names that deserialize knows: with tf.keras.utils.CustomObjectScope({"name": object})"""

    def __init__(self, *args):
        self._given = args

    def __enter__(self):
        self._before = dict(_custom)
        for objects in self._given:
            _custom.update(objects)
        return self

    def __exit__(self, *exc):
        _custom.clear()
        _custom.update(self._before)


custom_object_scope = CustomObjectScope


def get_custom_objects():
    """Returns the dictionary of names that programs add; changes to it are permanent."""
    return _custom


def register_keras_serializable(package="Custom", name=None):
    """Returns a decorator that registers a class or function as "package>name"."""
    def register(arg):
        known = "%s>%s" % (package, name or arg.__name__)
        if inspect.isclass(arg) and not hasattr(arg, "get_config"):
            raise ValueError("Cannot register a class that does not have a get_config() method.")
        if known in _custom:
            raise ValueError("%s has already been registered to %s" % (known, _custom[known]))
        if arg in _registered:
            raise ValueError("%s has already been registered to %s" % (arg, _registered[arg]))
        _custom[known], _registered[arg] = arg, known
        return arg
    return register


def get_registered_name(obj):
    return _registered.get(obj, obj.__name__)


def get_registered_object(name, custom_objects=None, module_objects=None):
    for table in (_custom, custom_objects or {}, module_objects or {}):
        if name in table:
            return table[name]
    return None


def serialize_keras_object(obj):
    """Returns {"class_name": ..., "config": ...} of an object with get_config, or the name of a function."""
    if obj is None:
        return None
    if hasattr(obj, "get_config"):
        return {"class_name": get_registered_name(type(obj)), "config": obj.get_config()}
    if hasattr(obj, "__name__"):
        return get_registered_name(obj)
    raise ValueError("Cannot serialize %s because it doesn't implement `get_config()`." % (obj,))


def _unknown(name, what):
    return ValueError("Unknown %s: '%s'. Please ensure you are using a `keras.utils.custom_object_scope` and that this object is "
                      "included in the scope. See https://www.tensorflow.org/guide/keras/save_and_serialize"
                      "#registering_the_custom_object for details." % (what, name))


def deserialize_keras_object(identifier, module_objects=None, custom_objects=None, printable_module_name="object"):
    """Returns the object of a configuration or of a name. For the name of a class, calls it without arguments."""
    if identifier is None:
        return None
    if isinstance(identifier, dict):
        if "class_name" not in identifier or "config" not in identifier:
            raise ValueError("Improper config format for %s. Expecting python dict contains `class_name` and `config` as keys" %
                             (identifier,))
        cls = get_registered_object(identifier["class_name"], custom_objects, module_objects)
        if cls is None:
            raise _unknown(identifier["class_name"], printable_module_name)
        config = identifier["config"]
        if not hasattr(cls, "from_config"):
            with CustomObjectScope(custom_objects or {}):
                return cls(**config)
        if "custom_objects" in inspect.signature(cls.from_config).parameters:
            return cls.from_config(config, custom_objects={**_custom, **(custom_objects or {})})
        with CustomObjectScope(custom_objects or {}):
            return cls.from_config(config)
    if isinstance(identifier, str):
        found = get_registered_object(identifier, custom_objects, module_objects)
        if found is None:
            raise _unknown(identifier, printable_module_name)
        return found() if inspect.isclass(found) else found
    if inspect.isfunction(identifier):
        return identifier
    raise ValueError("Could not interpret serialized %s: %s" % (printable_module_name, identifier))
