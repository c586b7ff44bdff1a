"""Optimizers of tf.contrib.opt that keep averages of variables, in one graph or between workers and the ps.

The optimizers for several workers give each worker a copy of every trainable variable.  A custom getter of the variable
scope makes these copies: a worker trains its own, and now and then it and the copy on the ps move towards each other.
"""
import re

import weft as tf
from weft._core.framework.absent import Named

GLOBAL_VARIABLE_NAME, LOCAL_VARIABLE_NAME, GRAD_VARIABLE_NAME = "global_center_variable", "local_center_variable", "grad_variable"


class MovingAverageOptimizer(tf.train.Optimizer):
    """Wraps another optimizer, and updates moving averages of its variables after each step."""

    def __init__(self, opt, average_decay=0.9999, num_updates=None, sequential_update=True):
        self._optimizer = opt
        self._ema = tf.train.ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._swapped_variable_name_map, self._sequential_update = None, sequential_update

    def compute_gradients(self, *args, **kwargs):
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        pairs = list(grads_and_vars)
        train = self._optimizer.apply_gradients(pairs, global_step=global_step, name=name)
        trained = [v for g, v in pairs if g is not None]
        self._swapped_variable_name_map = {}
        with tf.control_dependencies([train] if self._sequential_update else []):
            average = self._ema.apply(trained)
        for v in trained:
            shadow = self._ema.average(v)
            self._swapped_variable_name_map[v.op.name] = shadow.op.name
            self._swapped_variable_name_map[shadow.op.name] = v.op.name
        return tf.group(train, average, name="train_with_avg")

    def swapping_saver(self, var_list=None, name="swapping_saver", **kwargs):
        """Returns a saver that writes the averages under the names of the variables, and the variables under those of
        the averages.
        """
        if self._swapped_variable_name_map is None:
            raise RuntimeError("Must call apply_gradients or minimize before creating the swapping_saver")
        given = tf.global_variables() if var_list is None else var_list
        named = dict(given) if isinstance(given, dict) else {v.op.name: v for v in given}
        by_name = {v.op.name: v for v in named.values()}
        swapped = {}
        for key, v in named.items():
            other = self._swapped_variable_name_map.get(v.op.name)
            if other is not None and other not in by_name:
                raise ValueError("Variable to swap %s is not in variables to save %s" % (other, sorted(by_name)))
            swapped[key] = v if other is None else by_name[other]
        return tf.train.Saver(swapped, name=name, **kwargs)

    def get_slot(self, *args, **kwargs):
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        return self._optimizer.get_slot_names(*args, **kwargs)

    def variables(self):
        return self._optimizer.variables()


class _CustomGetter(metaclass=Named):
    """The base of custom getters that make copies of each trainable variable, on the worker and on the ps."""

    def __init__(self, worker_device):
        self._worker_device, self._local_map, self._global_map, self._grad_map = worker_device, {}, {}, {}

    def __call__(self, getter, name, trainable=True, collections=None, *args, **kwargs):
        local = [tf.GraphKeys.LOCAL_VARIABLES]
        if not trainable:
            if collections is not None and tf.GraphKeys.LOCAL_VARIABLES in collections:
                with tf.device(self._worker_device):
                    return getter(name, *args, trainable=trainable, collections=collections, **kwargs)
            return getter(name, *args, trainable=trainable, collections=collections, **kwargs)
        with tf.device(self._worker_device):
            made = getter(name, *args, trainable=True, collections=[*local, tf.GraphKeys.TRAINABLE_VARIABLES], **kwargs)
        if kwargs.get("reuse") is True or any(v is made for v in self._global_map):
            return made
        center = getter("%s/%s" % (GLOBAL_VARIABLE_NAME, name), *args, trainable=False,
                        collections=[tf.GraphKeys.GLOBAL_VARIABLES], **kwargs)
        with tf.device(self._worker_device):
            self._more(getter, name, made, local, args, kwargs)
        for key, value in zip(made if hasattr(made, "_get_partitions") else [made],
                              center if hasattr(made, "_get_partitions") else [center]):
            self._global_map[key] = value
        return made

    def _more(self, getter, name, made, local, args, kwargs):
        """Makes further copies on the worker."""


class ElasticAverageCustomGetter(_CustomGetter):
    """Makes the copies of ElasticAverageOptimizer: the worker's variable, the center on the ps, and the worker's last
    copy of it.
    """

    def _more(self, getter, name, made, local, args, kwargs):
        seen = getter("%s/%s" % (LOCAL_VARIABLE_NAME, name), *args, trainable=False, collections=local, **kwargs)
        self._local_map.update(zip(made, seen) if hasattr(made, "_get_partitions") else [(made, seen)])


class AGNCustomGetter(_CustomGetter):
    """Makes the copies of AGNOptimizer: the worker's variable, the center on the ps, and the worker's sum of gradients.
    """

    def _more(self, getter, name, made, local, args, kwargs):
        kwargs = dict(kwargs, shape=made.shape.as_list(), initializer=tf.zeros_initializer(), regularizer=None)
        total = getter("%s/%s" % (GRAD_VARIABLE_NAME, name), *args, trainable=False, collections=local, **kwargs)
        self._grad_map.update(zip(made, total) if hasattr(made, "_get_partitions") else [(made, total)])


class ModelAverageCustomGetter(_CustomGetter):
    """Makes the copies of ModelAverageOptimizer: the worker's variable, and the average on the ps."""


class _BetweenWorkers(tf.train.Optimizer):
    """The base of optimizers for several workers: a step count of the worker, and slots on the worker."""

    def __init__(self, opt, num_worker, custom_getter, period, use_locking, name):
        super().__init__(use_locking, name)
        self._opt, self._num_worker, self._period, self._getter = opt, num_worker, period, custom_getter
        self._global_map, self._local_map = custom_getter._global_map, custom_getter._local_map
        self._local_step = tf.get_variable("local_step", initializer=0, trainable=False, dtype=tf.int32,
                                           collections=[tf.GraphKeys.LOCAL_VARIABLES])

    def _train_locally(self, pairs):
        """Returns the worker's own step; variables that the optimizer makes for it are the worker's, too."""
        graph = tf.get_default_graph()
        before = {id(v) for v in graph.get_collection(tf.GraphKeys.GLOBAL_VARIABLES)}
        train = self._opt.apply_gradients(pairs)
        kept = graph.get_collection_ref(tf.GraphKeys.GLOBAL_VARIABLES)
        made = [v for v in kept if id(v) not in before]
        kept[:] = [v for v in kept if id(v) in before]
        for v in made:
            graph.add_to_collection(tf.GraphKeys.LOCAL_VARIABLES, v)
        return train

    def _every_period(self, after, update):
        """Counts a step of the worker, and runs an update every `period` steps."""
        with tf.control_dependencies([after]):
            step = tf.assign_add(self._local_step, 1, name="local_step_update")
        with tf.control_dependencies([step]):
            due = tf.equal(tf.mod(step, self._period), 0)
            return tf.cond(due, update, tf.no_op).op

    def _center(self, v):
        """Returns the copy on the ps, read there: a read on the worker could be sent before an update that it is to
        follow.
        """
        with tf.colocate_with(self._global_map[v]):
            return self._global_map[v].read_value()

    @staticmethod
    def _count(global_step):
        if global_step is None:
            return []
        with tf.colocate_with(global_step):
            return [tf.assign_add(global_step, tf.ones([], global_step.dtype.base_dtype))]

    def get_init_op(self, task_index):
        """Sets the copies of the worker to those on the ps."""
        found = [v for v in tf.trainable_variables() if v in self._global_map]
        if not found:
            raise ValueError("no trainable variable was made with the custom getter: open a tf.variable_scope with custom_getter=%s" % (
                type(self._getter).__name__))
        assigned = []
        for v in found:
            for copy in (v, self._local_map.get(v)):
                if copy is not None:
                    assigned.append(tf.assign(copy, self._global_map[v]))
        return tf.group(*assigned)

    def make_session_run_hook(self, is_chief, task_index):
        return _InitHook(self, is_chief, task_index)

    def get_slot(self, *args, **kwargs):
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        return self._opt.get_slot_names(*args, **kwargs)

    def swapping_saver(self, var_list=None, name="swapping_saver", **kwargs):
        """Returns a saver that writes the copies on the ps under the names of the worker's variables."""
        given = tf.global_variables() + tf.trainable_variables() if var_list is None else var_list
        named = dict(given) if isinstance(given, dict) else {v.op.name: v for v in given}
        centers = {id(c) for c in self._global_map.values()}
        return tf.train.Saver({k: self._global_map.get(v, v) for k, v in named.items() if id(v) not in centers}, name=name, **kwargs)


class _InitHook(tf.train.SessionRunHook):
    """Sets the copies of a worker once there is a session."""

    def __init__(self, optimizer, is_chief, task_index):
        self._optimizer, self._is_chief, self._task_index = optimizer, is_chief, task_index

    def begin(self):
        self._init = self._optimizer.get_init_op(self._task_index)

    def after_create_session(self, session, coord):
        session.run(self._init)


class ElasticAverageOptimizer(_BetweenWorkers):
    """Workers train separately, and are pulled towards a common center (Zhang, Choromanska and LeCun)."""

    BETA = 0.9

    def __init__(self, opt, num_worker, ea_custom_getter, communication_period=10, moving_rate=None, rho=None, use_locking=True,
                 synchronous=False, name="ElasticAverageOptimizer"):
        if synchronous:
            raise NotImplementedError("tf.contrib.opt.ElasticAverageOptimizer(synchronous=True) is not in Weft: leave it out, and the "
                                      "workers start as soon as they can")
        super().__init__(opt, num_worker, ea_custom_getter, communication_period, use_locking, name)
        self._moving_rate = self.BETA / communication_period / num_worker if moving_rate is None else moving_rate
        self._rho = self._moving_rate / opt._learning_rate if rho is None else rho

    def compute_gradients(self, loss, var_list=None, **kwargs):
        var_list = var_list or tf.trainable_variables()
        away = [v - self._local_map[v] for v in var_list]
        return self._opt.compute_gradients(loss + self._rho * tf.add_n([tf.nn.l2_loss(d) for d in away]), var_list, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        pairs = list(grads_and_vars)
        trained = [v for g, v in pairs if g is not None]

        def exchange():
            seen = [tf.assign(self._local_map[v], self._global_map[v]) for v in trained]
            with tf.control_dependencies(seen):
                moves = [self._moving_rate * (v.read_value() - self._local_map[v].read_value()) for v in trained]
                updates = [tf.assign_sub(v, m, use_locking=self._use_locking) for v, m in zip(trained, moves)]
                updates += [tf.assign_add(self._global_map[v], m, use_locking=self._use_locking) for v, m in zip(trained, moves)]
                return tf.group(*updates, *self._count(global_step))
        return self._every_period(self._train_locally(pairs), exchange)


class AGNOptimizer(_BetweenWorkers):
    """Workers train separately, and add the sums of their gradients to the ps at intervals."""

    def __init__(self, optimizer, num_worker, custom_getter, communication_period=10, use_locking=True, name="AGNOptimizer"):
        super().__init__(optimizer, num_worker, custom_getter, communication_period, use_locking, name)
        self._grad_map = custom_getter._grad_map

    def compute_gradients(self, *args, **kwargs):
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        pairs = [(tf.convert_to_tensor(g), v) for g, v in grads_and_vars if g is not None]
        sums = [tf.assign_add(self._grad_map[v], g) for g, v in pairs]
        train = tf.group(self._train_locally(pairs), *sums)

        def exchange():
            center = [(self._grad_map[v].read_value(), self._global_map[v]) for _, v in pairs]
            with tf.control_dependencies([self._opt.apply_gradients(center)]):
                fresh = [tf.assign(v, self._center(v)) for _, v in pairs]
                fresh += [tf.assign(self._grad_map[v], tf.zeros_like(self._grad_map[v])) for _, v in pairs]
                return tf.group(*fresh, *self._count(global_step))
        return self._every_period(train, exchange)


class ModelAverageOptimizer(_BetweenWorkers):
    """Workers train separately, and all take the mean of their variables every interval_steps steps."""

    def __init__(self, opt, num_worker, is_chief, ma_custom_getter, interval_steps=100, use_locking=True,
                 name="ModelAverageOptimizer"):
        super().__init__(opt, num_worker, ma_custom_getter, interval_steps, use_locking, name)
        self._is_chief = is_chief

    def compute_gradients(self, *args, **kwargs):
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Makes the chief wait for the values of all workers, take their mean and release the workers.

        Each worker has its own queue, into which the chief puts a token, so that no worker takes the token of another.
        """
        pairs = list(grads_and_vars)
        trained = [v for g, v in pairs if g is not None]
        with tf.device(self._global_map[trained[0]].device):
            tokens = [tf.FIFOQueue(2, tf.int32, shapes=[[]], shared_name="model_average_tokens_%d" % i) for i in range(self._num_worker)]
        found = re.search(r"/task:(\d+)", self._getter._worker_device or "")
        mine = tokens[int(found.group(1)) if found and self._num_worker > 1 else 0]
        sums = []
        for v in trained:
            with tf.device(self._global_map[v].device):
                sums.append(tf.ConditionalAccumulator(v.dtype.base_dtype, shape=v.shape, shared_name=v.op.name + "/model_average"))

        def exchange():
            given = [a.apply_grad(v.read_value(), local_step=tf.cast(self._local_step.read_value(), tf.int64))
                     for a, v in zip(sums, trained)]
            with tf.control_dependencies(given):
                go = tf.group(*self._average(trained, sums, tokens, global_step)) if self._is_chief else tf.no_op()
            with tf.control_dependencies([go]):
                token = mine.dequeue()
            with tf.control_dependencies([token]):
                return tf.group(*[tf.assign(v, self._center(v)) for v in trained])
        return self._every_period(self._train_locally(pairs), exchange)

    def _average(self, trained, sums, tokens, global_step):
        means = [tf.assign(self._global_map[v], a.take_grad(self._num_worker)) for a, v in zip(sums, trained)]
        with tf.control_dependencies(means + self._count(global_step)):
            return [queue.enqueue(tf.constant(0)) for queue in tokens]

    def make_session_run_hook(self, is_chief=None, task_index=0):
        return _InitHook(self, is_chief, task_index)
