"""Runs a function once for each replica, one after the other; used by the strategies.

Each replica has a thread, but only one thread runs at a time.  A replica runs until it returns or calls merge_call; then
the next one does.  When all have called merge_call, the function given there runs once, outside of replicas, and the
replicas go on with its result.  The scopes that a replica is in are parked while others run.
"""
import contextlib
import threading

from weft._core.distribute import context
from weft._core.distribute.values import PerReplica, part, regroup
from weft._core.framework.absent import Named
from weft._core.framework.graph import get_default_graph
from weft._core.ops.variable_scope import get_variable_scope, variable_scope


class _Stopped(BaseException):
    """Ends the thread of a replica after another replica failed."""


class _Replica(threading.Thread):
    def __init__(self, run, number, device, fn, args, kwargs):
        super().__init__(daemon=True)
        self.run_of, self.number, self.device, self.call = run, number, device, (fn, args, kwargs)
        self.go, self.paused = threading.Semaphore(0), threading.Semaphore(0)
        self.done = self.stopped = False
        self.parked = self.error = self.result = self.merge = self.merged = None

    def run(self):
        self.go.acquire()
        try:
            if self.stopped:
                raise _Stopped
            with contextlib.ExitStack() as scopes:
                self.run_of.enter(scopes, self)
                fn, args, kwargs = self.call
                self.result = fn(*args, **kwargs)
        except _Stopped:
            pass
        except BaseException as e:  # noqa: BLE001 - the program's thread raises it again
            self.error = e
        finally:
            self.done = True
            self.paused.release()

    def turn(self):
        """Lets the replica run until it pauses or ends."""
        graph = self.run_of.graph
        if self.parked is not None:
            graph._c.unpark(self.parked[0])
            graph._devices += self.parked[1]
            graph._context, graph._controls = self.parked[2], self.parked[3]
            self.parked = None
        self.go.release()
        self.paused.acquire()
        if not self.done:
            self.park()

    def park(self):
        run = self.run_of
        graph = run.graph
        self.parked = (graph._c.park(run.depth), graph._devices[run.devices:], graph._context, graph._controls)
        del graph._devices[run.devices:]
        graph._context, graph._controls = run.context, run.controls

    def wait_for_merge(self, fn, args, kwargs):
        graph = self.run_of.graph
        self.merge = fn, args, kwargs, graph.get_name_scope(), list(graph._controls[len(self.run_of.controls):])
        self.paused.release()
        self.go.acquire()
        if self.stopped:
            raise _Stopped
        return self.merged


class Replicas:
    """One call of a function for each replica of a strategy."""

    def __init__(self, strategy, devices, fn, args, kwargs):
        self.strategy, self.graph, self.shared = strategy, get_default_graph(), {}
        graph = self.graph
        self.depth, self.devices, self.context = graph._c.depth(), len(graph._devices), graph._context
        self.controls = list(graph._controls)
        self.scope, self.prefix = get_variable_scope(), graph.get_name_scope()
        self.replicas = [_Replica(self, i, device, fn, part(args, i), part(kwargs, i)) for i, device in enumerate(devices)]
        for replica in self.replicas[1:]:
            replica.parked = (graph._c.park(self.depth), [], self.context, list(self.controls))

    def enter(self, scopes, replica):
        """Enters the scopes in which a replica begins."""
        scopes.enter_context(self.graph.as_default())
        own = ReplicaContext(self.strategy, replica.number)
        own._thread = replica
        scopes.enter_context(context.entered(self.strategy, own))
        if replica.number:
            scopes.enter_context(self.graph.name_scope("replica_%d" % replica.number))
        scopes.enter_context(variable_scope(self.scope, reuse=replica.number > 0 or self.scope.reuse, auxiliary_name_scope=False))
        scopes.enter_context(self.graph.device(replica.device))

    def run(self):
        try:
            for replica in self.replicas:
                replica.start()
            self._turns()
            while not all(r.done for r in self.replicas):
                self._merge()
                self._turns()
        finally:
            self._stop()
        return regroup([r.result for r in self.replicas])

    def _turns(self):
        for replica in self.replicas:
            if not replica.done:
                replica.turn()
            if replica.error is not None:
                raise replica.error
        left = [r.number for r in self.replicas if not r.done]
        if left and len(left) != len(self.replicas):
            raise RuntimeError("Some replicas called merge_call and others returned: replicas %s wait. Each replica must call "
                               "merge_call (an optimizer's apply_gradients does) equally often." % left)

    def _merge(self):
        calls = [r.merge for r in self.replicas]
        fn, _, _, prefix, _ = calls[0]
        args, kwargs = (regroup([c[i] for c in calls]) for i in (1, 2))
        controls = [c for call in calls for c in call[4]]
        with contextlib.ExitStack() as scopes:
            scopes.enter_context(context.entered(self.strategy))
            scopes.enter_context(self.graph.name_scope(prefix + "/" if prefix else None))
            if controls:
                scopes.enter_context(self.graph.control_dependencies(controls))
            made = fn(self.strategy, *args, **kwargs)
        for replica in self.replicas:
            replica.merged = part(made, replica.number)

    def _stop(self):
        """Ends the waiting threads, and leaves the scopes that they were in."""
        for replica in self.replicas:
            if replica.parked is not None and not replica.is_alive():
                self.graph._c.unpark(replica.parked[0])
            elif not replica.done:
                replica.stopped = True
                replica.turn()
            replica.join()


class ReplicaContext(metaclass=Named):
    """The context of a replica, as tf.distribute.get_replica_context() returns it."""

    _thread = None  # set if there are several replicas

    def __init__(self, strategy, replica_id_in_sync_group):
        self._strategy, self._number = strategy, replica_id_in_sync_group

    strategy = property(lambda self: self._strategy)
    num_replicas_in_sync = property(lambda self: self._strategy.num_replicas_in_sync)

    @property
    def replica_id_in_sync_group(self):
        """The number of the replica, as a tensor."""
        from weft._core.framework.build import constant
        return constant(self._strategy.extended._first_replica + self._number, "int32", name="replica_id_in_sync_group")

    @property
    def devices(self):
        return [[self._strategy.extended.worker_devices[self._number]]]

    def merge_call(self, merge_fn, args=(), kwargs=None):
        """Calls merge_fn(strategy, ...) once for all replicas, and returns to each its part of the result."""
        kwargs = kwargs or {}
        if self._thread is not None:
            return self._thread.wait_for_merge(merge_fn, args, kwargs)
        with context.entered(self._strategy):
            return part(merge_fn(self._strategy, *regroup([args]), **regroup([kwargs])), 0)

    def all_reduce(self, reduce_op, value, options=None):
        """Returns the sum or mean of a value over all replicas."""
        from weft._core.distribute.values import Mirrored, ReduceOp
        from weft._core.framework.nest import flatten, pack_like
        reduce_op = ReduceOp(reduce_op.upper()) if isinstance(reduce_op, str) else reduce_op

        def reduced(strategy, values):
            flat = [v if isinstance(v, (PerReplica, Mirrored)) else PerReplica([v] * len(strategy.extended.worker_devices)) for v in values]
            return strategy.extended.batch_reduce_to(reduce_op, [(v, v) for v in flat])
        return pack_like(value, self.merge_call(reduced, args=(flatten(value),)))

    def __enter__(self):
        self._entered = context.entered(self._strategy, self)
        self._entered.__enter__()

    def __exit__(self, *failure):
        return self._entered.__exit__(*failure)
