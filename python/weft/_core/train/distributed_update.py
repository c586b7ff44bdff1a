"""apply_gradients in a strategy: sums the gradients over the replicas, and updates each copy of a variable.

The updates are those of library_updates.py even for the library's optimizers, because the strategy decides on which
device each update runs.
"""
from weft._core.distribute import context
from weft._core.distribute.values import DistributedValues, ReduceOp
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import GraphKeys, IndexedSlices, control_dependencies, get_default_graph, name_scope
from weft._core.ops.control_flow import group


def scaled(loss):
    """Returns the loss of a replica, divided by the number of replicas if an Estimator asks for the mean."""
    count = context.get_strategy().num_replicas_in_sync
    if count > 1 and context.get_loss_reduction() == ReduceOp.MEAN:
        return loss * convert_to_tensor(1.0 / count, loss.dtype.base_dtype)
    return loss


def apply_in_replica(optimizer, pairs, global_step, name):
    """Runs apply_gradients in a replica, which waits for the gradients of the other replicas."""
    if context.in_cross_replica_context():
        raise RuntimeError("Use `_distributed_apply()` instead of `apply_gradients()` in a cross-replica context.")
    if all(g is None for g, _ in pairs):
        raise ValueError("No gradients provided for any variable: %s." % ([str(v) for _, v in pairs],))
    # Each replica may have made an optimizer; the first one is used.
    return context.get_replica_context().merge_call(
        lambda strategy, pairs: apply_merged(strategy, optimizer, pairs, global_step, name), args=(pairs,))


def _none(gradient):
    return gradient is None or (isinstance(gradient, DistributedValues) and all(v is None for v in gradient._values))


def apply_merged(strategy, optimizer, pairs, step, name):
    """Returns an op that updates all copies of the variables, once for all replicas."""
    optimizer.__dict__["_in_strategy"] = True
    extended, graph = strategy.extended, get_default_graph()
    pairs = [(g, v) for g, v in pairs if not _none(g)]
    variables = [v for _, v in pairs]
    gradients = extended.batch_reduce_to(ReduceOp.SUM, pairs) if strategy.num_replicas_in_sync > 1 else [g for g, _ in pairs]
    with graph.control_dependencies(None):
        optimizer._create_slots(variables)
    with name_scope(name, optimizer._name) as scope:
        optimizer._prepare()
        updates = [extended.update(v, lambda copy, g: _update(optimizer, g, copy), args=(g,), group=False)
                   for g, v in zip(gradients, variables)]
        devices = extended.non_slot_devices(variables)
        finished = extended.update_non_slot(devices, lambda made: optimizer._finish(made, "update"), args=(updates,))
        if step is None:
            done = group(finished, name=scope)
        else:
            with control_dependencies([finished]):
                stepped = extended.update(step, lambda copy: copy.assign_add(convert_to_tensor(1, copy.dtype.base_dtype),
                                                                             read_value=False))
            done = group(finished, stepped, name=scope)
    if done not in graph._collection(GraphKeys.TRAIN_OP):
        graph.add_to_collection(GraphKeys.TRAIN_OP, done)
    return done


def _update(optimizer, gradient, copy):
    """Returns the op that updates one copy of a variable."""
    gradient = gradient if isinstance(gradient, IndexedSlices) else convert_to_tensor(gradient)
    made = optimizer._update(gradient, copy)
    return getattr(made, "op", made)
