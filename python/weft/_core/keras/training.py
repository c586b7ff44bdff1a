"""The methods compile, fit, evaluate, predict and so on of tf.keras.Model.

compile() makes the loss and the metrics; the ops of a training step are made when the first step runs.
training_data.py brings arrays into the order of the model's inputs, and training_loop.py runs batches and calls
callbacks.
"""
import numpy as np

import weft as tf
from weft._core.framework.nest import flatten
from weft._core.keras import backend as K, endpoints, metrics as metrics_module, optimizers, training_data, training_loop


class _State:
    """The result of compile() for a model."""

    def __init__(self):
        self.endpoints, self.loss_metrics, self.total_loss, self.compiled, self.args = [], [], None, False, None
        self.train = self.test = self.predict = None
        self.results, self.kwargs, self.collected = [], {}, None


class Training:
    """The methods of a model that train it."""

    optimizer, loss, stop_training = None, None, False

    def _init_training(self):
        self.__dict__.update(_training_state=_State(), optimizer=None, loss=None, history=None, stop_training=False, _compile_metrics=[],
                             inputs=None, outputs=None)

    # ---- inputs ----

    def _expect_inputs(self):
        """Resets the training functions when the model learns its inputs."""
        state = self._training_state
        state.train = state.test = state.predict = None

    @property
    def _feed_inputs(self):
        return [t for t in self.inputs if not isinstance(t, tf.Tensor) or t.op.type == "Placeholder"]

    @property
    def _feed_input_names(self):
        return [n for n, t in zip(self.input_names, self.inputs) if not isinstance(t, tf.Tensor) or t.op.type == "Placeholder"]

    def _set_inputs(self, x):
        """Calls a model that has no inputs yet on placeholders with the shapes of the data."""
        arrays = [x[k] for k in sorted(x)] if isinstance(x, dict) else list(x) if isinstance(x, (list, tuple)) else [x]
        names = sorted(x) if isinstance(x, dict) else ["input_%d" % (i + 1) for i in range(len(arrays))]
        made = [_placeholder_like(a, n) for a, n in zip(arrays, names)]
        call = dict(zip(names, made)) if isinstance(x, dict) else made if len(made) > 1 else made[0]
        outputs = self(call, training=K.learning_phase()) if self._expects_training_arg else self(call)
        flat = flatten(outputs)
        self.__dict__.update(inputs=made, outputs=flat, input_names=names, _nested_outputs=outputs)
        self.__dict__["output_names"] = ["output_%d" % (i + 1) for i in range(len(flat))]
        self._expect_inputs()

    def _ready(self, x):
        """Gives a model its inputs from data, and finishes a compilation that waited for them."""
        if self.inputs is None:
            self._set_inputs(x)
        state = self._training_state
        if state.args is not None and not state.compiled:
            args, kwargs = state.args
            self.compile(*args, **kwargs)

    # ---- compile ----

    def compile(self, optimizer="rmsprop", loss=None, metrics=None, loss_weights=None, sample_weight_mode=None, weighted_metrics=None,
                target_tensors=None, distribute=None, **kwargs):
        """Sets how the model is trained: optimizer, losses and metrics."""
        if kwargs.pop("run_eagerly", None):
            raise ValueError("tf.keras.Model.compile(run_eagerly=True) needs eager mode, which Weft has not: leave it out")
        kwargs.pop("experimental_run_tf_function", None)
        unknown = set(kwargs) - {"cloning", "feed_dict", "fetches", "options", "run_metadata"}
        if unknown:
            raise TypeError("Invalid keyword argument(s) in `compile`: %s" % sorted(unknown))
        if distribute is not None:
            raise NotImplementedError("tf.keras.Model.compile(distribute=...) is not in Weft: use tf.keras.estimator.model_to_estimator "
                                      "with a tf.distribute strategy in its RunConfig")
        state = self.__dict__["_training_state"] = _State()
        self.__dict__["optimizer"] = optimizers.get(optimizer)
        self.__dict__.update(loss=loss, loss_weights=loss_weights, sample_weight_mode=sample_weight_mode)
        self.__dict__["_compile_metrics"] = metrics or []
        self.__dict__["_compile_weighted_metrics"] = weighted_metrics
        state.kwargs = kwargs
        state.args = (optimizer, loss, metrics, loss_weights, sample_weight_mode, weighted_metrics, target_tensors), kwargs
        if self.inputs is None:
            return
        state.args = (self.optimizer, *state.args[0][1:]), kwargs
        names = self.output_names
        state.endpoints = [endpoints.Endpoint(o, n, x) for o, n, x in zip(self.outputs, names, endpoints.loss_objects(loss, names))]
        self._read_weights(loss_weights, sample_weight_mode)
        self._make_targets(target_tensors)
        plain = endpoints.metrics_per_output(metrics, names)
        weighted = endpoints.metrics_per_output(weighted_metrics, names)
        for endpoint, some, more in zip(state.endpoints, plain, weighted):
            endpoint.metrics = [] if endpoint.skipped else endpoints.entries(endpoint, some, more)
        self._name_metrics()
        if len(state.endpoints) > 1:
            state.loss_metrics = [metrics_module.Mean(name=e.loss_name()) for e in state.endpoints if not e.skipped]
        state.compiled = True
        self._make_results()
        state.collected = [id(v) for v in self.trainable_weights]

    def _read_weights(self, loss_weights, modes):
        """Reads the weights of losses, and which outputs have weights for each time step."""
        state, names = self._training_state, self.output_names
        if loss_weights is not None:
            found = endpoints.per_output(loss_weights if isinstance(loss_weights, (dict, list, tuple)) else [loss_weights], names,
                                         "loss_weights")
            for endpoint, weight in zip(state.endpoints, found):
                endpoint.loss_weight = 1.0 if weight is None else weight
        for endpoint, mode in zip(state.endpoints, endpoints.per_output(modes, names, "sample_weight_mode")):
            if mode is not None and not endpoint.skipped:
                endpoint.make_weight(mode)

    def _make_targets(self, given):
        state = self._training_state
        if given is not None and not isinstance(given, (list, tuple, dict)):
            given = [given]
        found = endpoints.per_output(given, self.output_names, "target_tensors") if given is not None else [None] * len(state.endpoints)
        for endpoint, target in zip(state.endpoints, found):
            endpoint.make_target(target)

    def _name_metrics(self):
        """Makes the names of metrics unique. With several outputs, they begin with the name of the output."""
        state, used = self._training_state, ["loss"]
        several = len(state.endpoints) > 1
        if several:
            used += [e.loss_name() for e in state.endpoints if not e.skipped]
        for endpoint in state.endpoints:
            renamed = []
            for entry in endpoint.metrics:
                base = name = "%s_%s" % (endpoint.name, entry.name) if several else entry.name
                count = 1
                while name in used:
                    name, count = "%s_%d" % (base, count), count + 1
                used.append(name)
                entry.metric._name = name
                renamed.append(entry._replace(name=name))
            endpoint.metrics = renamed

    def _make_results(self):
        """Makes the ops of metrics and of the total loss, again when outputs get weights."""
        state = self._training_state
        state.results = []
        with K.name_scope("metrics"):
            for endpoint in state.endpoints:
                for entry in endpoint.metrics:
                    entry.metric._updates.clear()
                    with K.name_scope(entry.name):
                        state.results.append(_measured(entry, endpoint))
        with K.name_scope("loss"):
            state.total_loss = self._total_loss()
        state.train = state.test = None

    def _total_loss(self):
        state, found, aggregated = self._training_state, [], []
        active = [e for e in state.endpoints if not e.skipped]
        for i, endpoint in enumerate(active):
            with K.name_scope(endpoint.loss_name()):
                loss = endpoint.make_loss()
            if state.loss_metrics:
                state.loss_metrics[i]._updates.clear()
                aggregated.append(state.loss_metrics[i](loss))
            found.append(endpoint.loss_weight * loss)
        more = self._layer_losses()
        if not found and not more:
            raise ValueError("The model cannot be compiled because it has no loss to optimize.")
        if more:
            found.append(tf.add_n(more) if len(more) > 1 else more[0])
        state.results = aggregated + state.results
        return tf.add_n(found) if len(found) > 1 else found[0]

    def _layer_losses(self):
        return [tf.reduce_mean(x) if x.shape.ndims not in (0, None) else x for x in self.losses
                if not getattr(x, "_apart_from_inputs", False)]

    total_loss = property(lambda self: self._training_state.total_loss)
    sample_weights = property(lambda self: [e.sample_weight for e in self._training_state.endpoints])
    loss_functions = property(lambda self: [e.loss for e in self._training_state.endpoints])
    _is_compiled = property(lambda self: self._training_state.args is not None)

    @property
    def metrics(self):
        """The metrics of compile(), and those that layers added."""
        state = self._training_state
        found = list(state.loss_metrics) + [m.metric for e in state.endpoints for m in e.metrics]
        return found + self._added_metrics()

    def _added_metrics(self):
        found = list(self._metrics)
        for layer in self._flatten_layers(include_self=False):
            found += [m for m in layer._metrics if all(m is not f for f in found)]
        return found

    @property
    def metrics_names(self):
        if not self._is_compiled:
            raise AttributeError("metrics_names: the model was not compiled; call model.compile(optimizer, loss) first")
        return ["loss"] + [m.name for m in self.metrics]

    def reset_metrics(self):
        """Resets every metric."""
        for m in self.metrics:
            m.reset_state()

    # ---- the functions of a step ----

    def _check_compiled(self, optimizer=False):
        if not self._is_compiled:
            raise RuntimeError("You must compile your model before training/testing. Use `model.compile(optimizer, loss)`.")

    def _all_results(self):
        added = [m._result_tensor for m in self._added_metrics() if getattr(m, "_result_tensor", None) is not None]
        return self._training_state.results + added

    def _fed(self):
        state = self._training_state
        return (self._feed_inputs + [e.target for e in state.endpoints if e.feed_target]
                + [e.sample_weight for e in state.endpoints if e.sample_weight is not None])

    def _with_phase(self, tensors):
        phase = K.learning_phase()
        return tensors + [phase] if isinstance(phase, tf.Tensor) else tensors

    def _make_train_function(self):
        self._check_compiled()
        state = self._training_state
        params = self.trainable_weights
        if state.collected is not None and state.collected != [id(v) for v in params]:
            import warnings
            warnings.warn("Discrepancy between trainable weights and collected trainable weights, did you set `model.trainable` without "
                          "calling `model.compile` after ?", stacklevel=2)
            params = [v for v in self.weights if id(v) in set(state.collected)]
        if state.train is None:
            with K.name_scope("training"):
                updates = self._optimizer_updates(params, state.total_loss)
            updates += self.get_updates_for(None) + self.get_updates_for(self.inputs)
            updates += [u for m in self.metrics for u in m._updates]
            with K.name_scope("training"):
                state.train = K.function(self._with_phase(self._fed()), [state.total_loss] + self._all_results(), updates=updates,
                                         name="train_function", **state.kwargs)
        return state.train

    def _optimizer_updates(self, params, loss):
        """Returns the ops with which the optimizer does a step."""
        return list(self.optimizer.get_updates(params=params, loss=loss))

    def _make_test_function(self):
        self._check_compiled()
        state = self._training_state
        if state.test is None:
            with K.name_scope("evaluation"):
                state.test = K.function(self._with_phase(self._fed()), [state.total_loss] + self._all_results(),
                                        updates=self.state_updates, name="test_function", **state.kwargs)
        return state.test

    def _make_predict_function(self):
        state = self._training_state
        if state.predict is None:
            with K.name_scope("predict"):
                state.predict = K.function(self._with_phase(self._feed_inputs), self.outputs, updates=self.state_updates,
                                           name="predict_function", **state.kwargs)
        return state.predict

    # ---- data ----

    def _standardized(self, x, y=None, sample_weight=None, class_weight=None, check=True):
        """Returns (inputs, targets, weights) as lists in the order in which they are fed."""
        self._ready(x)
        if y is not None or sample_weight is not None or class_weight is not None or self._is_compiled:
            self._weights_wanted(sample_weight, class_weight)
        return training_data.standardized(self, x, y, sample_weight, class_weight, check)

    def _weights_wanted(self, sample_weight, class_weight):
        """Makes the placeholders of weights for the outputs that are given weights for the first time."""
        state, changed = self._training_state, False
        if sample_weight is None and class_weight is None:
            return
        for endpoint, given in zip(state.endpoints, training_data.per_name(sample_weight, self.output_names, "sample_weight")):
            if endpoint.sample_weight is None and not endpoint.skipped and (given is not None or class_weight is not None):
                endpoint.make_weight(endpoint.weight_mode)
                changed = True
        if changed:
            self._make_results()

    # ---- loops ----

    def fit(self, x=None, y=None, batch_size=None, epochs=1, verbose=1, callbacks=None, validation_split=0.0, validation_data=None,
            shuffle=True, class_weight=None, sample_weight=None, initial_epoch=0, steps_per_epoch=None, validation_steps=None,
            validation_freq=1, max_queue_size=10, workers=1, use_multiprocessing=False, **kwargs):
        """Trains the model for a number of epochs; returns the History."""
        _no_more(kwargs, "fit", epochs=("nb_epoch",))
        self._check_compiled()
        if training_loop.is_generator(x):
            return self.fit_generator(x, steps_per_epoch, epochs, verbose, callbacks, validation_data, validation_steps, validation_freq,
                                      class_weight, max_queue_size, workers, use_multiprocessing, shuffle, initial_epoch)
        return training_loop.fit(self, x, y, batch_size, epochs, verbose, callbacks, validation_split, validation_data, shuffle,
                                 class_weight, sample_weight, initial_epoch, steps_per_epoch, validation_steps, validation_freq)

    def evaluate(self, x=None, y=None, batch_size=None, verbose=1, sample_weight=None, steps=None, callbacks=None, max_queue_size=10,
                 workers=1, use_multiprocessing=False):
        """Returns the loss and the metrics of data."""
        self._check_compiled()
        if training_loop.is_generator(x):
            return self.evaluate_generator(x, steps, callbacks, max_queue_size, workers, use_multiprocessing, verbose)
        return training_loop.evaluate(self, x, y, batch_size, verbose, sample_weight, steps, callbacks)

    def predict(self, x, batch_size=None, verbose=0, steps=None, callbacks=None, max_queue_size=10, workers=1,
                use_multiprocessing=False):
        """Returns the outputs for data, as arrays."""
        if training_loop.is_generator(x):
            return self.predict_generator(x, steps, callbacks, max_queue_size, workers, use_multiprocessing, verbose)
        return training_loop.predict(self, x, batch_size, verbose, steps, callbacks)

    def fit_generator(self, generator, steps_per_epoch=None, epochs=1, verbose=1, callbacks=None, validation_data=None,
                      validation_steps=None, validation_freq=1, class_weight=None, max_queue_size=10, workers=1,
                      use_multiprocessing=False, shuffle=True, initial_epoch=0):
        """Trains the model on batches that a generator or a Sequence yields."""
        from weft._core.keras import training_generator
        self._check_compiled()
        return training_generator.fit(self, generator, steps_per_epoch, epochs, verbose, callbacks, validation_data, validation_steps,
                                      validation_freq, class_weight, max_queue_size, workers, use_multiprocessing, shuffle, initial_epoch)

    def evaluate_generator(self, generator, steps=None, callbacks=None, max_queue_size=10, workers=1, use_multiprocessing=False,
                           verbose=0):
        from weft._core.keras import training_generator
        self._check_compiled()
        return training_generator.evaluate(self, generator, steps, callbacks, max_queue_size, workers, use_multiprocessing)

    def predict_generator(self, generator, steps=None, callbacks=None, max_queue_size=10, workers=1, use_multiprocessing=False,
                          verbose=0):
        from weft._core.keras import training_generator
        return training_generator.predict(self, generator, steps, callbacks, max_queue_size, workers, use_multiprocessing)

    # ---- one batch ----

    def train_on_batch(self, x, y=None, sample_weight=None, class_weight=None, reset_metrics=True):
        """Returns one step of training; returns the loss before it, and the metrics."""
        self._check_compiled()
        x, y, weights = self._standardized(x, y, sample_weight, class_weight)
        found = self._make_train_function()(self._phased(x + y + weights, True))
        if reset_metrics:
            self.reset_metrics()
        return found[0] if len(found) == 1 else found

    def test_on_batch(self, x, y=None, sample_weight=None, reset_metrics=True):
        """Returns the loss and the metrics of one batch."""
        self._check_compiled()
        x, y, weights = self._standardized(x, y, sample_weight)
        found = self._make_test_function()(self._phased(x + y + weights, False))
        if reset_metrics:
            self.reset_metrics()
        return found[0] if len(found) == 1 else found

    def predict_on_batch(self, x):
        """Returns the outputs for one batch."""
        x, _, _ = self._standardized(x, check=False)
        found = self._make_predict_function()(self._phased(x, False))
        return found[0] if len(found) == 1 else found

    @staticmethod
    def _phased(values, training):
        return values + [training] if isinstance(K.learning_phase(), tf.Tensor) else values


def _measured(entry, endpoint):
    """Returns the value of a metric of one output after this batch."""
    mask = getattr(endpoint.output, "_keras_mask", None)
    weight = endpoint.sample_weight if entry.weighted else None
    if mask is not None:
        weight = endpoint._masked(weight, endpoint.output)
    return entry.metric(endpoint.target, endpoint.output, sample_weight=weight) if weight is not None else entry.metric(
        endpoint.target, endpoint.output)


def _placeholder_like(array, name):
    if isinstance(array, tf.Tensor):
        return tf.placeholder(array.dtype.base_dtype, [None] + array.shape.as_list()[1:], name=name)
    array = np.asarray(array)
    array = array[:, None] if array.ndim == 1 else array
    kind = K.floatx() if array.dtype.kind == "f" else array.dtype.name
    return tf.placeholder(kind, [None, *array.shape[1:]], name=name)


def _no_more(kwargs, method, **old):
    for key in kwargs:
        raise TypeError("Unrecognized keyword arguments: %s" % {key: kwargs[key]})
