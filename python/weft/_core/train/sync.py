"""Synchronous training with tf.train.SyncReplicasOptimizer, which the library implements."""
from weft import _weft
from weft._core.framework.graph import GraphKeys, graph_of
from weft._core.ops.gradients import _out
from weft._core.ops.variables import variable_of
from weft._core.platform import logging
from weft._core.train.coordinator import QueueRunner
from weft._core.train.optimizer import Optimizer, rows_of, step_out
from weft._core.train.python_optimizer import in_python
from weft._core.train.sync_python import PythonSync, PythonSyncHook


class SyncReplicasOptimizer(Optimizer):
    def __init__(self, opt, replicas_to_aggregate, total_num_replicas=None, variable_averages=None,
                 variables_to_average=None, use_locking=False, name="sync_replicas", replica_id=None):
        super().__init__(use_locking, name)
        self._opt, self._aggregate = opt, replicas_to_aggregate
        self._replicas = replicas_to_aggregate if total_num_replicas is None else total_num_replicas
        self._averages, self._to_average = variable_averages, variables_to_average or []
        self._sync, self._parts, self._runner, self._python = None, {}, None, None
        self._tokens_to_aggregate = self._replicas
        logging.info("SyncReplicasV2: replicas_to_aggregate=%s; total_num_replicas=%s", self._aggregate, self._replicas)

    def compute_gradients(self, *args, **kwargs):
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        pairs = [(g, v) for g, v in grads_and_vars]
        if not pairs:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        graph = self._graph = graph_of([v for _, v in pairs])
        graph._check_not_finalized()
        if in_python(self._opt) or any(getattr(v, "constraint", None) is not None for _, v in pairs):
            with graph.as_default():
                self._python = PythonSync(self, pairs, global_step)
            return self._listed(graph, self._python.train)
        graph._sync_lists()
        with graph.as_default():
            self._sync = _weft.sync_create(self._opt._capsule(graph), self._name, self._aggregate, self._replicas)
            if self._averages is not None:
                _weft.sync_average(self._sync, self._averages._capsule(), [_out(v) for v in self._to_average])
            made = _weft.sync_apply(graph._c, self._sync, [_out(v) for _, v in pairs], rows_of([g for g, _ in pairs]),
                                    step_out(global_step))
        self._parts = _weft.sync_parts(self._sync)
        operation = graph._operation(made >> 16)
        return self._listed(graph, operation.outputs[0] if operation.outputs else operation)

    @staticmethod
    def _listed(graph, made):
        if made not in graph._collection(GraphKeys.TRAIN_OP):
            graph.add_to_collection(GraphKeys.TRAIN_OP, made)
        return made

    def minimize(self, loss, global_step=None, var_list=None, gate_gradients=Optimizer.GATE_OP, aggregation_method=None,
                 colocate_gradients_with_ops=False, name=None, grad_loss=None):
        pairs = self.compute_gradients(loss, var_list=var_list, gate_gradients=gate_gradients,
                                       aggregation_method=aggregation_method,
                                       colocate_gradients_with_ops=colocate_gradients_with_ops, grad_loss=grad_loss)
        return self.apply_gradients(pairs, global_step=global_step, name=name)

    def _nodes(self, what):
        """Returns the nodes that Python made, or None if the library made them."""
        if self._python is None:
            self._capsule_made(what)
        return self._python

    def _capsule_made(self, what):
        if self._sync is None:
            raise ValueError("%s() should be called after apply_gradients()." % what)
        return self._sync

    def _part(self, name, what):
        self._capsule_made(what)
        return self._graph._operation(self._parts[name] >> 16)

    def get_chief_queue_runner(self):
        if self._nodes("get_chief_queue_runner") is not None:
            return self._python.runner
        if self._runner is None:
            op = self._part("op", "get_chief_queue_runner")
            queue = self._graph._tensor(self._parts["queue"])
            runner = object.__new__(QueueRunner)
            runner._queue, runner._queue_name, runner._enqueue_ops = None, queue.op.name, [op]
            runner._close_op = self._part("close", "get_chief_queue_runner")
            runner._cancel_op = self._part("cancel", "get_chief_queue_runner")
            from weft._core.framework import errors
            runner.exceptions_raised, runner._closed_types = [], (errors.OutOfRangeError,)
            self._runner = runner
        return self._runner

    def get_init_tokens_op(self, num_tokens=-1):
        """Returns the op that enqueues the first tokens; a Supervisor runs it again when a ps lost them."""
        if self._nodes("get_init_tokens_op") is not None:
            made = self._python.init_tokens(num_tokens)
        else:
            sync = self._capsule_made("get_init_tokens_op")
            with self._graph.as_default():
                made = self._graph._operation(_weft.sync_init_tokens(self._graph._c, sync, num_tokens) >> 16)
        self._graph.__dict__.setdefault("_first_tokens", []).append(made)
        return made

    init_tokens_op = property(lambda self: self.get_init_tokens_op())
    @property
    def chief_init_op(self):
        return self._part("chief_init", "chief_init_op") if self._nodes("chief_init_op") is None else self._python.chief_init

    @property
    def local_step_init_op(self):
        if self._nodes("local_step_init_op") is not None:
            return self._python.local_init
        return self._part("local_init", "local_step_init_op").outputs[0]

    @property
    def ready_for_local_init_op(self):
        if self._nodes("ready_for_local_init_op") is not None:
            return self._python.ready_for_local_init
        self._part("ready_for_local_init", "ready_for_local_init_op")
        return self._graph._tensor(self._parts["ready_for_local_init"])

    @property
    def _local_step(self):
        if self._nodes("_local_step") is not None:
            return self._python.local_step
        return variable_of(self._graph, self._graph._tensor(self._parts["local_step"]).name)

    def get_slot(self, *args, **kwargs):
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self):
        return self._opt.variables()

    def make_session_run_hook(self, is_chief, num_tokens=-1):
        from weft._core.train.hooks import SyncReplicasHook
        kind = SyncReplicasHook if self._python is None else PythonSyncHook
        return kind(self, is_chief, num_tokens)


SyncReplicasOptimizerV2 = SyncReplicasOptimizer
