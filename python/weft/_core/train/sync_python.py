"""SyncReplicasOptimizer around an optimizer whose updates are written in Python, or with constrained variables.

The nodes are TensorFlow's: an accumulator for each gradient, a queue of tokens that workers wait for, and an op that
the chief runs in a loop. That op takes the averages, lets the wrapped optimizer apply them, and enqueues the next
tokens.
"""
from weft._core.framework import dtypes
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.graph import GraphKeys, IndexedSlices, control_dependencies, get_default_graph
from weft._core.ops.control_flow import group, no_op
from weft._core.ops.data_flow import ConditionalAccumulator, FIFOQueue, SparseConditionalAccumulator
from weft._core.ops.variables import Variable, assign, global_variables, report_uninitialized_variables
from weft._core.train.coordinator import QueueRunner
from weft._core.train.hooks import SessionRunHook


class PythonSync:
    """The nodes of one synchronized optimizer."""

    def __init__(self, optimizer, pairs, global_step):
        self._optimizer, self._step = optimizer, global_step
        self._accumulators = []  # (accumulator, device of its variable)
        graph = get_default_graph()
        self.local_step = Variable(0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], name="sync_rep_local_step",
                                   dtype=global_step.dtype.base_dtype)
        self.local_init = assign(self.local_step, global_step)
        self.ready_for_local_init = report_uninitialized_variables(global_variables())
        applied, taken = [], []
        with graph.name_scope(optimizer._name):
            for gradient, variable in pairs:
                with graph.device(variable.device or None):
                    one, average = self._accumulated(gradient, variable)
                applied.append(one)
                taken.append((average, variable))
        with graph.device(global_step.device or None), graph.name_scope(None):
            self.update = optimizer._opt.apply_gradients([(g, v) for g, v in taken if g is not None], global_step)
            self._queues()
            with control_dependencies([a for a in applied if a is not None]):
                self.train = assign(self.local_step, self.tokens.dequeue())
            self._chief_op()
            steps_set = []
            for accumulator, device in self._accumulators:
                with graph.device(device or None):
                    steps_set.append(accumulator.set_global_step(convert_to_tensor(global_step), name="SetGlobalStep"))
        self.chief_init = group(self.local_init, *steps_set)

    def _accumulated(self, gradient, variable):
        """Returns (op that adds a gradient to its accumulator, average), or (None, None) for a variable without a
        gradient.
        """
        need, local = self._optimizer._aggregate, self.local_step.value()
        if gradient is None:
            return None, None
        name = variable.name + "/grad_accum"
        if not isinstance(gradient, IndexedSlices):
            gradient = convert_to_tensor(gradient)
            accumulator = ConditionalAccumulator(gradient.dtype, shape=variable.get_shape(), shared_name=name)
            made = accumulator.apply_grad(gradient, local_step=local), accumulator.take_grad(need)
        else:
            accumulator = SparseConditionalAccumulator(gradient.dtype, shape=(), shared_name=name)
            made = accumulator.apply_indexed_slices_grad(gradient, local_step=local), accumulator.take_indexed_slices_grad(need)
        self._accumulators.append((accumulator, variable.device))
        return made

    def _queues(self):
        """Creates the token queue, and an empty queue for the queue runner, which needs a queue that it can close."""
        self.tokens = FIFOQueue(-1, [self._step.dtype.base_dtype], shapes=[[]], name="sync_token_q", shared_name="sync_token_q")
        self._dummy = FIFOQueue(1, [dtypes.int32], shapes=[[]], name="dummy_queue", shared_name="dummy_queue")

    def _filled(self, count):
        return op("Fill", dims=[count], value=convert_to_tensor(self._step))

    def _chief_op(self):
        outer = self._optimizer
        with control_dependencies([self.update]):
            sync = self.tokens.enqueue_many(self._filled(outer._replicas))
        if outer._averages is not None:
            with control_dependencies([sync]):
                sync = outer._averages.apply(outer._to_average)
        self.runner = QueueRunner(self._dummy, [sync])

    def init_tokens(self, count):
        """Returns the op that enqueues the first tokens."""
        outer = self._optimizer
        needed = outer._aggregate - outer._replicas
        if count == -1:
            count = outer._aggregate
        elif count < needed:
            raise ValueError("Too few tokens to finish the first step: %d (given) vs %d (needed)" % (count, needed))
        graph = get_default_graph()
        if count <= 0:
            return no_op("no_init_tokens")
        with graph.device(self._step.device or None), graph.name_scope(None):
            return self.tokens.enqueue_many(self._filled(count))


class PythonSyncHook(SessionRunHook):
    """The hook of SyncReplicasOptimizer.make_session_run_hook for an optimizer written in Python."""

    def __init__(self, sync, is_chief, num_tokens):
        self._sync, self._is_chief, self._tokens = sync, is_chief, num_tokens
        self._runner = None

    def begin(self):
        made = self._sync._nodes("make_session_run_hook")
        self._local_init = made.chief_init if self._is_chief else made.local_init
        self._first = self._sync.get_init_tokens_op(self._tokens) if self._is_chief else None
        self._close = made.tokens.close(cancel_pending_enqueues=True) if self._is_chief else None
        self._runner = made.runner if self._is_chief else None

    def after_create_session(self, session, coord):
        session.run(self._local_init)
        if self._is_chief:
            session.run(self._first)
            self._runner.create_threads(session, coord=coord, daemon=True, start=True)

