"""Objects of Keras as dictionaries and back: custom objects, registered names, configurations."""
import inspect
import threading

_custom = {}  # what get_custom_objects gives
_local = threading.local()
_names = {}  # of a registered class or function, its registered name


class CustomObjectScope:
    """with custom_object_scope({name: class}): the names are known inside."""

    def __init__(self, *args):
        self.custom_objects, self.backup = args, None

    def __enter__(self):
        self.backup = dict(_scoped())
        for given in self.custom_objects:
            _scoped().update(given)
        return self

    def __exit__(self, *args):
        _scoped().clear()
        _scoped().update(self.backup)


custom_object_scope = CustomObjectScope


def _scoped():
    return _local.__dict__.setdefault("objects", {})


def get_custom_objects():
    """The names that programs have added; a program may change the dictionary."""
    return _custom


def register_keras_serializable(package="Custom", name=None):
    """A decorator that makes a class or a function known as package>name."""
    def register(given):
        registered = "%s>%s" % (package, name if name is not None else given.__name__)
        if inspect.isclass(given) and not hasattr(given, "get_config"):
            raise ValueError("Cannot register a class that does not have a get_config() method.")
        _custom[registered] = given
        _names[given] = registered
        return given
    return register


def get_registered_name(obj):
    return _names.get(obj, getattr(obj, "__name__", obj))


def get_registered_object(name, custom_objects=None, module_objects=None):
    """The object of a name, or None."""
    for known in (_scoped(), _custom, custom_objects or {}, module_objects or {}):
        if name in known:
            return known[name]
    return None


def serialize_keras_object(obj):
    """A dictionary of class_name and config, or the name of a function."""
    if obj is None:
        return None
    if hasattr(obj, "get_config") and not isinstance(obj, type):
        config = obj.get_config()
        return {"class_name": get_registered_name(type(obj)), "config": _plain_config(config)}
    if hasattr(obj, "__name__"):
        return get_registered_name(obj)
    raise ValueError("Cannot serialize %s because it doesn't implement `get_config()`." % (obj,))


def _plain_config(config):
    return {k: v if isinstance(v, str) or not hasattr(v, "get_config") or isinstance(v, type) else serialize_keras_object(v)
            for k, v in config.items()}


def _unknown(name, kind):
    return ValueError("Unknown %s: '%s'. Please ensure you are using a `keras.utils.custom_object_scope` and that this object is "
                      "included in the scope. See https://www.tensorflow.org/guide/keras/save_and_serialize"
                      "#registering_the_custom_object for details." % (kind, name))


def deserialize_keras_object(config, custom_objects=None, safe_mode=True, module_objects=None, printable_module_name="object",
                             **kwargs):
    """The object that a dictionary of serialize_keras_object, or a name, stands for."""
    if config is None:
        return None
    if isinstance(config, dict):
        return _from_dictionary(config, custom_objects, module_objects, printable_module_name)
    if isinstance(config, str):
        found = get_registered_object(config, custom_objects, module_objects)
        if found is None:
            raise _unknown(config, printable_module_name)
        return found() if inspect.isclass(found) else found
    if inspect.isfunction(config):
        return config
    raise ValueError("Could not interpret serialized %s: %s" % (printable_module_name, config))


def _from_dictionary(config, custom_objects, module_objects, kind):
    if "class_name" not in config or "config" not in config:
        raise ValueError("Improper config format for %s. Expecting python dict contains `class_name` and `config` as keys" % (config,))
    found = get_registered_object(config["class_name"], custom_objects, module_objects)
    if found is None:
        raise _unknown(config["class_name"], kind)
    given = dict(config["config"])
    if not hasattr(found, "from_config"):
        with CustomObjectScope(custom_objects or {}):
            return found(**given)
    if "custom_objects" in inspect.signature(found.from_config).parameters:
        known = {**_custom, **_scoped(), **(custom_objects or {})}
        return found.from_config(given, custom_objects=known)
    with CustomObjectScope(custom_objects or {}):
        return found.from_config(given)
