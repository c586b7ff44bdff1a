"""StrategyExtended.experimental_run_steps_on_iterator: runs several training steps in one step of the session."""
from weft._core.framework.nest import flatten
from weft._core.ops.control_flow import group


class MultiStepContext:
    """The context that the function of a step gets, in which it can store outputs."""

    def __init__(self):
        self._outputs, self._others = {}, {}

    last_step_outputs = property(lambda self: self._outputs)
    non_tensor_outputs = property(lambda self: self._others)
    run_op = None

    def set_last_step_output(self, name, output, reduce_op=None):
        """Stores an output of the last step, reduced over the replicas."""
        from weft._core.distribute import context
        strategy = context.get_strategy()
        self._outputs[name] = output if reduce_op is None else strategy.reduce(reduce_op, output, axis=None)

    def set_non_tensor_output(self, name, output):
        self._others[name] = output


def run_steps(strategy, fn, iterator, iterations, initial_loop_values):
    """Runs the steps in sequence: each waits for the previous one."""
    from weft._core.framework.graph import get_default_graph
    if not isinstance(iterations, int) or iterations < 1:
        raise ValueError("experimental_run_steps_on_iterator(iterations=%r): it must be a number from 1 on" % (iterations,))
    made = MultiStepContext()
    made._outputs.update(initial_loop_values or {})
    done = None
    with strategy.scope():
        for _ in range(iterations):
            with get_default_graph().control_dependencies([] if done is None else [done]):
                returned = fn(made, iterator.get_next())
                done = group(*[v for x in flatten(returned) for v in strategy.extended._local_results(x) if v is not None])
    made.run_op = done
    return made
