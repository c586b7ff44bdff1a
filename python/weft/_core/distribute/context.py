"""Keeps which strategy, and which of its replicas, the running code belongs to.

In a strategy's scope the code is outside all replicas (the cross-replica context).  In a function that a strategy runs
for each replica it is in one of them.  While a variable is updated it stands for one of its copies, the one with the
number `copy`.
"""
import contextlib
import threading

from weft._core.framework.graph import get_default_graph


class _Entered(threading.local):
    def __init__(self):
        self.stack = []


class _Entry:
    def __init__(self, graph, strategy, replica, copy):
        self.graph, self.strategy, self.replica, self.copy = graph, strategy, replica, copy


_entered = _Entered()
_default = None


def _top():
    graph = get_default_graph()
    for entry in reversed(_entered.stack):
        if entry.graph is graph:
            return entry
    return None


@contextlib.contextmanager
def entered(strategy, replica=None, copy=None):
    """Makes the code inside belong to a strategy, to one of its replicas, or to the update of a copy of a variable."""
    _entered.stack.append(_Entry(get_default_graph(), strategy, replica, copy))
    try:
        yield
    finally:
        _entered.stack.pop()


def default_strategy():
    """Returns the strategy of programs that use none: one replica, placed as without a strategy."""
    global _default
    if _default is None:
        from weft._core.distribute.strategy import DefaultStrategy
        _default = DefaultStrategy()
    return _default


_chosen = []  # set by experimental_set_strategy


def get_strategy():
    """Returns the strategy of the current scope, or the default one."""
    top = _top()
    return top.strategy if top is not None else _chosen[-1] if _chosen else default_strategy()


def has_strategy():
    """Returns whether there is a strategy other than the default one."""
    return get_strategy() is not default_strategy()


def get_replica_context():
    """Returns the current replica context, or None in a strategy's scope outside of replicas."""
    top = _top()
    if top is not None:
        return top.replica
    return None if _chosen else default_strategy().replica


def in_cross_replica_context():
    """Returns whether the code is in a strategy's scope, outside of all replicas."""
    return get_replica_context() is None


def copy_now():
    """Returns the number of the copy that a variable resolves to, or None outside of replicas and updates."""
    top = _top()
    if top is None:
        return None
    return top.replica._number if top.replica is not None else top.copy


def experimental_set_strategy(strategy):
    """Enters a strategy's scope for the rest of the program; None leaves it."""
    while _chosen:
        strategy_scopes.pop().close()
        _chosen.pop()
    if strategy is not None:
        held = contextlib.ExitStack()
        held.enter_context(strategy.scope())
        strategy_scopes.append(held)
        _chosen.append(strategy)


strategy_scopes = []


def get_loss_reduction():
    """Returns how the losses of replicas are combined: by their sum, or by their mean if an Estimator trains."""
    from weft._core.distribute.values import ReduceOp
    strategy = get_strategy()
    if not strategy._scale_losses_for_estimator:
        return ReduceOp.SUM
    last = getattr(get_default_graph(), "_last_loss_reduction", None)
    return ReduceOp.SUM if last in (ReduceOp.SUM, "sum", "weighted_sum") else ReduceOp.MEAN
