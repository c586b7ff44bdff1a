"""tf.keras.optimizers.schedules: learning rates that depend on the step."""
import math

import weft as tf
from weft._core.framework.absent import Named
from weft._core.keras import serialization as saving


class LearningRateSchedule(metaclass=Named):
    """A function of the step that an optimizer calls. Subclasses define __call__ and get_config."""

    def __call__(self, step):
        raise NotImplementedError("Learning rate schedule '%s' must override `__call__(self, step)`." % type(self).__name__)

    def get_config(self):
        raise NotImplementedError("Learning rate schedule '%s' must override `get_config()` in order to be serializable." %
                                  type(self).__name__)

    @classmethod
    def from_config(cls, config):
        return cls(**config)


def _tensors(first, *others):
    first = tf.convert_to_tensor(first)
    return [first] + [tf.cast(x, first.dtype) for x in others]


class ExponentialDecay(LearningRateSchedule):
    def __init__(self, initial_learning_rate, decay_steps, decay_rate, staircase=False, name=None):
        self.initial_learning_rate, self.decay_steps, self.decay_rate = initial_learning_rate, decay_steps, decay_rate
        self.staircase, self.name = staircase, name

    def __call__(self, step):
        with tf.name_scope(self.name or "ExponentialDecay"):
            rate, steps, factor, step = _tensors(self.initial_learning_rate, self.decay_steps, self.decay_rate, step)
            p = step / steps
            return tf.multiply(rate, tf.pow(factor, tf.floor(p) if self.staircase else p))

    def get_config(self):
        return {"initial_learning_rate": self.initial_learning_rate, "decay_steps": self.decay_steps, "decay_rate": self.decay_rate,
                "staircase": self.staircase, "name": self.name}


class InverseTimeDecay(LearningRateSchedule):
    def __init__(self, initial_learning_rate, decay_steps, decay_rate, staircase=False, name=None):
        self.initial_learning_rate, self.decay_steps, self.decay_rate = initial_learning_rate, decay_steps, decay_rate
        self.staircase, self.name = staircase, name

    def __call__(self, step):
        with tf.name_scope(self.name or "InverseTimeDecay"):
            rate, steps, factor, step = _tensors(self.initial_learning_rate, self.decay_steps, self.decay_rate, step)
            p = step / steps
            return tf.divide(rate, tf.add(tf.cast(1.0, rate.dtype), tf.multiply(factor, tf.floor(p) if self.staircase else p)))

    get_config = ExponentialDecay.get_config


class PiecewiseConstantDecay(LearningRateSchedule):
    def __init__(self, boundaries, values, name=None):
        if len(boundaries) != len(values) - 1:
            raise ValueError("The length of boundaries should be 1 less than the length of values. Received: boundaries=%s of length "
                             "%d, and values=%s of length %d." % (boundaries, len(boundaries), values, len(values)))
        self.boundaries, self.values, self.name = boundaries, values, name

    def __call__(self, step):
        with tf.name_scope(self.name or "PiecewiseConstant"):
            step = tf.convert_to_tensor(step)
            values = tf.convert_to_tensor(list(self.values))
            bounds = [tf.cast(tf.convert_to_tensor(b), step.dtype) for b in self.boundaries]
            passed = tf.add_n([tf.cast(step > b, tf.int32) for b in bounds])
            return tf.gather(values, passed)

    def get_config(self):
        return {"boundaries": self.boundaries, "values": self.values, "name": self.name}


class PolynomialDecay(LearningRateSchedule):
    def __init__(self, initial_learning_rate, decay_steps, end_learning_rate=0.0001, power=1.0, cycle=False, name=None):
        self.initial_learning_rate, self.decay_steps, self.end_learning_rate = initial_learning_rate, decay_steps, end_learning_rate
        self.power, self.cycle, self.name = power, cycle, name

    def __call__(self, step):
        with tf.name_scope(self.name or "PolynomialDecay"):
            rate, end, power, steps, step = _tensors(self.initial_learning_rate, self.end_learning_rate, self.power, self.decay_steps, step)
            if self.cycle:
                steps = steps * tf.where(tf.equal(step, 0), tf.ones_like(step), tf.ceil(step / steps))
            else:
                step = tf.minimum(step, steps)
            return tf.add(tf.multiply(rate - end, tf.pow(1 - tf.divide(step, steps), power)), end)

    def get_config(self):
        return {"initial_learning_rate": self.initial_learning_rate, "decay_steps": self.decay_steps,
                "end_learning_rate": self.end_learning_rate, "power": self.power, "cycle": self.cycle, "name": self.name}


class CosineDecay(LearningRateSchedule):
    def __init__(self, initial_learning_rate, decay_steps, alpha=0.0, name=None, warmup_target=None, warmup_steps=0):
        self.initial_learning_rate, self.decay_steps, self.alpha, self.name = initial_learning_rate, decay_steps, alpha, name
        self.warmup_target, self.warmup_steps = warmup_target, warmup_steps

    def _decayed(self, step, steps, start, dtype):
        part = step / steps
        cosine = 0.5 * (1.0 + tf.cos(tf.constant(math.pi, dtype) * part))
        return tf.multiply(start, (1 - self.alpha) * cosine + self.alpha)

    def __call__(self, step):
        with tf.name_scope(self.name or "CosineDecay"):
            start = tf.convert_to_tensor(self.initial_learning_rate)
            steps, step = tf.cast(self.decay_steps, start.dtype), tf.cast(step, start.dtype)
            if self.warmup_target is None:
                return self._decayed(tf.minimum(step, steps), steps, start, start.dtype)
            target, warm = tf.cast(self.warmup_target, start.dtype), tf.cast(self.warmup_steps, start.dtype)
            step = tf.minimum(step, steps + warm)
            rising = start + (target - start) * (step / warm)
            return tf.where(step < warm, rising, self._decayed(step - warm, steps, target, start.dtype))

    def get_config(self):
        return {"initial_learning_rate": self.initial_learning_rate, "decay_steps": self.decay_steps, "alpha": self.alpha,
                "name": self.name, "warmup_target": self.warmup_target, "warmup_steps": self.warmup_steps}


class CosineDecayRestarts(LearningRateSchedule):
    def __init__(self, initial_learning_rate, first_decay_steps, t_mul=2.0, m_mul=1.0, alpha=0.0, name=None):
        self.initial_learning_rate, self.first_decay_steps = initial_learning_rate, first_decay_steps
        self._t_mul, self._m_mul = t_mul, m_mul
        self.alpha, self.name = alpha, name

    def __call__(self, step):
        with tf.name_scope(self.name or "SGDRDecay"):
            rate, steps, alpha, t_mul, m_mul, step = _tensors(self.initial_learning_rate, self.first_decay_steps, self.alpha, self._t_mul,
                                                              self._m_mul, step)
            done = step / steps

            def same():
                restart = tf.floor(done)
                return restart, done - restart

            def growing():
                restart = tf.floor(tf.log(1.0 - done * (1.0 - t_mul)) / tf.log(t_mul))
                passed = (1.0 - t_mul ** restart) / (1.0 - t_mul)
                return restart, (done - passed) / t_mul ** restart
            restart, part = tf.cond(tf.equal(t_mul, 1.0), same, growing)
            cosine = 0.5 * m_mul ** restart * (1.0 + tf.cos(tf.constant(math.pi, rate.dtype) * part))
            return tf.multiply(rate, (1 - alpha) * cosine + alpha)

    def get_config(self):
        return {"initial_learning_rate": self.initial_learning_rate, "first_decay_steps": self.first_decay_steps, "t_mul": self._t_mul,
                "m_mul": self._m_mul, "alpha": self.alpha, "name": self.name}


def serialize(learning_rate_schedule, use_legacy_format=False):
    return saving.serialize_keras_object(learning_rate_schedule)


def deserialize(config, custom_objects=None, use_legacy_format=False):
    return saving.deserialize_keras_object(config, custom_objects=custom_objects, module_objects=globals(),
                                           printable_module_name="decay")
