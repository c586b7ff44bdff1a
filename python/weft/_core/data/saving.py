"""tf.data: saves iterators with checkpoints, and writes data sets to files of records."""
import os

from weft._core.data.dataset import Dataset
from weft._core.data.policies import ExternalStatePolicy
from weft._core.framework import dtypes
from weft._core.framework.absent import Named
from weft._core.framework.build import add_op, convert_to_tensor
from weft._core.framework.graph import get_default_graph
from weft._core.ops.saveable import IteratorSaveable
from weft._core.train.hooks import CheckpointSaverHook, SessionRunHook
from weft._core.train.saver import Saver, latest_checkpoint


def _policy(external_state_policy):
    """Returns TensorFlow's number of the policy."""
    if external_state_policy is None:
        return ExternalStatePolicy.WARN.value
    if isinstance(external_state_policy, ExternalStatePolicy):
        return external_state_policy.value
    if external_state_policy in ("warn", "ignore", "fail"):
        return ExternalStatePolicy[external_state_policy.upper()].value
    raise ValueError("Invalid `ExternalStatePolicy.` Supported values include 'warn', 'ignore', and 'fail.' Received %s."
                     % (external_state_policy,))


def make_saveable_from_iterator(iterator, external_state_policy=None):
    """Returns an object that makes a Saver save an iterator; add it to the collection tf.GraphKeys.SAVEABLE_OBJECTS.

    The iterator must be initialized before it is saved or restored.  Restoring reads its data set again up to the saved
    position.

    Args:
      iterator: of a data set.
      external_state_policy: None, 'warn', 'ignore' or 'fail': what happens with state outside of the data set.
    """
    return IteratorSaveable(iterator._iterator_resource, _policy(external_state_policy))


class _InputSaver(Saver):
    """A Saver that keeps a list of checkpoints separate from that of the model."""

    def __init__(self, saveables, latest_filename, **given):
        self._latest_filename = latest_filename
        super().__init__(saveables, **given)

    def save(self, sess, save_path, global_step=None, latest_filename=None, **given):
        return super().save(sess, save_path, global_step, latest_filename or self._latest_filename, **given)


class CheckpointInputPipelineHook(SessionRunHook):
    """Saves the positions of all iterators while an Estimator trains, and restores them when training continues.

    Args:
      estimator: whose model_dir and steps between checkpoints are used.
      external_state_policy: None, 'warn', 'ignore' or 'fail': what happens with state outside of the data sets.
    """

    def __init__(self, estimator, external_state_policy=None):
        config = estimator.config
        prefix = "input"
        if getattr(config, "num_worker_replicas", 1) > 1:
            prefix += "_%s_%d" % (config.task_type, config.task_id)
        self._latest_filename, self._estimator = "checkpoint_" + prefix, estimator
        self._policy, self._first = _policy(external_state_policy), True
        self._hook = CheckpointSaverHook(estimator.model_dir, config.save_checkpoints_secs, config.save_checkpoints_steps,
                                         checkpoint_basename=prefix + ".ckpt")

    def begin(self):
        handles = get_default_graph().get_collection("iterators")
        if not handles:
            raise ValueError("CheckpointInputPipelineHook: the graph has no iterator")
        config = self._estimator.config
        self._hook._saver = _InputSaver([IteratorSaveable(handle, self._policy) for handle in handles], self._latest_filename,
                                        sharded=False, max_to_keep=config.keep_checkpoint_max,
                                        keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours)
        self._hook.begin()

    def after_create_session(self, session, coord):
        self._first = True

    def _start(self, session):
        """Restores the last positions, or saves the first ones if there are none. The iterators are initialized by now.
        """
        self._first = False
        latest = latest_checkpoint(self._estimator.model_dir, self._latest_filename)
        if latest:
            self._hook._saver.restore(session, latest)
        else:
            self._hook.after_create_session(session, None)

    def before_run(self, run_context):
        if self._first:
            self._start(run_context.session)
        return self._hook.before_run(run_context)

    def after_run(self, run_context, run_values):
        self._hook.after_run(run_context, run_values)

    def end(self, session):
        self._hook.end(session)


class TFRecordWriter(metaclass=Named):
    """Writes the elements of a data set, which are scalars of string, to a file of records.

    Args:
      filename: the path of the file.
      compression_type: None, "", "ZLIB" or "GZIP".
    """

    def __init__(self, filename, compression_type=None):
        self._filename = convert_to_tensor(os.fspath(filename) if isinstance(filename, os.PathLike) else filename,
                                           dtypes.string, name="filename")
        self._compression_type = convert_to_tensor(compression_type or "", dtypes.string, name="compression_type")

    def write(self, dataset):
        """Returns the op that writes the file."""
        if not isinstance(dataset, Dataset):
            raise TypeError("Invalid `dataset.` Expected a `tf.data.Dataset` object but got %s." % type(dataset))
        types, shapes = dataset.output_types, dataset.output_shapes
        if types != dtypes.string or not shapes.is_compatible_with([]):
            raise TypeError("Invalid `dataset`. Expected a`dataset` that produces scalar `tf.string` elements, but got a "
                            "dataset which produces elements with shapes %s and types %s." % (shapes, types))
        return add_op("DatasetToTFRecord", input_dataset=dataset._variant_tensor, filename=self._filename,
                      compression_type=self._compression_type)
