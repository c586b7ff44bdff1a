"""Recurrent networks: unrolled over a list of inputs, or as a loop. rnn_cell.py has the cells."""
from weft._core.framework import dtypes, tensor_shape
from weft._core.framework.build import constant, convert_to_tensor
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import Tensor, control_dependencies
from weft._core.framework.nest import flatten, pack_like
from weft._core.nn.rnn_cell import (  # noqa: F401 - programs import cells from here
    BasicLSTMCell,
    BasicRNNCell,
    DeviceWrapper,
    DropoutWrapper,
    GRUCell,
    LSTMCell,
    LSTMStateTuple,
    MultiRNNCell,
    ResidualWrapper,
    RNNCell,
)
from weft._core.ops import array_ops, math_ops
from weft._core.ops.control_flow import Assert, while_loop
from weft._core.ops.functional_ops import TensorArray
from weft._core.ops.variable_scope import get_variable_scope, variable_scope


def _cache_weights(scope):
    """Makes the weights be read once, where the program's device function places the read, and not at each time step.
    """
    if scope.caching_device is None:
        scope.set_caching_device(lambda op: op.device)


def _check_cell(cell):
    """Raises TypeError unless the object can be used as a cell."""
    missing = [n for n in ("output_size", "state_size") if not hasattr(cell, n)]
    if not hasattr(cell, "zero_state") and not hasattr(cell, "get_initial_state"):
        missing.append("zero_state")
    if missing or not callable(cell):
        raise TypeError("The argument 'cell' (%r) is not an RNNCell: %s" % (
            cell, "it has no %s" % ", ".join(missing) if missing else "it cannot be called"))


def static_rnn(cell, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
    _check_cell(cell)
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")
    with variable_scope(scope or "rnn") as outer:
        _cache_weights(outer)
        first = convert_to_tensor(inputs[0])
        batch = first.shape.as_list()[0]
        state = initial_state
        if state is None:
            if dtype is None:
                raise ValueError("If no initial_state is provided, dtype must be specified")
            state = cell.zero_state(array_ops.shape(first)[0] if batch is None else batch, dtype)
        outputs, lengths = [], _lengths(sequence_length)
        for i, x in enumerate(inputs):
            if i == 1:
                get_variable_scope().reuse_variables()  # This is for cells that make variables directly in this scope.
            out, new = cell(x, state)
            if lengths is not None:
                alive = i < lengths
                out = _masked(alive, out, array_ops.zeros_like(out))
                new = pack_like(new, [_masked(alive, a, b) for a, b in zip(flatten(new), flatten(state))])
            state = new
            outputs.append(out)
        return outputs, state


rnn = static_rnn


def static_state_saving_rnn(cell, inputs, state_saver, state_name, sequence_length=None, scope=None):
    """Runs a cell over a list of inputs, beginning with a saver's state, and saves the last state in it.

    Args:
      cell: an RNNCell.
      inputs: a list of tensors, one for each step.
      state_saver: an object with `state(name)` and `save_state(name, value)`.
      state_name: the name of the state, or a tuple of names if the cell has several.
      sequence_length: the lengths of the rows.
      scope: the variable scope; "rnn" by default.

    Returns:
      The list of outputs, and the last state; the last output waits until the state is saved.
    """
    several = isinstance(cell.state_size, (list, tuple))
    if several != isinstance(state_name, (list, tuple)):
        raise ValueError("Argument `state_name` should be the same type as `cell.state_size`. Received: state_name=%s, "
                         "cell.state_size=%s." % (state_name, cell.state_size))
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("Argument `inputs` must be a sequence. Received: %s" % (inputs,))
    if not inputs:
        raise ValueError("Argument `inputs` must not be empty.")
    names = flatten(state_name) if several else [state_name]
    if len(names) != len(flatten(cell.state_size)):
        raise ValueError("Number of elements in `state_name` and `cell.state_size` are mismatched. Received: state_name=%s, "
                         "cell.state_size=%s." % (state_name, cell.state_size))
    start = [state_saver.state(name) for name in names]
    first = pack_like(cell.state_size, start) if several else start[0]
    outputs, state = static_rnn(cell, inputs, first, sequence_length=sequence_length, scope=scope)
    saved = [state_saver.save_state(name, value) for name, value in zip(names, flatten(state))]
    with control_dependencies(saved):
        outputs[-1] = pack_like(outputs[-1], [array_ops.identity(x) for x in flatten(outputs[-1])])
        kept = [array_ops.identity(x) for x in flatten(state)]
    return outputs, pack_like(state, kept) if several else kept[0]


def _masked(alive, new, old):
    """Returns the new value, or the old one in rows whose sequence has ended."""
    return array_ops.where(alive, new, old)


def _lengths(sequence_length):
    return None if sequence_length is None else math_ops.cast(convert_to_tensor(sequence_length), dtypes.int32)


def _turned(x, lengths, time_axis):
    """Returns x reversed along the time axis; with lengths, each row is reversed up to its length."""
    if lengths is None:
        return array_ops.reverse(x, [time_axis])
    return array_ops.reverse_sequence(x, lengths, seq_axis=time_axis, batch_axis=1 - time_axis)


def bidirectional_dynamic_rnn(cell_fw, cell_bw, inputs, sequence_length=None, initial_state_fw=None, initial_state_bw=None,
                              dtype=None, parallel_iterations=None, swap_memory=False, time_major=False, scope=None):
    """Returns ((outputs forwards, outputs backwards), (state forwards, state backwards))."""
    axis, lengths = 0 if time_major else 1, _lengths(sequence_length)
    with variable_scope(scope or "bidirectional_rnn"):
        x = convert_to_tensor(inputs)
        with variable_scope("fw") as inner:
            ahead, first = dynamic_rnn(cell_fw, x, lengths, initial_state_fw, dtype, parallel_iterations, swap_memory, time_major,
                                       scope=inner)
        with variable_scope("bw") as inner:
            back, last = dynamic_rnn(cell_bw, _turned(x, lengths, axis), lengths, initial_state_bw, dtype, parallel_iterations,
                                     swap_memory, time_major, scope=inner)
    return (ahead, _turned(back, lengths, axis)), (first, last)


def static_bidirectional_rnn(cell_fw, cell_bw, inputs, initial_state_fw=None, initial_state_bw=None, dtype=None,
                             sequence_length=None, scope=None):
    """Returns (outputs of both directions concatenated, state forwards, state backwards)."""
    lengths = _lengths(sequence_length)

    def turned(xs):
        return xs[::-1] if lengths is None else array_ops.unstack(_turned(array_ops.stack(xs), lengths, 0))
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as inner:
            ahead, first = static_rnn(cell_fw, inputs, initial_state_fw, dtype, lengths, scope=inner)
        with variable_scope("bw") as inner:
            back, last = static_rnn(cell_bw, turned(list(inputs)), initial_state_bw, dtype, lengths, scope=inner)
        backward = turned(back)
    return [array_ops.concat([a, b], 1) for a, b in zip(ahead, backward)], first, last


def raw_rnn(cell, loop_fn, parallel_iterations=None, swap_memory=False, scope=None):
    """Runs a loop that loop_fn(time, output, state, loop_state) controls. Returns (TensorArray, state, loop_state)."""
    with variable_scope(scope or "rnn") as outer:
        _cache_weights(outer)
        time = convert_to_tensor(0)
        done, first, state, emit, loop_state = loop_fn(time, None, None, None)
        inputs, states, kept = flatten(first), flatten(state), [] if loop_state is None else flatten(loop_state)
        rows = array_ops.shape(inputs[0])[0]
        like = emit if emit is not None else cell.output_size
        kinds = [e.dtype.base_dtype if emit is not None else inputs[0].dtype.base_dtype for e in flatten(like)]
        widths = [e.shape.as_list() if emit is not None else [e] for e in flatten(like)]
        outs = [TensorArray(k, 0, dynamic_size=True, element_shape=[inputs[0].shape.as_list()[0]] + w) for k, w in zip(kinds, widths)]
        blank = [array_ops.zeros(array_ops.concat([array_ops.stack([rows]), w], 0) if w else array_ops.stack([rows]), k)
                 for k, w in zip(kinds, widths)]

        def body(i, ended, *rest):
            at = [len(outs), len(outs) + len(inputs), len(outs) + len(inputs) + len(states)]
            flows, xs, old, more = rest[:at[0]], rest[at[0]:at[1]], rest[at[1]:at[2]], rest[at[2]:]
            made, new = cell(pack_like(first, list(xs)), pack_like(state, list(old)))
            then, x, new, out, extra = loop_fn(i + 1, made, new, pack_like(loop_state, list(more)) if kept else None)
            out = [_masked(ended, b, o) for b, o in zip(blank, flatten(made if out is None else out))]
            new = [_masked(ended, a, b) for a, b in zip(old, flatten(new))]
            flows = [ta._with(f).write(i, o).flow for ta, f, o in zip(outs, flows, out)]
            return [i + 1, math_ops.logical_or(then, ended)] + flows + flatten(x) + new + (flatten(extra) if kept else [])
        begin = [time, done] + [ta.flow for ta in outs] + inputs + states + kept
        loop = while_loop(lambda i, ended, *_: math_ops.logical_not(math_ops.reduce_all(ended)), body, begin,
                          return_same_structure=True, parallel_iterations=parallel_iterations or 32)
        rest = loop[2 + len(outs):]
        found = [ta._with(f) for ta, f in zip(outs, loop[2:])]
        last = pack_like(state, rest[len(inputs):len(inputs) + len(states)])
        return pack_like(like, found), last, pack_like(loop_state, rest[len(inputs) + len(states):]) if kept else None


def _time_first(x):
    """Returns (batch, time, ...) transposed to (time, batch, ...), or the reverse."""
    rank = x.shape.ndims
    if rank is None:
        return array_ops.transpose(x, array_ops.concat([[1, 0], math_ops.range(2, array_ops.rank(x))], 0))
    return array_ops.transpose(x, [1, 0] + list(range(2, rank)))


def _checked_lengths(lengths, batch):
    """Returns the lengths with a check that there is one for each row."""
    have, wanted = array_ops.shape(lengths), array_ops.stack([batch])
    check = Assert(math_ops.reduce_all(math_ops.equal(have, wanted)), [
        "Expected shape for Tensor %s is " % lengths.name, wanted, " but saw shape: ", have])
    with control_dependencies([check]):
        return array_ops.identity(lengths, name="CheckSeqLen")


def _known(flat, axis):
    """Returns the size of an axis of the inputs if it is known, or None."""
    sizes = [x.shape.as_list()[axis] for x in flat if x.shape.ndims is not None and x.shape.ndims > axis]
    return next((n for n in sizes if n is not None), None)


def dynamic_rnn(cell, inputs, sequence_length=None, initial_state=None, dtype=None, parallel_iterations=None,
                swap_memory=False, time_major=False, scope=None):
    _check_cell(cell)
    with variable_scope(scope or "rnn") as outer:
        _cache_weights(outer)
        flat = [convert_to_tensor(x) for x in flatten(inputs)]
        flat = flat if time_major else [_time_first(x) for x in flat]
        for x in flat:
            x.shape.with_rank_at_least(3)
        lengths = _lengths(sequence_length)
        if lengths is not None:
            if lengths.shape.ndims not in (None, 1):
                raise ValueError("sequence_length must be a vector of length batch_size, but saw shape: %s" % lengths.shape)
            lengths = array_ops.identity(lengths, name="sequence_length")
        batch = _known(flat, 1)
        rows = array_ops.shape(flat[0])[1] if batch is None else batch
        if initial_state is None:
            if dtype is None:
                raise ValueError("If no initial_state is provided, argument `dtype` must be specified")
            make = getattr(cell, "get_initial_state", None)
            initial_state = cell.zero_state(rows, dtype) if make is None else make(inputs=None, batch_size=rows, dtype=dtype)
        lengths = None if lengths is None else _checked_lengths(lengths, rows)
        outputs, state = _dynamic_loop(cell, pack_like(inputs, flat), initial_state, lengths, batch, rows, dtype,
                                       dict(parallel_iterations=parallel_iterations or 32, swap_memory=swap_memory))
        outputs = outputs if time_major else [_time_first(x) for x in outputs]
        return pack_like(cell.output_size, outputs), state


def _size(of):
    """Returns one size of an output as a list."""
    return tensor_shape.TensorShape(of).as_list()


def _dynamic_loop(cell, inputs, initial_state, lengths, batch, rows, dtype, options):
    """Returns the outputs of all steps, one tensor for each part, and the last state.

    The loop ends after the longest row.
    """
    flat, state = flatten(inputs), [convert_to_tensor(s) for s in flatten(initial_state)]
    steps, sizes = _known(flat, 0), [_size(s) for s in flatten(cell.output_size)]
    n = array_ops.shape(flat[0])[0]
    kind = state[0].dtype.base_dtype if dtype is None else as_dtype(dtype)
    blank = [array_ops.zeros(array_ops.concat([array_ops.stack([rows]), s], 0), kind) for s in sizes] if lengths is not None else []
    longest = n if lengths is None else math_ops.reduce_max(lengths)
    time = constant(0, dtypes.int32, name="time")
    outs = [TensorArray(kind, n, element_shape=[batch] + s) for s in sizes]
    sources = [TensorArray(x.dtype.base_dtype, n).unstack(x) for x in flat]
    end = math_ops.minimum(n, math_ops.maximum(1, longest))

    def body(i, now, *rest):
        flows, old = rest[:len(outs)], rest[len(outs):]
        following = i + 1
        row = [s.read(now) for s in sources]
        for r, x in zip(row, flat):
            r.set_shape([batch] + x.shape.as_list()[2:] if x.shape.ndims is not None else None)
        over = None if lengths is None else now >= lengths
        made, new = cell(pack_like(inputs, row), pack_like(initial_state, list(old)))
        made, new = flatten(made), flatten(new)
        if over is not None:
            made = [_masked(over, b, m) for b, m in zip(blank, made)]
            new = [_masked(over, a, b) if isinstance(b, Tensor) and b.shape.ndims != 0 else b for a, b in zip(old, new)]
        flows = [ta._with(f).write(now, m).flow for ta, f, m in zip(outs, flows, made)]
        return [following, now + 1] + flows + new
    counter = constant(0, dtypes.int32, name="while/iteration_counter")
    begin = [counter, time] + [ta.flow for ta in outs] + state
    loop = while_loop(lambda i, now, *_: math_ops.logical_and(i < n, now < end), body, begin, return_same_structure=True,
                      shape_invariants=[tensor_shape.scalar()] * 2 + [tensor_shape.TensorShape(None)] * len(outs) + [
                          _state_shape(s, batch) for s in state], **options)
    outputs = [ta._with(f).stack() for ta, f in zip(outs, loop[2:])]
    for x, s in zip(outputs, sizes):
        x.set_shape([steps, batch] + s)
    return outputs, pack_like(initial_state, loop[2 + len(outs):])


def _state_shape(s, batch):
    """Returns the shape of a state in all iterations, which must not be more specific than that of the first."""
    if s.shape.ndims in (None, 0):
        return s.shape
    first, *rest = s.shape.as_list()
    return tensor_shape.TensorShape([first and batch] + rest)


# the names before 1.0
rnn, bidirectional_rnn, state_saving_rnn = static_rnn, static_bidirectional_rnn, static_state_saving_rnn
