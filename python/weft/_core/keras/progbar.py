"""tf.keras.utils.Progbar: prints the progress of a loop."""
import sys
import time

import numpy as np

from weft._core.framework.absent import Named

_interactive = True


def enable_interactive_logging():
    """Makes messages go to the standard output."""
    global _interactive
    _interactive = True


def disable_interactive_logging():
    """Makes messages go to the log."""
    global _interactive
    _interactive = False


def is_interactive_logging_enabled():
    return _interactive


def print_msg(message, line_break=True):
    """Prints a message, or logs it if interactive logging is off."""
    if not _interactive:
        import logging
        logging.getLogger("absl").info(message)
        return
    sys.stdout.write(message + "\n" if line_break else message)
    sys.stdout.flush()


class Progbar(metaclass=Named):
    """A progress bar; update(current, values) prints it, with the means of values."""

    def __init__(self, target, width=30, verbose=1, interval=0.05, stateful_metrics=None, unit_name="step"):
        self.target, self.width, self.verbose, self.interval, self.unit_name = target, width, verbose, interval, unit_name
        self.stateful_metrics = set(stateful_metrics or ())
        self._total_width = self._seen_so_far = 0
        self._values, self._values_order = {}, []
        self._start, self._last_update, self._first_step = time.time(), 0, None
        self._epoch_start, self._epoch_end = self._start, None

    def update(self, current, values=None, finalize=None):
        """Prints the progress. finalize: whether this is the last time."""
        if finalize is None:
            finalize = self.target is not None and current >= self.target
        for k, v in values or []:
            self._add(k, v, current)
        self._seen_so_far = current
        now = time.time()
        if current == self.target:
            self._epoch_end = now
        if self.verbose == 1:
            if now - self._last_update < self.interval and not finalize:
                return
            print_msg(self._bar(current, now, finalize), line_break=False)
        elif self.verbose == 2 and finalize:
            print_msg(self._line(current, now), line_break=False)
        self._last_update = now

    def _add(self, name, value, current):
        if name not in self._values_order:
            self._values_order.append(name)
        if name in self.stateful_metrics:
            self._values[name] = [value, 1]
            return
        count = max(current - self._seen_so_far, 1)
        total, seen = self._values.get(name, (0, 0))
        self._values[name] = [total + value * count, seen + count]

    def _shown(self, size):
        text = ""
        for k in self._values_order:
            total, seen = self._values[k]
            mean = np.mean(total / max(1, seen))
            text += " - %s:" % k + (" %.4f" if size(mean) > 1e-3 else " %.4e") % mean
        return text

    def _bar(self, current, now, finalize):
        before = self._total_width
        message = "\b" * before + "\r"
        if self.target is not None:
            digits = int(np.log10(self.target)) + 1
            bar = ("%" + str(digits) + "d/%d [") % (current, self.target)
            done = int(self.width * float(current) / self.target)
            if done > 0:
                bar += "=" * (done - 1) + (">" if current < self.target else "=")
            bar += "." * (self.width - done) + "]"
        else:
            bar = "%7d/Unknown" % current
        each = self._step_time(current, now)
        if self.target is None or finalize:
            info = " - %.0fs" % (now - self._start) + _time(each, self.unit_name)
        else:
            info = " - ETA: " + _duration(each * (self.target - current))
        info += self._shown(abs)
        self._total_width = len(bar) + len(info)
        info += " " * max(0, before - self._total_width)
        return message + bar + info + ("\n" if finalize else "")

    def _line(self, current, now):
        digits = int(np.log10(self.target)) + 1
        text = ("%" + str(digits) + "d/%d") % (current, self.target) + " - %.0fs" % (now - self._start) + self._shown(lambda x: x)
        if self._epoch_end:
            whole = self._epoch_end - self._epoch_start
            self._epoch_start, self._epoch_end = now, None
            text += " -" + _time(whole, "epoch") + " -" + _time(whole / self.target, self.unit_name)
        return text + "\n"

    def _step_time(self, current, now):
        if not current:
            return 0
        if self._first_step is not None and current > 1:
            each = (now - self._first_step) / (current - 1)
        else:
            each = (now - self._start) / current
        if current == 1:
            self._first_step = now
        return each

    def add(self, n, values=None):
        self.update(self._seen_so_far + n, values)


def _time(seconds, unit):
    if seconds >= 1 or seconds == 0:
        return " %.0fs/%s" % (seconds, unit)
    return " %.0fms/%s" % (seconds * 1e3, unit) if seconds >= 1e-3 else " %.0fus/%s" % (seconds * 1e6, unit)


def _duration(seconds):
    if seconds > 3600:
        return "%d:%02d:%02d" % (seconds // 3600, (seconds % 3600) // 60, seconds % 60)
    return "%d:%02d" % (seconds // 60, seconds % 60) if seconds > 60 else "%ds" % seconds
