"""tf.contrib.training: hyperparameters, training steps, and batches that are bucketed or sampled by class."""
import json
import numbers
import re

import weft as tf
from weft._core.contrib import learning
from weft._core.framework.absent import Named

_NAME = re.compile(r"(?P<name>[a-zA-Z][\w\.]*)(\[\s*(?P<index>\d+)\s*\])?\s*=\s*((?P<value>[^,\[]*)|\[(?P<values>[^\]]*)\])($|,\s*)")


def parse_values(values, type_map, ignore_unknown=False):
    """Returns {name: value} of a text such as "a=1,b=[2,3],c[1]=4", with the types that type_map gives; c is {index:
    value}.
    """
    found, at = {}, 0
    while at < len(values):
        m = _NAME.match(values, at)
        if not m:
            raise ValueError("Malformed hyperparameter value: %s" % values[at:])
        at = m.end()
        name = m.group("name")
        if name not in type_map:
            if ignore_unknown:
                continue
            raise ValueError("Unknown hyperparameter type for %s" % name)
        kind = type_map[name]
        if m.group("values") is not None:
            if m.group("index"):
                raise ValueError("Assignment of a list to a list index.")
            _once(found, name)
            found[name] = [_parsed(v, kind, name, values) for v in filter(None, re.split("[ ,]", m.group("values")))]
        elif m.group("index") is not None:
            by_index = found.setdefault(name, {})
            if not isinstance(by_index, dict) or int(m.group("index")) in by_index:
                raise ValueError("Multiple assignments to variable '%s' in %s" % (name, values))
            by_index[int(m.group("index"))] = _parsed(m.group("value"), kind, name, values)
        else:
            _once(found, name)
            found[name] = _parsed(m.group("value"), kind, name, values)
    return found


def _once(found, name):
    if name in found:
        raise ValueError("Multiple assignments to variable '%s'" % name)


def _parsed(text, kind, name, values):
    text = text.strip()
    try:
        if kind is bool:
            if text in ("true", "True", "1"):
                return True
            if text in ("false", "False", "0"):
                return False
            raise ValueError(text)
        return kind(text)
    except ValueError:
        raise ValueError("Could not parse hparam %r of type %r with value %r in %s" % (name, kind.__name__, text, values)) from None


def _cast(value, kind, name):
    """Returns a value for a hyperparameter of a type; numbers widen, and nothing is lost."""
    said = "Could not cast hparam %r of type %r from value %r" % (name, kind, value)
    if isinstance(value, kind) and not (kind is not bool and isinstance(value, bool)):
        return value
    if value is None or kind is type(None):
        return value
    text = (str, bytes)
    if issubclass(kind, bool) != isinstance(value, bool) or issubclass(kind, text) != isinstance(value, text):
        raise ValueError(said)
    if issubclass(kind, numbers.Integral) and not isinstance(value, numbers.Integral):
        raise ValueError(said)
    if not issubclass(kind, numbers.Number) and not issubclass(kind, text) or not isinstance(value, (numbers.Number, *text)):
        raise ValueError(said)
    return kind(value)


class HParams(metaclass=Named):
    """Named values of a run.  A value keeps its type: one of another type that cannot be converted is an error."""

    def __init__(self, hparam_def=None, model_structure=None, **kwargs):
        if hparam_def is not None:
            raise NotImplementedError("tf.contrib.training.HParams(hparam_def=...) is not in Weft: give the values as keywords")
        self._hparam_types, self._model_structure = {}, model_structure
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def add_hparam(self, name, value):
        """Adds a value under a name that is not in use."""
        if getattr(self, name, None) is not None or name in self._hparam_types:
            raise ValueError("Hyperparameter name is reserved: %s" % name)
        if isinstance(value, (list, tuple)):
            if not value:
                raise ValueError("Multi-valued hyperparameters cannot be empty: %s" % name)
            self._hparam_types[name] = (type(value[0]), True)
        else:
            self._hparam_types[name] = (type(value), False)
        setattr(self, name, value)

    def set_hparam(self, name, value):
        """Gives a hyperparameter that is there another value."""
        kind, is_list = self._hparam_types[name]
        if isinstance(value, list):
            if not is_list:
                raise ValueError("Must not pass a list for single-valued parameter: %s" % name)
            setattr(self, name, [_cast(v, kind, name) for v in value])
        else:
            if is_list:
                raise ValueError("Must pass a list for multi-valued parameter: %s." % name)
            setattr(self, name, _cast(value, kind, name))

    def del_hparam(self, name):
        """Removes a hyperparameter, if it is there."""
        if hasattr(self, name):
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values):
        """Sets values from a text such as "learning_rate=0.1,layers=[3,4],name=x"."""
        types = {name: kind for name, (kind, _) in self._hparam_types.items()}
        for name, value in parse_values(values, types).items():
            if isinstance(value, dict):
                was = getattr(self, name)
                for i, one in value.items():
                    was[i] = one
            else:
                self.set_hparam(name, value)
        return self

    def override_from_dict(self, values_dict):
        """Sets values by name."""
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def parse_json(self, values_json):
        """Sets values from a JSON object."""
        return self.override_from_dict(json.loads(values_json))

    def to_json(self, indent=None, separators=None, sort_keys=False):
        """Returns the values as a JSON object; functions are left out."""
        found = {k: v for k, v in self.values().items() if not callable(v)}
        return json.dumps(found, indent=indent, separators=separators, sort_keys=sort_keys)

    def values(self):
        """Returns {name: value}"""
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key, default=None):
        """Returns a value, or a default of the same type where there is none."""
        if key not in self._hparam_types:
            return default
        if default is not None:
            kind, is_list = self._hparam_types[key]
            said = "HParam %r of type '%s%s' is incompatible with default=%s" % (
                key, "list " if is_list else "", kind.__name__, default)
            if is_list != isinstance(default, list):
                raise ValueError(said)
            try:
                for one in default if is_list else [default]:
                    _cast(one, kind, key)
            except ValueError as e:
                raise ValueError("%s. %s" % (said, e)) from None
        return getattr(self, key)

    def set_model_structure(self, model_structure):
        self._model_structure = model_structure

    def get_model_structure(self):
        return self._model_structure

    def __contains__(self, key):
        return key in self._hparam_types

    def __str__(self):
        return str(sorted(self.values().items()))

    def __repr__(self):
        return "HParams(%s)" % self


# ---- training ----

clip_gradient_norms, multiply_gradients = learning.clip_gradient_norms, learning.multiply_gradients
add_gradients_summaries = learning.add_gradients_summaries


def clip_gradient_norms_fn(max_norm):
    """Returns a function that clips the gradients of (gradient, variable) pairs."""
    return lambda gradients_to_variables: clip_gradient_norms(gradients_to_variables, max_norm)


create_train_op = learning.create_training_op


def train(train_op, logdir, master="", is_chief=True, scaffold=None, hooks=None, chief_only_hooks=None, save_checkpoint_secs=600,
          save_summaries_steps=100, config=None, max_wait_secs=7200, run_metadata=None):
    """Runs the training op in a MonitoredTrainingSession until a hook stops it; returns the last loss."""
    if logdir is None and is_chief:
        if save_summaries_steps:
            raise ValueError("logdir cannot be None when save_summaries_steps is not None")
        if save_checkpoint_secs:
            raise ValueError("logdir cannot be None when save_checkpoint_secs is not None")
    with tf.train.MonitoredTrainingSession(
            master=master, is_chief=is_chief, checkpoint_dir=logdir, scaffold=scaffold, hooks=hooks,
            chief_only_hooks=chief_only_hooks, save_checkpoint_secs=save_checkpoint_secs, save_summaries_steps=save_summaries_steps,
            config=config, max_wait_secs=max_wait_secs) as session:
        loss = None
        while not session.should_stop():
            loss = session.run(train_op, run_metadata=run_metadata)
    return loss


class RandomStrategy(metaclass=Named):
    """Puts each variable on a ps task that is drawn at random from a seed."""

    def __init__(self, num_ps_tasks, seed=0):
        import random
        self._num_tasks, self._random = num_ps_tasks, random.Random(seed)

    def __call__(self, op):
        """Returns the number of the task for an operation."""
        return self._random.choice(list(range(self._num_tasks)))
