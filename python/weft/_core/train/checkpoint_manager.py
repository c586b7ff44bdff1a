"""tf.train.CheckpointManager: numbered checkpoints of a tf.train.Checkpoint, of which the oldest are deleted."""
import glob
import os
import time

from weft._core.framework.absent import Named
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import Tensor
from weft._core.ops.variables import Variable
from weft._core.platform import logging
from weft._core.train.checkpoint import session_or_default, write_state
from weft._core.train.saver import get_checkpoint_state


def _evaluated(value):
    if isinstance(value, (Tensor, Variable)):
        return int(session_or_default(None).run(convert_to_tensor(value)))
    return int(value)


class CheckpointManager(metaclass=Named):
    """Keeps the newest max_to_keep checkpoints, and permanently one for every keep_checkpoint_every_n_hours hours."""

    def __init__(self, checkpoint, directory, max_to_keep, keep_checkpoint_every_n_hours=None, checkpoint_name="ckpt",
                 step_counter=None, checkpoint_interval=None, init_fn=None):
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError("Expected a positive integer or `None` for `max_to_keep`, got %s." % (max_to_keep,))
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError("`step_counter` should be passed if `checkpoint_interval` is not None.")
        self._checkpoint, self._directory = checkpoint, os.fspath(directory)
        self._max_to_keep, self._every_hours = max_to_keep, keep_checkpoint_every_n_hours
        self._prefix = os.path.join(self._directory, checkpoint_name)
        self._step_counter, self._interval, self._init_fn, self._last_step = step_counter, checkpoint_interval, init_fn, None
        self._kept, self._latest, self._last_preserved = {}, None, time.time()
        self._recover()

    def _recover(self):
        """Loads the list of checkpoints that an earlier manager left in the folder."""
        found = get_checkpoint_state(self._directory)
        if found is None:
            return
        self._latest = found.model_checkpoint_path
        paths, times = list(found.all_model_checkpoint_paths), list(found.all_model_checkpoint_timestamps)
        if found.last_preserved_timestamp:
            self._last_preserved = found.last_preserved_timestamp
        if len(times) != len(paths):
            times = [self._last_preserved] * len(paths)
        self._kept = {p: t for p, t in zip(paths, times) if os.path.exists(p + ".index")}

    directory = property(lambda self: self._directory)
    checkpoint = property(lambda self: self._checkpoint)
    checkpoint_interval = property(lambda self: self._interval)
    latest_checkpoint = property(lambda self: self._latest)
    checkpoints = property(lambda self: list(self._kept))

    def _sweep(self):
        """Deletes the oldest checkpoints beyond max_to_keep, except those that keep_checkpoint_every_n_hours preserves.
        """
        if self._max_to_keep is None:
            return
        while len(self._kept) > self._max_to_keep:
            path = next(iter(self._kept))
            made = self._kept.pop(path)
            if self._every_hours and made - self._every_hours * 3600.0 >= self._last_preserved:
                self._last_preserved = made
                continue
            for name in glob.glob(glob.escape(path) + ".index") + glob.glob(glob.escape(path) + ".data-*"):
                os.remove(name)

    def _write_state(self):
        times = list(self._kept.values())
        write_state(self._directory, self._latest, self.checkpoints, times, self._last_preserved)

    def save(self, checkpoint_number=None, check_interval=True, options=None):
        """Writes a checkpoint and returns its path, or None if the interval since the last one is too short.

        If check_interval is False, the interval is ignored, but a step is still not saved twice.
        """
        if self._interval is not None:
            step = _evaluated(self._step_counter)
            if self._last_step is not None and step < self._last_step + (self._interval if check_interval else 1):
                return None
            self._last_step = step
        session = session_or_default(None)
        count = self._checkpoint._incremented(session)
        number = count if checkpoint_number is None else _evaluated(checkpoint_number)
        path = self._checkpoint.write("%s-%d" % (self._prefix, number), session, options)
        self._kept.pop(path, None)
        self._kept[path], self._latest = time.time(), path
        # The state file is written before old files are deleted: a crash can leave extra files, but no name of a
        # missing file.
        self._write_state()
        self._sweep()
        self._write_state()
        return path

    def restore_or_initialize(self):
        """Restores the newest checkpoint and returns its path; without one it calls init_fn and returns None."""
        if self._latest is not None:
            self._checkpoint.restore(self._latest)
            if self._interval is not None:
                self._last_step = _evaluated(self._step_counter)
            return self._latest
        if self._init_fn is not None:
            self._init_fn()
            logging.info("Customized initialization is done through the passed `init_fn`.")
        return None

    def sync(self):
        """Returns at once, because save() has written all files when it returns."""
