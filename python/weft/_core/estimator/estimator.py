"""tf.estimator.Estimator: trains, evaluates, predicts and exports a model_fn, with its files in one directory.

Each call builds a graph of its own from input_fn and model_fn and runs it in a monitored session, which is the
library's: checkpoints, summaries and recovery come from there.
"""
import collections
import inspect
import os
import tempfile
import time

import numpy as np

from weft._core.distribute.values import PerReplica, ReduceOp
from weft._core.estimator.export import export_model
from weft._core.estimator.run_config import RunConfig, default_session_config
from weft._core.estimator.server import start_server
from weft._core.estimator.spec import EstimatorSpec, ModeKeys, as_fetch, warm_start_settings
from weft._core.files import summary
from weft._core.files.summary import FileWriterCache
from weft._core.framework import dtypes, nest, protos
from weft._core.framework.absent import Named
from weft._core.framework.graph import Graph, GraphKeys, Operation, control_dependencies, device, get_default_graph, set_random_seed
from weft._core.framework.tensor_util import make_tensor_proto
from weft._core.nn.metrics import mean
from weft._core.ops.array_ops import identity
from weft._core.ops.control_flow import group
from weft._core.platform import logging
from weft._core.train.device_setter import replica_device_setter
from weft._core.train.hooks import CheckpointSaverHook, FinalOpsHook, LoggingTensorHook, NanTensorHook, SessionRunHook, StopAtStepHook
from weft._core.train.monitored import ChiefSessionCreator, MonitoredSession, MonitoredTrainingSession
from weft._core.train.saver import Saver, latest_checkpoint, list_variables, load_variable
from weft._core.train.training_util import get_or_create_global_step
from weft._core.train.warm_start import warm_start


def _names(fn):
    """Returns the names of the arguments of a function."""
    if not inspect.isfunction(fn) and not inspect.ismethod(fn) and hasattr(fn, "func"):  # a functools.partial
        given = set(fn.keywords or ())
        return tuple(n for n in _names(fn.func)[len(fn.args):] if n not in given)
    return tuple(n for n, p in inspect.signature(fn).parameters.items()
                 if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY))


def _renamed(summary, key):
    """Returns the values of a Summary that is a metric's value; their tags are the metric's key and a number."""
    for i, value in enumerate(summary.value):
        value.tag = "%s/%d" % (key, i)
    return summary.value


class _InitializeDataset(SessionRunHook):
    def __init__(self, iterator):
        self._iterator = iterator

    def begin(self):
        self._initializer = self._iterator.initializer

    def after_create_session(self, session, coord):
        session.run(self._initializer)


class _StopAfter(SessionRunHook):
    """Ends an evaluation after a number of batches."""

    def __init__(self, steps):
        self._steps, self._done = steps, 0

    def after_run(self, run_context, run_values):
        self._done += 1
        if self._done % max(self._steps // 10, 1) == 0 or self._done == self._steps:
            logging.info("Evaluation [%d/%d]", self._done, self._steps)
        if self._done >= self._steps:
            run_context.request_stop()


class Estimator(metaclass=Named):
    def __init__(self, model_fn, model_dir=None, config=None, params=None, warm_start_from=None):
        if type(self) is Estimator and not callable(model_fn):
            raise ValueError("model_fn must be provided to Estimator.")
        self._warm_start_from = None if warm_start_from is None else warm_start_settings(warm_start_from)
        if config is not None and not isinstance(config, RunConfig):
            raise ValueError("config must be an instance of `RunConfig`, but provided %s." % (config,))
        config = config or RunConfig()
        if model_dir is not None and config.model_dir is not None and os.fspath(model_dir) != os.fspath(config.model_dir):
            raise ValueError("`model_dir` are set both in constructor and `RunConfig`, but with different values. In "
                             "constructor: '%s', in `RunConfig`: '%s' " % (model_dir, config.model_dir))
        model_dir = model_dir or config.model_dir
        if model_dir is None:
            model_dir = tempfile.mkdtemp()
            logging.warning("Using temporary folder as model directory: %s", model_dir)
        more = {} if config.session_config is not None else {"session_config": default_session_config()}
        self._config = config.replace(model_dir=os.fspath(model_dir), **more)
        logging.info("Using config: %s", self._config._shown())
        self._model_fn, self._params = model_fn, dict(params) if isinstance(params, dict) else params
        takes = _names(model_fn)
        if "features" not in takes:
            raise ValueError("model_fn (%s) must include features argument." % (model_fn,))
        if params is not None and "params" not in takes:
            raise ValueError("model_fn (%s) does not include params argument, but params (%s) is passed to Estimator." % (
                model_fn, params))
        odd = set(takes) - {"features", "labels", "mode", "params", "config", "self"}
        if odd:
            raise ValueError("model_fn (%s) has following not expected args: %s" % (model_fn, sorted(odd)))

    model_dir = property(lambda self: self._config.model_dir)
    config = property(lambda self: self._config)

    @property
    def params(self):
        return dict(self._params) if isinstance(self._params, dict) else self._params

    @property
    def model_fn(self):
        return lambda features, labels, mode, config: self._call_model_fn(features, labels, mode, config)

    def latest_checkpoint(self):
        return latest_checkpoint(self.model_dir)

    def get_variable_names(self):
        return [name for name, _ in list_variables(self.model_dir)]

    def get_variable_value(self, name):
        return load_variable(self.model_dir, name)

    def eval_dir(self, name=None):
        return os.path.join(self.model_dir, "eval" if not name else "eval_" + name)

    # ---- the parts of a graph ----

    def _graph(self):
        """Returns a new graph with a seed and a global step."""
        graph = Graph()
        with graph.as_default():
            set_random_seed(self._config.tf_random_seed)
        return graph

    def _device(self):
        if self._config.device_fn is not None:
            return self._config.device_fn
        if self._config.num_ps_replicas < 1:
            return None
        return replica_device_setter(
            ps_tasks=self._config.num_ps_replicas, cluster=self._config.cluster_spec,
            worker_device="/job:%s/task:%d" % (self._config.task_type, self._config.task_id))

    def _call_input_fn(self, input_fn, mode, input_context=None):
        given = dict(mode=mode, params=self.params, config=self._config)
        if input_context is not None:
            given["input_context"] = input_context
        with device("/cpu:0"):
            return input_fn(**{k: v for k, v in given.items() if k in _names(input_fn)})

    def _features_and_labels(self, input_fn, mode, strategy=None):
        """Returns (features, labels, hooks) of an input_fn, which returns tensors or a data set."""
        hooks = []
        if strategy is None:
            made = self._call_input_fn(input_fn, mode)
        else:
            iterator = strategy.make_input_fn_iterator(lambda context: self._call_input_fn(input_fn, mode, context))
            hooks.append(_InitializeDataset(iterator))
            made = iterator.get_next()
        if hasattr(made, "make_initializable_iterator"):
            iterator = made.make_initializable_iterator()
            hooks.append(_InitializeDataset(iterator))
            made = iterator.get_next()
        if isinstance(made, (list, tuple)):
            if mode == ModeKeys.PREDICT:
                return made[0], None, hooks
            if len(made) != 2:
                raise ValueError("input_fn should return (features, labels) as a len 2 tuple.")
            return made[0], made[1], hooks
        return made, None, hooks

    def _call_model_fn(self, features, labels, mode, config=None):
        takes, given = _names(self._model_fn), {}
        if "labels" in takes:
            given["labels"] = labels
        elif labels is not None:
            raise ValueError("model_fn does not take labels, but input_fn returns labels.")
        for name, value in (("mode", mode), ("params", self.params), ("config", config or self._config)):
            if name in takes:
                given[name] = value
        logging.info("Calling model_fn.")
        made = self._model_fn(features=features, **given)
        logging.info("Done calling model_fn.")
        if not isinstance(made, EstimatorSpec):
            raise ValueError("model_fn should return an EstimatorSpec.")
        return made

    # ---- train ----

    def train(self, input_fn, hooks=None, steps=None, max_steps=None, saving_listeners=None):
        if self._config.task_type in ("evaluator", "ps"):
            raise ValueError("Train has been called wrong configuration. Please use tf.estimator.train_and_evaluate which calls "
                             "proper API according to given configuration. Current configuration: %s." % self._config._shown())
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        for name, value in (("steps", steps), ("max_steps", max_steps)):
            if value is not None and value <= 0:
                raise ValueError("Must specify %s > 0, given: %s" % (name, value))
        if max_steps is not None and self._saved_step() >= max_steps:
            logging.info("Skipping training since max_steps has already saved.")
            return self
        hooks = list(hooks or [])
        if steps is not None or max_steps is not None:
            hooks.append(StopAtStepHook(steps, max_steps))
        loss = self._train(input_fn, hooks, list(saving_listeners or []))
        logging.info("Loss for final step: %s.", loss)
        return self

    def _saved_step(self):
        try:
            return int(load_variable(self.model_dir, GraphKeys.GLOBAL_STEP))
        except Exception:
            return 0

    def _train(self, input_fn, hooks, listeners):
        if self._config.train_distribute is not None:
            return self._train_distributed(self._config.train_distribute, input_fn, hooks, listeners)
        graph = self._graph()
        with graph.as_default(), device(self._device()):
            step = get_or_create_global_step()
            features, labels, more = self._features_and_labels(input_fn, ModeKeys.TRAIN)
            spec = self._call_model_fn(features, labels, ModeKeys.TRAIN)
            if not any(t.op.name == "loss" for t in graph.get_collection(GraphKeys.SUMMARIES)):
                summary.scalar("loss", spec.loss)
            graph.add_to_collection(GraphKeys.LOSSES, spec.loss)
            with control_dependencies([spec.train_op]):
                step_now = identity(step, name="step_after_training")
            return self._train_with(spec, more + hooks, listeners, step_now)

    def _train_distributed(self, strategy, input_fn, hooks, listeners):
        """Trains in a strategy, which calls model_fn for each replica."""
        config = self._config
        if config.cluster_spec.jobs:
            strategy.configure(None, config.cluster_spec, config.task_type, config.task_id)
        session_config = strategy.update_config_proto(config.session_config or default_session_config())
        if strategy.extended._in_multi_worker_mode():
            start_server(config, session_config)
        strategy._scale_losses_for_estimator = True
        with self._graph().as_default() as graph, strategy.scope():
            step = get_or_create_global_step()
            features, labels, more = self._features_and_labels(input_fn, ModeKeys.TRAIN, strategy)
            specs = []
            strategy.extended.call_for_each_replica(
                lambda f, t: specs.append(self._call_model_fn(f, t, ModeKeys.TRAIN)), args=(features, labels))
            parts = PerReplica([s.loss for s in specs])
            loss = strategy.reduce(ReduceOp.SUM if getattr(graph, "_last_loss_reduction", None) == "weighted_sum" else ReduceOp.MEAN,
                                   parts, axis=None)
            spec = specs[0]._replace(loss=loss, train_op=group(*[s.train_op for s in specs]))
            if not any(t.op.name == "loss" for t in graph.get_collection(GraphKeys.SUMMARIES)):
                summary.scalar("loss", spec.loss)
            graph.add_to_collection(GraphKeys.LOSSES, spec.loss)
            with control_dependencies([spec.train_op]):
                step_now = identity(step, name="step_after_training")
            return self._train_with(spec, more + hooks, listeners, step_now, strategy, session_config)

    def _own_dir(self, strategy):
        """Returns the folder of this task's checkpoints and events.

        Synchronized workers must all save, because saving aggregates values over the workers. All but the first one
        save into a folder that is not read.
        """
        if strategy is None or not strategy.extended._in_multi_worker_mode() or strategy.extended.should_checkpoint:
            return self.model_dir
        return os.path.join(self.model_dir, "tmp_%s_%d" % (self._config.task_type, self._config.task_id))

    def _train_with(self, spec, hooks, listeners, step, strategy=None, session_config=None):
        config, scaffold, folder = self._config, spec.scaffold, self._own_dir(strategy)
        leads = config.is_chief or strategy is not None and strategy.extended._in_multi_worker_mode()
        if self._warm_start_from is not None and self.latest_checkpoint() is None:
            warm_start(*self._warm_start_from)
        if scaffold.saver is None and not get_default_graph().get_collection(GraphKeys.SAVERS):
            # Variables of hooks are saved, too.
            scaffold.saver = Saver(sharded=True, max_to_keep=config.keep_checkpoint_max, defer_build=True,
                                   keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours, save_relative_paths=True)
            get_default_graph().add_to_collection(GraphKeys.SAVERS, scaffold.saver)
        worker_hooks = [*hooks, NanTensorHook(spec.loss)]
        if config.log_step_count_steps:
            worker_hooks.append(LoggingTensorHook(collections.OrderedDict([("loss", spec.loss), ("step", step)]),
                                                        every_n_iter=config.log_step_count_steps))
        worker_hooks += spec.training_hooks
        chief_hooks, saving = list(spec.training_chief_hooks), dict(save_checkpoint_secs=None, save_checkpoint_steps=None)
        own = [h for h in worker_hooks + chief_hooks if isinstance(h, CheckpointSaverHook)]
        if own:
            own[0]._listeners.extend(listeners)
        elif leads and (config.save_checkpoints_secs or config.save_checkpoints_steps) and (
                listeners or folder != self.model_dir or spec.training_chief_hooks or not config.checkpoint_save_graph_def):
            chief_hooks.insert(0, CheckpointSaverHook(folder, config.save_checkpoints_secs, config.save_checkpoints_steps,
                                                      scaffold=scaffold, listeners=listeners,
                                                      save_graph_def=config.checkpoint_save_graph_def))
        else:  # The session's own saver shares its events file.
            saving = dict(save_checkpoint_secs=config.save_checkpoints_secs,
                          save_checkpoint_steps=config.save_checkpoints_steps)
        loss = None
        with MonitoredTrainingSession(
                master=config.master, is_chief=leads, checkpoint_dir=self.model_dir, scaffold=scaffold,
                hooks=worker_hooks, chief_only_hooks=chief_hooks, save_summaries_steps=config.save_summary_steps,
                summary_dir=None if folder == self.model_dir else folder, config=session_config or config.session_config,
                max_wait_secs=config.session_creation_timeout_secs,
                log_step_count_steps=config.log_step_count_steps, **saving) as sess:
            while not sess.should_stop():
                _, loss = sess.run([spec.train_op, spec.loss])
        if loss is None:
            logging.warning("Training with estimator made no steps. Perhaps input is empty or misspecified.")
        return loss

    # ---- evaluate ----

    def _checkpoint(self, given):
        path = given or self.latest_checkpoint()
        if not path:
            raise ValueError("Could not find trained model in model_dir: %s." % self.model_dir)
        return path

    def evaluate(self, input_fn, steps=None, hooks=None, checkpoint_path=None, name=None):
        path = checkpoint_path or self.latest_checkpoint()
        if not path:
            logging.info("Could not find trained model in model_dir: %s, running initialization to evaluate.", self.model_dir)
        if steps is not None and steps <= 0:
            raise ValueError("Must specify steps > 0, given: %s" % steps)
        # A step of a strategy takes a batch for each replica.
        if self._config.eval_distribute is not None and steps is not None:
            steps *= self._config.eval_distribute.num_replicas_in_sync
        with self._graph().as_default():
            step = get_or_create_global_step()
            features, labels, more = self._features_and_labels(input_fn, ModeKeys.EVAL)
            spec = self._call_model_fn(features, labels, ModeKeys.EVAL)
            metrics = dict(spec.eval_metric_ops)
            if "loss" in metrics:
                raise ValueError('Metric with name "loss" is not allowed, because Estimator adds one of its own')
            metrics["loss"] = mean(spec.loss)
            values = {k: as_fetch(v) for k, (v, _) in metrics.items()}
            values[GraphKeys.GLOBAL_STEP] = step
            update = group(*[u if isinstance(u, Operation) else as_fetch(u).op for _, u in metrics.values()])
            hooks = more + list(hooks or []) + list(spec.evaluation_hooks)
            results = self._evaluate_once(path, spec.scaffold, update, values, hooks, steps)
            self._write_results(results, self.eval_dir(name), path)
        return results

    def _evaluate_once(self, path, scaffold, update, values, hooks, steps):
        started = time.time()
        logging.info("Starting evaluation at %s", time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime()))
        final = FinalOpsHook(values)
        hooks = hooks + ([_StopAfter(steps)] if steps is not None else []) + [final]
        creator = ChiefSessionCreator(scaffold, self._config.evaluation_master, self._config.session_config,
                                      checkpoint_filename_with_path=path)
        with MonitoredSession(creator, hooks) as sess:
            while not sess.should_stop():
                sess.run(update)
        logging.info("Inference Time : %0.5fs", time.time() - started)
        logging.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S", time.localtime()))
        return final.final_ops_values

    def _write_results(self, results, folder, path):
        step = int(results[GraphKeys.GLOBAL_STEP])
        logging.info("Saving dict for global step %d: %s", step, ", ".join("%s = %s" % p for p in sorted(results.items())))
        made = protos.Summary()
        for key, value in sorted(results.items()):
            if key == GraphKeys.GLOBAL_STEP:
                continue
            if isinstance(value, bytes):
                made.value.extend(_renamed(protos.Summary.FromString(value), key))
            elif not isinstance(value, (tuple, list)) and np.ndim(value) == 0 and np.asarray(value).dtype.kind in "fiu":
                made.value.add(tag=key, simple_value=float(value))
            elif isinstance(value, np.ndarray):
                made.value.add(tag=key, node_name=key, tensor=make_tensor_proto(value))
                logging.info("Summary for np.ndarray is not visible in Tensorboard by default. Consider using a Tensorboard plugin for "
                             "visualization (see https://github.com/tensorflow/tensorboard-plugin-example/blob/master/README.md "
                             "for more information).")
            else:
                logging.warning("Skipping summary for %s, must be a float, np.float32, np.int64, np.int32 or int or np.ndarray "
                                "or a serialized string of Summary.", key)
        writer = FileWriterCache.get(folder)
        writer.add_summary(made, step)
        if path:
            logging.info("Saving 'checkpoint_path' summary for global step %d: %s", step, path)
            named = protos.Summary()
            named.value.add(tag="checkpoint_path", tensor=make_tensor_proto(path, dtypes.string))
            writer.add_summary(named, step)
        writer.flush()

    # ---- predict ----

    def predict(self, input_fn, predict_keys=None, hooks=None, checkpoint_path=None, yield_single_examples=True):
        path = checkpoint_path or self.latest_checkpoint()
        if not path:
            logging.info("Could not find trained model in model_dir: %s, running initialization to predict.", self.model_dir)
        with self._graph().as_default() as graph:
            get_or_create_global_step()
            features, _, more = self._features_and_labels(input_fn, ModeKeys.PREDICT)
            if not more and not graph.get_collection(GraphKeys.QUEUE_RUNNERS):
                more = self._hooks_without_end(graph)
            spec = self._call_model_fn(features, None, ModeKeys.PREDICT)
            wanted = self._wanted(spec.predictions, predict_keys)
            creator = ChiefSessionCreator(spec.scaffold, self._config.master if not self._config.cluster_spec.jobs else "",
                                          self._config.session_config, checkpoint_filename_with_path=path)
            sess = MonitoredSession(creator, more + list(hooks or []) + list(spec.prediction_hooks))
        yield from self._predictions(sess, wanted, yield_single_examples)

    def _hooks_without_end(self, graph):
        """Logs a warning that the predictions may never end, and returns no hooks."""
        logging.warning("Input graph does not use tf.data.Dataset or contain a QueueRunner. That means predict yields "
                        "forever. This is probably a mistake.")
        return []

    @staticmethod
    def _wanted(predictions, keys):
        if not isinstance(predictions, dict):
            if keys is not None:
                raise ValueError("predict_keys argument is not valid in case of non-dict predictions.")
            return predictions
        if keys is None:
            return predictions
        found = {k: v for k, v in predictions.items() if k in (keys if not isinstance(keys, str) else [keys])}
        if not found:
            raise ValueError("Expected to run at least one output from %s, provided %s." % (list(predictions), keys))
        return found

    @staticmethod
    def _predictions(sess, wanted, single):
        from weft._core.framework import errors
        try:
            while not sess.should_stop():
                try:
                    batch = sess.run(wanted)
                except (errors.OutOfRangeError, StopIteration):
                    break
                if not single:
                    yield batch
                elif not isinstance(batch, dict):
                    yield from batch
                else:
                    sizes = {len(v) if np.ndim(v) else None for v in nest.flatten(batch)}
                    if len(sizes) > 1 or None in sizes:
                        raise ValueError("Batch length of predictions should be same. %s" % {
                            k: np.shape(v) for k, v in batch.items()})
                    for i in range(sizes.pop()):
                        yield {k: v[i] for k, v in batch.items()}
        finally:
            sess.close()

    # ---- export ----

    def export_saved_model(self, export_dir_base, serving_input_receiver_fn, assets_extra=None, as_text=False,
                           checkpoint_path=None, experimental_mode=ModeKeys.PREDICT):
        if experimental_mode != ModeKeys.PREDICT:
            raise NotImplementedError("tf.estimator.Estimator.export_saved_model(experimental_mode=%r): Weft exports the graph "
                                      "of predictions" % experimental_mode)
        if not serving_input_receiver_fn:
            raise ValueError("serving_input_receiver_fn must be defined.")
        with self._graph().as_default():
            get_or_create_global_step()
            receiver = serving_input_receiver_fn()
            spec = self._call_model_fn(receiver.features, None, ModeKeys.PREDICT)
            return export_model(spec, receiver, export_dir_base, self._checkpoint(checkpoint_path), assets_extra, as_text,
                                self._config.session_config)

    def export_savedmodel(self, export_dir_base, serving_input_receiver_fn, assets_extra=None, as_text=False,
                          checkpoint_path=None, strip_default_attrs=False):
        return self.export_saved_model(export_dir_base, serving_input_receiver_fn, assets_extra, as_text, checkpoint_path)
