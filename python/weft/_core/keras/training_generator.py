"""The loops over batches that generators and Sequences yield."""
import contextlib

import numpy as np

from weft._core.framework.nest import flatten
from weft._core.keras import callbacks as callbacks_module, training_loop
from weft._core.keras.generators import GeneratorEnqueuer, OrderedEnqueuer, Sequence, passes
from weft._core.platform import logging


@contextlib.contextmanager
def _batches(data, steps, shuffle, max_queue_size, workers, use_multiprocessing):
    """Returns (an iterator of batches, the number of steps or None).

    workers make batches ahead; with none, this thread makes them.
    """
    if isinstance(data, Sequence):
        steps = len(data) if steps is None else steps
        ahead = OrderedEnqueuer(data, use_multiprocessing, shuffle) if workers else None
    elif hasattr(data, "__next__") or hasattr(data, "__iter__"):
        data = iter(data)
        if use_multiprocessing and workers > 1:
            logging.warning("Using a generator with `use_multiprocessing=True` and multiple workers may duplicate your data. Please "
                            "consider using the `tf.data.Dataset`.")
        ahead = GeneratorEnqueuer(data, use_multiprocessing) if workers else None
    else:
        raise ValueError("the batches must come from a generator or a tf.keras.utils.Sequence; got %s" % type(data))
    if ahead is None:
        yield passes(data) if isinstance(data, Sequence) else data, steps
        return
    ahead.start(workers, max_queue_size)
    try:
        yield ahead.get(), steps
    finally:
        ahead.stop()


def _parts(batch):
    """Returns (x, y, sample_weight) of a batch that a generator yielded."""
    if not isinstance(batch, tuple):
        return batch, None, None
    if len(batch) not in (1, 2, 3):
        raise ValueError("Output of generator should be a tuple of 1 or 2 or 3 elements: (input,) or (input, target) or (input, target, "
                         "sample_weights). Received %s" % (batch,))
    return (*batch, *[None] * (3 - len(batch)))


def _size(batch):
    first = flatten(batch)[0]
    return int(np.shape(first)[0]) if np.ndim(first) else 1


def _run(model, mode, batches, steps, one, calls, collected):
    """Returns one pass of some steps, or to the end; returns how many steps there were."""
    number = 0
    while steps is None or number < steps:
        try:
            batch = next(batches)
        except StopIteration:
            if steps is not None:
                logging.warning("Your dataset ran out of data; interrupting training. Make sure that your dataset can generate at least "
                                "`%s` batches (in this case, %d batches). You may need to use the repeat() function when building your "
                                "dataset.", "steps_per_epoch * epochs" if mode == "train" else "steps", steps)
                model.stop_training = model.stop_training or mode == "train"
            break
        logs = {"batch": number, "size": _size(batch)}
        getattr(calls, "on_%s_batch_begin" % mode)(number, logs)
        found = one(*_parts(batch))
        found = found if isinstance(found, list) else [found]
        collected.add(found, 1)
        getattr(calls, "on_%s_batch_end" % mode)(number, training_loop._logged(model, logs, found, mode))
        number += 1
        if mode == "train" and model.stop_training:
            break
    return number


def fit(model, generator, steps_per_epoch, epochs, verbose, callbacks, validation_data, validation_steps, validation_freq, class_weight,
        max_queue_size, workers, use_multiprocessing, shuffle, initial_epoch):
    queue = (max_queue_size, workers, use_multiprocessing)
    with _batches(generator, steps_per_epoch, shuffle, *queue) as (batches, steps):
        return _fitted(model, batches, steps, epochs, verbose, callbacks, validation_data, validation_steps, validation_freq,
                       class_weight, queue, initial_epoch)


def _fitted(model, batches, steps, epochs, verbose, callbacks, validation_data, validation_steps, validation_freq, class_weight,
            queue, initial_epoch):
    check = None
    if validation_data is not None and not training_loop.is_generator(validation_data):
        if model.inputs is not None:
            check = training_loop.validation_of(model, validation_data, None, validation_steps)
    fed = _weights_fed(model)
    calls = callbacks_module.configure(callbacks, model, validation_data is not None, None, epochs, steps, None, verbose, "steps")
    model.stop_training = False
    calls.on_train_begin({})
    if model.inputs is not None:
        model._make_train_function()  # before the first batch, as in TensorFlow: weights in it make another one

    def one(x, y, weights):
        return model.train_on_batch(x, y, sample_weight=weights, class_weight=class_weight, reset_metrics=False)
    for epoch in range(initial_epoch, epochs):
        if model.stop_training:
            break
        if model._training_state.compiled:
            model.reset_metrics()
        logs = {}
        calls.on_epoch_begin(epoch, logs)
        sums = training_loop._Sums()
        done = _run(model, "train", batches, steps, one, calls, sums)
        if steps is None:
            steps = done
        logs.update(zip(model.metrics_names, sums.finish()))
        if validation_data is not None and training_loop.wanted(validation_freq, epoch + 1) and not model.stop_training:
            if check is not None and fed != _weights_fed(model):  # a batch was the first that has weights
                check, fed = training_loop.validation_of(model, validation_data, None, validation_steps), _weights_fed(model)
            found = _validated(model, validation_data, check, validation_steps, calls, queue)
            logs.update(("val_" + n, v) for n, v in zip(model.metrics_names, found))
        calls.on_epoch_end(epoch, logs)
    calls.on_train_end({})
    return model.history


def _weights_fed(model):
    """Returns which outputs are fed weights."""
    return [e.name for e in model._training_state.endpoints or () if e.sample_weight is not None]


def _validated(model, data, check, steps, calls, queue):
    if check is None and not training_loop.is_generator(data):
        check = training_loop.validation_of(model, data, None, steps)
    if check is not None:
        return training_loop.tested(model, check, calls)
    found = evaluate(model, data, steps, calls, *queue)
    return found if isinstance(found, list) else [found]


def evaluate(model, generator, steps, callbacks, max_queue_size, workers, use_multiprocessing):
    with _batches(generator, steps, False, max_queue_size, workers, use_multiprocessing) as (batches, steps):
        return _evaluated(model, batches, steps, callbacks)


def _evaluated(model, batches, steps, callbacks):
    calls = callbacks_module.configure(callbacks, model, False, None, 1, steps, None, 0, "steps", False)
    if model._training_state.compiled:
        model.reset_metrics()
    sums = training_loop._Sums()
    calls.on_test_begin({})
    _run(model, "test", batches, steps, lambda x, y, w: model.test_on_batch(x, y, sample_weight=w, reset_metrics=False), calls, sums)
    calls.on_test_end({})
    found = sums.finish()
    return found[0] if len(found) == 1 else found


def predict(model, generator, steps, callbacks, max_queue_size, workers, use_multiprocessing):
    with _batches(generator, steps, False, max_queue_size, workers, use_multiprocessing) as (batches, steps):
        return _predicted(model, batches, steps, callbacks)


def _predicted(model, batches, steps, callbacks):
    calls = callbacks_module.configure(callbacks, model, False, None, 1, steps, None, 0, "steps", False)
    rows = training_loop._Rows()
    calls.on_predict_begin({})
    _run(model, "predict", batches, steps, lambda x, y, w: model.predict_on_batch(x), calls, rows)
    calls.on_predict_end({})
    found = rows.finish()
    return found[0] if len(found) == 1 else found
