"""tf.keras.backend.rnn: runs a step function over the time axis, unrolled or as a loop."""
import weft as tf
from weft._core.framework.nest import flatten, map_structure, pack_like
from weft._core.ops.special_math import where_v2


def _swapped(x):
    """Swaps the time and batch axes."""
    return tf.transpose(x, [1, 0] + list(range(2, x.shape.ndims)))


def _wide_mask(mask, like, fixed=1):
    """Returns a mask broadcast to the shape of a tensor, whose first axes are those of the mask."""
    for _ in range(like.shape.ndims - mask.shape.ndims):
        mask = tf.expand_dims(mask, -1)
    sizes = [1] * fixed + (like.shape.as_list()[fixed:] if None not in like.shape.as_list()[fixed:] else
                           tf.unstack(tf.shape(like))[fixed:])
    return tf.tile(mask, tf.stack(sizes) if any(not isinstance(n, int) for n in sizes) else sizes)


def _chosen(mask, new, old):
    """Returns for each pair of tensors the new one's rows where the mask is true, and the old one's elsewhere."""
    return [where_v2(_wide_mask(mask, n), n, o) for n, o in zip(new, old)]


class _Run:
    """One call of rnn; inputs are in time-major order."""

    def __init__(self, step, inputs, states, constants, mask, go_backwards, zero_output):
        self.step, self.inputs, self.states, self.constants = step, inputs, list(states), list(constants or [])
        self.mask, self.go_backwards, self.zero_output = mask, go_backwards, zero_output

    def call(self, x, states):
        return self.step(x, tuple(states) + tuple(self.constants))

    def unrolled(self):
        steps = flatten(self.inputs)[0].shape.as_list()[0]
        if not steps:
            raise ValueError("Unrolling requires a fixed number of timesteps.")
        rows = [tf.unstack(x) for x in flatten(self.inputs)]
        masks = None if self.mask is None else tf.unstack(self.mask)
        order = range(steps - 1, -1, -1) if self.go_backwards else range(steps)
        states, found, previous = tuple(self.states), [], None
        for i in order:
            output, new = self.call(pack_like(self.inputs, [r[i] for r in rows]), states)
            if masks is not None:
                flat = flatten(output)
                before = flatten(previous) if previous is not None else [tf.zeros_like(o) for o in flat]
                output = pack_like(output, _chosen(masks[i], flat, before))
                new = pack_like(states, _chosen(masks[i], flatten(new), flatten(states)))
            states, previous = new, output
            found.append(output)
        last, outputs = self._collected(found, masks, order)
        return last, outputs, states

    def _collected(self, found, masks, order):
        last = found[-1]
        kept = found
        stacked = pack_like(last, [tf.stack(parts) for parts in zip(*[flatten(f) for f in kept])])
        if masks is not None and self.zero_output:
            last = map_structure(lambda x: where_v2(_wide_mask(masks[order[-1]], x), x, tf.zeros_like(x)), last)
            ordered = tf.stack([masks[i] for i in order][-len(kept):])
            stacked = map_structure(lambda x: where_v2(_wide_mask(ordered, x, 2), x, tf.zeros_like(x)), stacked)
        return last, stacked

    def looped(self, input_length):
        flat = [tf.reverse(x, [0]) for x in flatten(self.inputs)] if self.go_backwards else flatten(self.inputs)
        count = tf.shape(flat[0])[0]
        steps = count if input_length is None else input_length
        first = pack_like(self.inputs, [x[0] for x in flat])
        sample, _ = self.call(first, tuple(self.states))
        arrays = tuple(tf.TensorArray(dtype=o.dtype, size=steps, element_shape=o.shape, tensor_array_name="output_ta_%d" % i)
                       for i, o in enumerate(flatten(sample)))
        readers = tuple(tf.TensorArray(dtype=x.dtype, size=count, tensor_array_name="input_ta_%d" % i).unstack(x)
                        for i, x in enumerate(flat))
        masks = None if self.mask is None else self._mask_reader(count)
        held = tuple(tf.zeros_like(o) for o in flatten(sample)) if masks is not None else ()

        def body(time, arrays, held, *states):
            states = pack_like(tuple(self.states), list(states))
            output, new = self.call(pack_like(self.inputs, [r.read(time) for r in readers]), states)
            made, new = flatten(output), flatten(new)
            for old, state in zip(flatten(states), new):
                if hasattr(state, "set_shape"):
                    state.set_shape(old.shape)
            if masks is not None:
                mask = masks.read(time)
                before = [tf.zeros_like(o) for o in made] if self.zero_output else held
                made, new = _chosen(mask, made, before), _chosen(mask, new, flatten(states))
            held = tuple(made) if held else ()
            return (time + 1, tuple(a.write(time, o) for a, o in zip(arrays, made)), held) + tuple(new)
        done = tf.while_loop(lambda time, *_: time < steps, body,
                             (tf.constant(0, tf.int32, name="time"), arrays, held) + tuple(flatten(self.states)),
                             parallel_iterations=32, swap_memory=True)
        outputs = [a.stack() for a in done[1]]
        last = [o[-1] for o in outputs]
        states = pack_like(tuple(self.states), list(done[3:]))
        return pack_like(sample, last), pack_like(sample, outputs), states

    def _mask_reader(self, count):
        mask = tf.reverse(self.mask, [0]) if self.go_backwards else self.mask
        return tf.TensorArray(dtype=tf.bool, size=count, tensor_array_name="mask_ta").unstack(mask)


def _with_time(x, steps, time_major):
    """Returns the outputs with their known static shape, batch first unless time_major is true."""
    shape = x.shape.as_list()
    shape[0] = steps
    x.set_shape(shape)
    return x if time_major else _swapped(x)


def rnn(step_function, inputs, initial_states, go_backwards=False, mask=None, constants=None, unroll=False, input_length=None,
        time_major=False, zero_output_for_mask=False, return_all_outputs=True):
    """Returns (last output, outputs, new states) of a step function that is called for each time step.

    The outputs are those of all steps: return_all_outputs has no effect in TensorFlow 1's mode.
    """
    if not time_major:
        inputs = map_structure(_swapped, inputs)
    flat = flatten(inputs)
    for x in flat:
        x.shape.with_rank_at_least(3)
    if mask is not None:
        mask = tf.cast(mask, tf.bool)
        mask = tf.expand_dims(mask, -1) if mask.shape.ndims == 2 else mask
        mask = mask if time_major else _swapped(mask)
    steps = flat[0].shape.as_list()[0]
    run = _Run(step_function, inputs, initial_states, constants, mask, go_backwards, zero_output_for_mask)
    last, outputs, states = run.unrolled() if unroll else run.looped(input_length)
    return last, map_structure(lambda x: _with_time(x, steps, time_major), outputs), states
