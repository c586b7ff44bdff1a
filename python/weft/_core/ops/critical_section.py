"""tf.CriticalSection: runs the ops of a function in only one step at a time."""
import collections

from weft._core.framework import dtypes, nest
from weft._core.framework.absent import Named
from weft._core.framework.build import op
from weft._core.framework.graph import Operation, control_dependencies, get_default_graph, name_scope
from weft._core.ops import array_ops, control_flow

_SECTIONS, _EXECUTIONS = "critical_sections", "critical_section_executions"
_Execution = collections.namedtuple("_ExecutionSignature", "op handle resources exclusive_resource_access")
_running = []  # the sections that are calling their function now


class CriticalSection(metaclass=Named):
    """A mutex of the graph: the ops that `execute` adds run for only one step, and one call of it, at a time.

    Args:
      name: a name for the operation.
      shared_name: the name by which sessions share the mutex.
      critical_section_def: not supported, as in TensorFlow.
      import_scope: has no effect, as in TensorFlow.
    """

    def __init__(self, name=None, shared_name=None, critical_section_def=None, import_scope=None):
        del import_scope  # TensorFlow uses it only for critical_section_def.
        if critical_section_def:
            if name is not None or shared_name is not None:
                raise ValueError("Arguments critical_section_def=%s and shared_name=%s are mutually exclusive. Please only specify one "
                                 "of them." % (critical_section_def, shared_name))
            raise ValueError("Argument `critical_section_def` is not supported.")
        with name_scope(None, "CriticalSection" if name is None else name) as scope:
            self._signature = ("", shared_name or scope, None)
            self._handle = op("MutexV2", scope, shared_name=shared_name or scope, container="")
        get_default_graph().add_to_collections(_SECTIONS, self)

    @property
    def name(self):
        return self._handle.op.name

    def execute(self, fn, exclusive_resource_access=True, name=None):
        """Returns what fn() returns, computed while this section is locked.

        Args:
          fn: a function without arguments that adds ops.
          exclusive_resource_access: whether no other section may use the resources that fn uses.
          name: a name for the operation.
        """
        graph = get_default_graph()
        with name_scope(name, "critical_section_execute"):
            lock = op("MutexLock", None, mutex=self._handle)
            before = graph._c.size()
            with control_dependencies([lock]):
                made = self._call(fn)
            resources = self._resources(graph, before)
            self._check_access(graph, resources, exclusive_resource_access)
            results = self._after(lock, made)
        graph.add_to_collections(_EXECUTIONS, _Execution(lock.op, self._handle, resources, exclusive_resource_access))
        return results

    def _call(self, fn):
        if any(section._handle is self._handle or section._signature == self._signature for section in _running):
            raise ValueError("Attempting to lock a CriticalSection (signature=%s) in which we are already running. This is illegal and "
                             "may cause deadlocks." % (self._signature,))
        _running.append(self)
        try:
            return fn()
        finally:
            _running.pop()

    def _resources(self, graph, before):
        """Returns the resources other than the mutex that the new nodes use."""
        found = []
        for i in range(before, graph._c.size()):
            for t in graph._operation(i).inputs:
                if t.dtype == dtypes.resource and t is not self._handle and not any(t is f for f in found):
                    found.append(t)
        return found

    def _check_access(self, graph, resources, exclusive):
        for other in graph.get_collection(_EXECUTIONS):
            if other.handle is self._handle or not (exclusive or other.exclusive_resource_access):
                continue
            shared = [r for r in resources if any(r is o for o in other.resources)]
            if shared:
                raise ValueError("This execution would access resources: %s. Either this lock (CriticalSection: %s) or lock '%s' "
                                 "(CriticalSection: %s) requested exclusive resource access of this resource. Did you mean to call execute "
                                 "with keyword argument exclusive_resource_access=False?" % (shared, self._handle, other, other.handle))

    @staticmethod
    def _after(lock, made):
        """Returns the results, which become available when the lock is released."""
        flat = nest.flatten(made)
        computed = [t if isinstance(t, Operation) else array_ops.identity(t) for t in flat]
        with control_dependencies(computed):
            released = op("ConsumeMutexLock", None, mutex_lock=lock)
        with control_dependencies([released]):
            after = [control_flow.no_op() if isinstance(t, Operation) else array_ops.identity(t) for t in computed]
        return nest.pack_like(made, after)
