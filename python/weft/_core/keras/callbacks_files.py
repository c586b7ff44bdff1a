"""tf.keras.callbacks: ModelCheckpoint, which saves a model during training."""
import glob
import os
import re

import numpy as np

from weft._core.keras import callbacks
from weft._core.keras.progbar import print_msg
from weft._core.platform import logging
from weft._core.train.checkpoint import CheckpointOptions


class SaveOptions:
    """Options of TensorFlow 2's SavedModels, which programs of TensorFlow 1 cannot write."""


class ModelCheckpoint(callbacks.Callback):
    """Saves the model, or its weights, after epochs or after batches."""

    def __init__(self, filepath, monitor="val_loss", verbose=0, save_best_only=False, save_weights_only=False, mode="auto",
                 save_freq="epoch", options=None, initial_value_threshold=None, **kwargs):
        super().__init__()
        self.monitor, self.verbose, self.filepath = monitor, verbose, os.fspath(filepath)
        self.save_best_only, self.save_weights_only, self.save_freq = save_best_only, save_weights_only, save_freq
        self.best, self.options, self.epochs_since_last_save = initial_value_threshold, options, 0
        self._batches, self._last_batch, self._epoch = 0, 0, 0
        if options is not None and not isinstance(options, CheckpointOptions if save_weights_only else SaveOptions):
            raise TypeError("If save_weights_only is %s, then `options` must be either None or a %s. Got %s." % (
                save_weights_only, "tf.train.CheckpointOptions" if save_weights_only else "tf.saved_model.SaveOptions", options))
        self.load_weights_on_restart = kwargs.pop("load_weights_on_restart", False)
        self.period = kwargs.pop("period", 1)
        if kwargs:
            raise TypeError("Received invalid keyword arguments: %s" % kwargs)
        if mode not in ("auto", "min", "max"):
            logging.warning("ModelCheckpoint mode %s is unknown, fallback to auto mode.", mode)
            mode = "auto"
        rising = mode == "max" or (mode == "auto" and ("acc" in monitor or monitor.startswith("fmeasure")))
        self.monitor_op = np.greater if rising else np.less
        if self.best is None:
            self.best = -np.inf if rising else np.inf
        if self.save_freq != "epoch" and not isinstance(self.save_freq, int):
            raise ValueError("Unrecognized save_freq: %s. Expected save_freq are \"epoch\" or integer values" % (self.save_freq,))

    def on_train_begin(self, logs=None):
        if self.load_weights_on_restart:
            path = self._newest()
            if path is not None:
                try:
                    self.model.load_weights(path)
                except (OSError, ValueError) as e:
                    raise ValueError("Error loading file from %s. Reason: %s" % (path, e)) from e

    def _newest(self):
        """Returns the newest file that matches the pattern of file names."""
        pattern = re.sub(r"{.*?}", "*", self.filepath)
        found = [p for p in glob.glob(pattern) + [p[:-6] for p in glob.glob(pattern + ".index")]]
        return max(found, key=lambda p: os.path.getmtime(p if os.path.exists(p) else p + ".index"), default=None)

    def on_epoch_begin(self, epoch, logs=None):
        self._epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        self.on_batch_end(batch, logs)
        if self.save_freq == "epoch":
            return
        self._batches += batch - self._last_batch if batch > self._last_batch else batch + 1
        self._last_batch = batch
        if self._batches >= self.save_freq:
            self._batches = 0
            self._save_model(self._epoch, batch, logs)

    def on_epoch_end(self, epoch, logs=None):
        self.epochs_since_last_save += 1
        if self.save_freq == "epoch":
            self._save_model(epoch, None, logs)

    def _file(self, epoch, batch, logs):
        try:
            given = dict(logs or {}) if batch is None else {**(logs or {}), "batch": batch + 1}
            return self.filepath.format(**{**given, "epoch": epoch + 1})
        except KeyError as e:
            raise KeyError('Failed to format this callback filepath: "%s". Reason: %s' % (self.filepath, e)) from None

    def _save_model(self, epoch, batch, logs):
        if not isinstance(self.save_freq, int) and self.epochs_since_last_save < self.period:
            return
        self.epochs_since_last_save = 0
        path = self._file(epoch, batch, logs)
        folder = os.path.dirname(path)
        if folder:
            os.makedirs(folder, exist_ok=True)
        if not self.save_best_only:
            if self.verbose > 0:
                print_msg("\nEpoch %d: saving model to %s" % (epoch + 1, path))
            self._write(path)
            return
        current = (logs or {}).get(self.monitor)
        if current is None:
            logging.warning("Can save best model only with %s available, skipping.", self.monitor)
        elif self.monitor_op(current, self.best):
            if self.verbose > 0:
                print_msg("\nEpoch %d: %s improved from %.5f to %.5f, saving model to %s" % (
                    epoch + 1, self.monitor, self.best, current, path))
            self.best = current
            self._write(path)
        elif self.verbose > 0:
            print_msg("\nEpoch %d: %s did not improve from %.5f" % (epoch + 1, self.monitor, self.best))

    def _write(self, path):
        if self.save_weights_only:
            self.model.save_weights(path, overwrite=True)
        else:
            self.model.save(path, overwrite=True)
