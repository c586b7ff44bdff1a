"""tf.contrib.training"""
from weft._core.framework.absent import Named


class HParams(metaclass=Named):
    """Named values of a run."""

    def __init__(self, hparam_def=None, model_structure=None, **kwargs):
        self.__dict__.update(kwargs)

    def add_hparam(self, name, value):
        if name in self.__dict__:
            raise ValueError("Hyperparameter name is reserved: %s" % name)
        self.__dict__[name] = value

    def values(self):
        return dict(self.__dict__)

    def get(self, key, default=None):
        return self.__dict__.get(key, default)

    def set_hparam(self, name, value):
        self.__dict__[name] = value

    def override_from_dict(self, values):
        self.__dict__.update(values)
        return self

    def parse(self, text):
        for pair in filter(None, (p.strip() for p in text.split(","))):
            key, _, value = pair.partition("=")
            old = self.__dict__[key]
            self.__dict__[key] = value.lower() in ("true", "1") if isinstance(old, bool) else type(old)(value)
        return self

    def __contains__(self, key):
        return key in self.__dict__

    def __repr__(self):
        return "HParams(%s)" % sorted(self.__dict__.items())
