"""tf.data.Options and its groups of settings, which do not change the elements."""
from weft._core.framework.absent import Named


class _Settings(metaclass=Named):
    """Named settings of a group, each None until it is set."""

    def __init__(self, **kinds):
        self.__dict__.update(_kinds=kinds, _values={})

    def __getattr__(self, name):
        if name.startswith("__") or name not in self._kinds:
            raise AttributeError("%s has no setting %s" % (type(self).__name__, name))
        return self._values.get(name)

    def __setattr__(self, name, value):
        if name not in self._kinds:
            raise AttributeError("Cannot set the property %s on %s." % (name, type(self).__name__))
        if not isinstance(value, self._kinds[name]):
            raise TypeError("Property \"%s\" must be of type %s, got: %r (type: %s)" % (
                name, self._kinds[name], value, type(value)))
        self._values[name] = value

    def __eq__(self, other):
        return type(self) is type(other) and self._values == other._values

    __hash__ = None


class ThreadingOptions(_Settings):
    """How many threads a data set uses. These settings of TensorFlow do not change the elements."""

    def __init__(self):
        super().__init__(max_intra_op_parallelism=int, private_threadpool_size=int)


_OPTIMIZATIONS = ("apply_default_optimizations", "filter_fusion", "filter_parallelization", "inject_prefetch",
                  "map_and_batch_fusion", "map_and_filter_fusion", "map_fusion", "map_parallelization", "noop_elimination",
                  "parallel_batch", "seq_interleave_prefetch", "shuffle_and_repeat_fusion", "warm_start")


class OptimizationOptions(_Settings):
    """How TensorFlow rewrites a data set. These settings do not change the elements."""

    def __init__(self):
        super().__init__(**dict.fromkeys(_OPTIMIZATIONS, bool))


class AutotuneOptions(_Settings):
    """How TensorFlow chooses numbers of threads. These settings do not change the elements."""

    def __init__(self):
        super().__init__(enabled=bool, cpu_budget=int, ram_budget=int, autotune_algorithm=object)


_ALIASES = {"experimental_deterministic": "deterministic", "experimental_threading": "threading"}
_GROUPS = {"threading": ThreadingOptions, "experimental_optimization": OptimizationOptions, "autotune": AutotuneOptions}


class Options(_Settings, metaclass=Named):
    """Settings of TensorFlow's runtime. Weft keeps them, but they change neither the elements nor their order."""

    def __init__(self):
        super().__init__(deterministic=bool, experimental_slack=bool, experimental_symbolic_checkpoint=bool,
                         experimental_warm_start=bool, experimental_external_state_policy=object,
                         experimental_distribute=object, **{n: k for n, k in _GROUPS.items()})
        self._values.update({n: k() for n, k in _GROUPS.items()})

    def __getattr__(self, name):
        return super().__getattr__(_ALIASES.get(name, name))

    def __setattr__(self, name, value):
        super().__setattr__(_ALIASES.get(name, name), value)

    def merge(self, options):
        """Returns these settings, overridden by those that the other ones set."""
        made = Options()
        for source in (self, options):
            for name, value in source._values.items():
                if name in _GROUPS:
                    made._values[name]._values.update(value._values)
                else:
                    made._values[name] = value
        return made
