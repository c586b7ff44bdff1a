"""tf.estimator.*Exporter: classes that decide what train_and_evaluate exports after an evaluation."""
import inspect
import os
import shutil

from weft._core.files import gfile
from weft._core.files.gfile import local
from weft._core.framework.absent import Named
from weft._core.platform import logging


class Exporter(metaclass=Named):
    name = None

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        raise NotImplementedError("an Exporter must have export()")


class _SavedModelExporter(Exporter):
    def __init__(self, name, serving_input_receiver_fn, assets_extra, as_text):
        self._name, self._fn, self._assets, self._as_text = name, serving_input_receiver_fn, assets_extra, as_text

    name = property(lambda self: self._name)

    def _export(self, estimator, export_path, checkpoint_path):
        return estimator.export_saved_model(export_path, self._fn, assets_extra=self._assets, as_text=self._as_text,
                                            checkpoint_path=checkpoint_path)


def _keep_last(folder, keep):
    """Removes all but the newest exports, whose folders are named by times in seconds."""
    if keep is None or not os.path.isdir(local(folder)):
        return
    for old in sorted((n for n in os.listdir(local(folder)) if n.isdigit()), key=int)[:-keep]:
        shutil.rmtree(local(os.path.join(folder, old)), ignore_errors=True)


def _check_keep(keep):
    if keep is not None and keep <= 0:
        raise ValueError("`exports_to_keep`, if provided, must be a positive number. Got %s" % keep)


def _check_compare(compare):
    if compare is None:
        raise ValueError("`compare_fn` must not be None.")
    for name in ("best_eval_result", "current_eval_result"):
        if name not in inspect.signature(compare).parameters:
            raise ValueError("compare_fn (%s) must include %s argument." % (compare, name))


class FinalExporter(_SavedModelExporter):
    """Exports once, at the end of training."""

    def __init__(self, name, serving_input_receiver_fn, assets_extra=None, as_text=False):
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        if not is_the_final_export:
            return None
        logging.info("Performing the final export in the end of training.")
        return self._export(estimator, export_path, checkpoint_path)


class LatestExporter(_SavedModelExporter):
    """Exports after each evaluation and keeps the newest exports."""

    def __init__(self, name, serving_input_receiver_fn, assets_extra=None, as_text=False, exports_to_keep=5):
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)
        _check_keep(exports_to_keep)
        self._keep = exports_to_keep

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        made = self._export(estimator, export_path, checkpoint_path)
        _keep_last(export_path, self._keep)
        return made


def _smaller_loss(best_eval_result, current_eval_result):
    return best_eval_result["loss"] > current_eval_result["loss"]


class BestExporter(_SavedModelExporter):
    """Exports if an evaluation is better than all earlier ones."""

    def __init__(self, name="best_exporter", serving_input_receiver_fn=None, event_file_pattern="eval/*.tfevents.*",
                 compare_fn=_smaller_loss, assets_extra=None, as_text=False, exports_to_keep=5):
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)
        _check_compare(compare_fn)
        _check_keep(exports_to_keep)
        self._compare, self._best, self._keep = compare_fn, None, exports_to_keep
        self._pattern, self._model_dir, self._exported = event_file_pattern, None, False

    def _best_of_events(self, model_dir):
        """Returns the best evaluation in the events files by the compare function, or None if there is none."""
        from weft._core.files.summary import summary_iterator
        best = None
        for path in gfile.Glob(os.path.join(model_dir, self._pattern)):
            for event in summary_iterator(path):
                found = {v.tag: v.simple_value for v in event.summary.value if v.HasField("simple_value")}
                if found and (best is None or self._compare(best_eval_result=best, current_eval_result=found)):
                    best = found
        return best

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        if self._pattern and self._model_dir != estimator.model_dir:
            logging.info("Loading best metric from event files.")
            self._model_dir, self._best = estimator.model_dir, self._best_of_events(estimator.model_dir)
        if self._exported and not self._compare(best_eval_result=self._best, current_eval_result=eval_result):
            # As in TensorFlow, the first evaluation is exported even if the events files have a better one.
            return None
        logging.info("Performing best model export.")
        self._best, self._exported = eval_result, True
        made = self._export(estimator, export_path, checkpoint_path)
        _keep_last(export_path, self._keep)
        return made
