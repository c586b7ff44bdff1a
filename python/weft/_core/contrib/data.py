"""tf.contrib.data: the place of tf.data before 1.4, and transformations after that."""
from weft._core.data import structure
from weft._core.data.dataset import _int64
from weft._core.data.experimental import parallel_interleave
from weft._core.framework import tensor_shape
from weft._core.framework.graph import control_dependencies


def batch_and_drop_remainder(batch_size):
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(batch_size, padded_shapes, padding_values=None):
    return lambda dataset: dataset.padded_batch(batch_size, padded_shapes, padding_values, drop_remainder=True)


def sloppy_interleave(map_func, cycle_length, block_length=1):
    return parallel_interleave(map_func, cycle_length, block_length, sloppy=True)


def sliding_window_batch(window_size, stride=None, window_shift=None, window_stride=1):
    """Returns batches that are sliding windows of elements; an incomplete window at the end is left out.

    Args:
      window_size: how many elements a window has.
      stride: another name of window_shift.
      window_shift: how many elements the next window begins later; None: one.
      window_stride: how far apart the elements of a window are.
    """
    if stride is not None and window_shift is not None:
        raise ValueError("Cannot specify both `stride` and `window_shift`")
    shift = next((s for s in (window_shift, stride) if s is not None), 1)
    return lambda dataset: dataset._derived(
        "SlidingWindowDataset", dataset._form.batched(None), window_size=_int64(window_size, "window_size"),
        window_shift=_int64(shift, "window_shift"), window_stride=_int64(window_stride, "window_stride"))


def assert_element_shape(expected_shapes):
    """Returns a transformation that raises an error if a component has another shape.

    Args:
      expected_shapes: the shapes of the components, a nest as the elements are; None stands for sizes that may be anything.
    """
    def checked(tensor, expected):
        from weft._core.ops import array_ops, check_ops
        merged = tensor.shape.merge_with(expected)
        if merged.ndims is None or tensor.shape.is_fully_defined():
            tensor.set_shape(merged)
            return tensor
        known = [i for i, d in enumerate(merged.as_list()) if d is not None]
        rank = check_ops.assert_rank(tensor, merged.ndims)
        with control_dependencies([rank] if rank is not None else []):
            sizes = array_ops.gather(array_ops.shape(tensor), known or [0])
        same = [check_ops.assert_equal(sizes, [merged.as_list()[i] for i in known])] if known else [rank]
        with control_dependencies([c for c in same if c is not None]):
            made = array_ops.identity(tensor)
        made.set_shape(merged)
        return made

    def apply(dataset):
        shapes = [tensor_shape.TensorShape(s) for s in structure.along(dataset.element_spec, expected_shapes)]

        def body(*element):
            nest = element[0] if len(element) == 1 and not isinstance(dataset.element_spec, tuple) else element
            return structure.pack_like(dataset.element_spec, map(checked, structure.along(dataset.element_spec, nest), shapes))
        return dataset.map(body)
    return apply
