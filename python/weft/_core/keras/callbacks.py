"""tf.keras.callbacks: objects that training loops call to watch, stop or log the training."""
import collections
import copy
import csv
import io
import json
import os

import numpy as np

from weft._core.framework.absent import Named
from weft._core.keras import backend as K
from weft._core.keras.progbar import Progbar, print_msg
from weft._core.platform import logging


class Callback(metaclass=Named):
    """The base of callbacks. Subclasses override its methods."""

    def __init__(self):
        self.validation_data = self.model = None
        self._chief_worker_only = None

    params = None

    def set_params(self, params):
        self.params = params

    def set_model(self, model):
        self.model = model

    def on_batch_begin(self, batch, logs=None):
        pass

    def on_batch_end(self, batch, logs=None):
        pass

    def on_epoch_begin(self, epoch, logs=None):
        pass

    def on_epoch_end(self, epoch, logs=None):
        pass

    def on_train_batch_begin(self, batch, logs=None):
        self.on_batch_begin(batch, logs=logs)

    def on_train_batch_end(self, batch, logs=None):
        self.on_batch_end(batch, logs=logs)

    def on_test_batch_begin(self, batch, logs=None):
        pass

    def on_test_batch_end(self, batch, logs=None):
        pass

    def on_predict_batch_begin(self, batch, logs=None):
        pass

    def on_predict_batch_end(self, batch, logs=None):
        pass

    def on_train_begin(self, logs=None):
        pass

    def on_train_end(self, logs=None):
        pass

    def on_test_begin(self, logs=None):
        pass

    def on_test_end(self, logs=None):
        pass

    def on_predict_begin(self, logs=None):
        pass

    def on_predict_end(self, logs=None):
        pass


class CallbackList(metaclass=Named):
    """Calls several callbacks one after the other."""

    def __init__(self, callbacks=None, add_history=False, add_progbar=False, model=None, **params):
        self.callbacks = list(callbacks) if callbacks else []
        if add_history and not any(isinstance(c, History) for c in self.callbacks):
            self.callbacks.append(History())
        if add_progbar and not any(isinstance(c, ProgbarLogger) for c in self.callbacks):
            self.callbacks.append(ProgbarLogger(count_mode="steps"))
        if model:
            self.set_model(model)
            history = next((c for c in self.callbacks if isinstance(c, History)), None)
            if history is not None:
                model.history = history
        if params:
            self.set_params(params)

    def append(self, callback):
        self.callbacks.append(callback)

    def set_params(self, params):
        self.params = params
        for c in self.callbacks:
            c.set_params(params)

    def set_model(self, model):
        self.model = model
        for c in self.callbacks:
            c.set_model(model)

    def __iter__(self):
        return iter(self.callbacks)

    def __getattr__(self, name):
        """Returns for a name on_* a function that calls this method of each callback, in order."""
        if not name.startswith("on_"):
            raise AttributeError("'CallbackList' object has no attribute '%s'" % name)
        name = {"on_batch_begin": "on_train_batch_begin", "on_batch_end": "on_train_batch_end"}.get(name, name)

        def call(*args, **kwargs):
            logs = kwargs.pop("logs", args[-1] if args and isinstance(args[-1], dict) else None)
            given = args[:-1] if args and args[-1] is logs and logs is not None else args
            logs = {k: v.item() if isinstance(v, np.generic) else v for k, v in (logs or {}).items()}
            for c in self.callbacks:
                getattr(c, name)(*[a for a in given if a is not None], logs)
        return call


class BaseLogger(Callback):
    """Averages the logs of batches over an epoch."""

    def __init__(self, stateful_metrics=None):
        super().__init__()
        self.stateful_metrics = set(stateful_metrics or [])

    def on_epoch_begin(self, epoch, logs=None):
        self.seen, self.totals = 0, {}

    def on_batch_end(self, batch, logs=None):
        logs = logs or {}
        size, steps = logs.get("size", 0), logs.get("num_steps", 1)
        self.seen += size * steps
        for k, v in logs.items():
            if k in self.stateful_metrics:
                self.totals[k] = v
            else:
                self.totals[k] = self.totals.get(k, 0) + v * size

    def on_epoch_end(self, epoch, logs=None):
        if logs is None:
            return
        for k in self.params["metrics"]:
            if k in self.totals and self.seen:
                logs[k] = self.totals[k] if k in self.stateful_metrics else self.totals[k] / self.seen


class TerminateOnNaN(Callback):
    """Stops the training when the loss is not a number."""

    def on_batch_end(self, batch, logs=None):
        loss = (logs or {}).get("loss")
        if loss is not None and (np.isnan(loss) or np.isinf(loss)):
            print_msg("Batch %d: Invalid loss, terminating training" % batch)
            self.model.stop_training = True


class ProgbarLogger(Callback):
    """Shows the progress of each epoch."""

    def __init__(self, count_mode="samples", stateful_metrics=None):
        super().__init__()
        if count_mode not in ("samples", "steps"):
            raise ValueError('Unknown `count_mode`: %s. Expected values are ["samples", "steps"]' % count_mode)
        self.use_steps, self.stateful_metrics = count_mode == "steps", set(stateful_metrics) if stateful_metrics is not None else None
        self.seen, self.progbar, self.target, self.verbose, self.epochs = 0, None, None, 1, 1

    def set_params(self, params):
        super().set_params(params)
        self.verbose, self.epochs = params["verbose"], params["epochs"]
        self.target = params["steps"] if self.use_steps else params.get("samples")

    def on_train_begin(self, logs=None):
        self._start()

    def on_epoch_begin(self, epoch, logs=None):
        self._start()
        if self.verbose and self.epochs > 1:
            print_msg("Epoch %d/%d" % (epoch + 1, self.epochs))

    def _start(self):
        self.seen, self.progbar = 0, None

    def _bar(self):
        if self.progbar is None:
            known = self.stateful_metrics
            if known is None:
                known = {m.name for m in self.model.metrics} if self.model is not None and self.model._is_compiled else set()
            self.progbar = Progbar(target=self.target, verbose=self.verbose, stateful_metrics=known,
                                   unit_name="step" if self.use_steps else "sample")
        return self.progbar

    def on_train_batch_end(self, batch, logs=None):
        logs = dict(logs or {})
        if self.use_steps:  # As in Keras, the number and the size of the batch are shown, too.
            self.seen = batch + 1
        else:
            self.seen += logs.pop("size", 0) * logs.pop("num_steps", 1)
            logs.pop("batch", None)
        bar = self._bar()
        if self.verbose == 1:
            bar.update(self.seen, list(logs.items()), finalize=False)

    def on_epoch_end(self, epoch, logs=None):
        if self.target is None:
            self.target = self.seen
            self._bar().target = self.seen
        self._bar().update(self.target, list((logs or {}).items()), finalize=True)


class History(Callback):
    """Records the logs of each epoch."""

    def __init__(self):
        super().__init__()
        self.history = {}

    def on_train_begin(self, logs=None):
        self.epoch = []

    def on_epoch_end(self, epoch, logs=None):
        self.epoch.append(epoch)
        for k, v in (logs or {}).items():
            self.history.setdefault(k, []).append(v)
        if self.model is not None:
            self.model.__dict__["history"] = self


def _better(mode, monitor, by_accuracy=True):
    """Returns (function that says whether a value is better than another, the worst value) for a mode."""
    if mode == "auto":
        rising = monitor.endswith(("acc", "accuracy", "auc")) if not by_accuracy else "acc" in monitor or monitor.startswith("fmeasure")
        mode = "max" if rising else "min"
    return (np.less, np.inf) if mode == "min" else (np.greater, -np.inf)


class EarlyStopping(Callback):
    """Stops the training when a metric no longer improves."""

    def __init__(self, monitor="val_loss", min_delta=0, patience=0, verbose=0, mode="auto", baseline=None, restore_best_weights=False,
                 start_from_epoch=0):
        super().__init__()
        self.monitor, self.patience, self.verbose, self.baseline = monitor, patience, verbose, baseline
        self.min_delta, self.restore_best_weights, self.start_from_epoch = abs(min_delta), restore_best_weights, start_from_epoch
        self.wait, self.stopped_epoch, self.best_weights = 0, 0, None
        if mode not in ("auto", "min", "max"):
            logging.warning("EarlyStopping mode %s is unknown, fallback to auto mode.", mode)
            mode = "auto"
        self.monitor_op, self._worst = _better(mode, monitor, by_accuracy=False)
        self.min_delta *= 1 if self.monitor_op is np.greater else -1

    def on_train_begin(self, logs=None):
        self.wait = self.stopped_epoch = self.best_epoch = 0
        self.best, self.best_weights = self._worst, None

    def on_epoch_end(self, epoch, logs=None):
        current = self.get_monitor_value(logs)
        if current is None or epoch < self.start_from_epoch:
            return
        if self.restore_best_weights and self.best_weights is None:
            self.best_weights = self.model.get_weights()
        self.wait += 1
        if self._is_improvement(current, self.best):
            self.best, self.best_epoch = current, epoch
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            if self.baseline is None or self._is_improvement(current, self.baseline):
                self.wait = 0
            return
        if self.wait >= self.patience and epoch > 0:
            self.stopped_epoch, self.model.stop_training = epoch, True
            if self.restore_best_weights and self.best_weights is not None:
                if self.verbose > 0:
                    print_msg("Restoring model weights from the end of the best epoch: %d." % (self.best_epoch + 1))
                self.model.set_weights(self.best_weights)

    def on_train_end(self, logs=None):
        if self.stopped_epoch > 0 and self.verbose > 0:
            print_msg("Epoch %d: early stopping" % (self.stopped_epoch + 1))

    def get_monitor_value(self, logs):
        value = (logs or {}).get(self.monitor)
        if value is None:
            logging.warning("Early stopping conditioned on metric `%s` which is not available. Available metrics are: %s", self.monitor,
                            ",".join(list((logs or {}).keys())))
        return value

    def _is_improvement(self, value, reference):
        return self.monitor_op(value - self.min_delta, reference)


class LearningRateScheduler(Callback):
    """Sets the learning rate at the start of each epoch."""

    def __init__(self, schedule, verbose=0):
        super().__init__()
        self.schedule, self.verbose = schedule, verbose

    def on_epoch_begin(self, epoch, logs=None):
        if not hasattr(self.model.optimizer, "lr"):
            raise ValueError('Optimizer must have a "lr" attribute.')
        try:
            rate = self.schedule(epoch, float(K.get_value(self.model.optimizer.lr)))
        except TypeError:  # The schedule takes only the epoch.
            rate = self.schedule(epoch)
        if not isinstance(rate, (float, np.float32, np.float64)) and not hasattr(rate, "dtype"):
            raise ValueError('The output of the "schedule" function should be float. Got: %s' % (rate,))
        K.set_value(self.model.optimizer.lr, K.get_value(rate))
        if self.verbose > 0:
            print_msg("\nEpoch %d: LearningRateScheduler setting learning rate to %s." % (epoch + 1, rate))

    def on_epoch_end(self, epoch, logs=None):
        if logs is not None:
            logs["lr"] = K.get_value(self.model.optimizer.lr)


class ReduceLROnPlateau(Callback):
    """Lowers the learning rate when a metric no longer improves."""

    def __init__(self, monitor="val_loss", factor=0.1, patience=10, verbose=0, mode="auto", min_delta=0.0001, cooldown=0, min_lr=0,
                 **kwargs):
        super().__init__()
        if factor >= 1.0:
            raise ValueError("ReduceLROnPlateau does not support a factor >= 1.0. Got %s" % factor)
        if "epsilon" in kwargs:
            min_delta = kwargs.pop("epsilon")
            logging.warning("`epsilon` argument is deprecated and will be removed, use `min_delta` instead.")
        self.monitor, self.factor, self.min_lr, self.min_delta = monitor, factor, min_lr, min_delta
        self.patience, self.verbose, self.cooldown, self.mode = patience, verbose, cooldown, mode
        self._reset()

    def _reset(self):
        if self.mode not in ("auto", "min", "max"):
            logging.warning("Learning rate reduction mode %s is unknown, fallback to auto mode.", self.mode)
            self.mode = "auto"
        if self.mode == "min" or (self.mode == "auto" and "acc" not in self.monitor):
            self.monitor_op, self.best = lambda a, b: np.less(a, b - self.min_delta), np.inf
        else:
            self.monitor_op, self.best = lambda a, b: np.greater(a, b + self.min_delta), -np.inf
        self.cooldown_counter = self.wait = 0

    def on_train_begin(self, logs=None):
        self._reset()

    def in_cooldown(self):
        return self.cooldown_counter > 0

    def on_epoch_end(self, epoch, logs=None):
        logs = {} if logs is None else logs
        logs["lr"] = K.get_value(self.model.optimizer.lr)
        current = logs.get(self.monitor)
        if current is None:
            logging.warning("Learning rate reduction is conditioned on metric `%s` which is not available. Available metrics are: %s",
                            self.monitor, ",".join(list(logs.keys())))
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self.monitor_op(current, self.best):
            self.best, self.wait = current, 0
        elif not self.in_cooldown():
            self.wait += 1
            if self.wait >= self.patience:
                self._reduce(epoch)

    def _reduce(self, epoch):
        old = K.get_value(self.model.optimizer.lr)
        if old > np.float32(self.min_lr):
            new = max(old * self.factor, self.min_lr)
            K.set_value(self.model.optimizer.lr, new)
            if self.verbose > 0:
                print_msg("\nEpoch %d: ReduceLROnPlateau reducing learning rate to %s." % (epoch + 1, new))
            self.cooldown_counter, self.wait = self.cooldown, 0


class CSVLogger(Callback):
    """Writes the logs of epochs to a CSV file."""

    def __init__(self, filename, separator=",", append=False):
        self.sep, self.filename, self.append = separator, os.fspath(filename), append
        self.writer = self.keys = None
        self.append_header = True
        super().__init__()

    def on_train_begin(self, logs=None):
        if self.append and os.path.exists(self.filename):
            with open(self.filename) as f:
                self.append_header = not bool(len(f.readline()))
        self.csv_file = io.open(self.filename, "a" if self.append else "w", newline="")

    def on_epoch_end(self, epoch, logs=None):
        logs = logs or {}

        def shown(value):
            if isinstance(value, str) or (isinstance(value, np.ndarray) and value.ndim == 0):
                return value
            if isinstance(value, collections.abc.Iterable):
                return '"[%s]"' % ", ".join(map(str, value))
            return value
        if self.keys is None:
            self.keys = sorted(logs.keys())
            val = ["val_" + k for k in self.keys] if self.params.get("do_validation") and not any(
                k.startswith("val_") for k in self.keys) else []
            self.keys += val
        if self.model.stop_training:
            logs = {k: logs.get(k, "NA") for k in self.keys}
        if self.writer is None:
            dialect = type("CustomDialect", (csv.excel,), {"delimiter": self.sep})
            self.writer = csv.DictWriter(self.csv_file, fieldnames=["epoch"] + self.keys, dialect=dialect)
            if self.append_header:
                self.writer.writeheader()
        self.writer.writerow({"epoch": epoch, **{k: shown(logs.get(k, "NA")) for k in self.keys}})
        self.csv_file.flush()

    def on_train_end(self, logs=None):
        self.csv_file.close()
        self.writer = None


class LambdaCallback(Callback):
    """Makes a callback from functions."""

    def __init__(self, on_epoch_begin=None, on_epoch_end=None, on_batch_begin=None, on_batch_end=None, on_train_begin=None,
                 on_train_end=None, **kwargs):
        super().__init__()
        self.__dict__.update(kwargs)
        for name, fn in (("on_epoch_begin", on_epoch_begin), ("on_epoch_end", on_epoch_end), ("on_batch_begin", on_batch_begin),
                         ("on_batch_end", on_batch_end), ("on_train_begin", on_train_begin), ("on_train_end", on_train_end)):
            if fn is not None:
                setattr(self, name, fn)


class RemoteMonitor(Callback):
    """Sends the logs of epochs to a web server."""

    def __init__(self, root="http://localhost:9000", path="/publish/epoch/end/", field="data", headers=None, send_as_json=False):
        super().__init__()
        self.root, self.path, self.field, self.headers, self.send_as_json = root, path, field, headers, send_as_json

    def on_epoch_end(self, epoch, logs=None):
        try:
            import requests
        except ImportError:
            raise ImportError("RemoteMonitor requires the `requests` library.") from None
        send = {"epoch": epoch, **{k: v.item() if isinstance(v, (np.ndarray, np.generic)) else v for k, v in (logs or {}).items()}}
        try:
            if self.send_as_json:
                requests.post(self.root + self.path, json=send, headers=self.headers)
            else:
                requests.post(self.root + self.path, {self.field: json.dumps(send)}, headers=self.headers)
        except requests.exceptions.RequestException:
            logging.warning("Could not reach RemoteMonitor root server at %s", self.root)


def configure(callbacks, model, do_validation, batch_size, epochs, steps, samples, verbose, count_mode, training=True):
    """Returns the CallbackList of a loop."""
    if isinstance(callbacks, CallbackList):
        return callbacks
    found = list(callbacks) if callbacks else []
    if training:
        model.__dict__["history"] = History()
        found = [BaseLogger()] + found + [model.history]
        if verbose:
            found.append(ProgbarLogger(count_mode))
    made = CallbackList(found)
    made.set_model(model)
    metrics = []
    if training:
        metrics = copy.copy(model.metrics_names)
        if do_validation:
            metrics += ["val_" + n for n in model.metrics_names]
        for c in found:
            if isinstance(c, (BaseLogger, ProgbarLogger)) and not c.stateful_metrics:
                c.stateful_metrics = set(model.metrics_names[1:])
    made.set_params({"batch_size": batch_size, "epochs": epochs, "steps": steps, "samples": samples, "verbose": verbose,
                     "do_validation": do_validation, "metrics": metrics})
    return made
