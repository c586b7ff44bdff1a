"""Functions of single ops that are in modules of tensorflow.python and have no public name."""
import numpy as np

from weft._core.framework import dtypes, wrap
from weft._core.framework.build import constant, constant_value, convert_to_tensor, op
from weft._core.framework.graph import Operation, Tensor, name_scope
from weft._core.framework.tensor_shape import TensorShape
from weft._core.ops import array_ops, math_ops
from weft._core.ops.batch_ops import nondifferentiable_batch_function as batch_function  # noqa: F401
from weft._core.ops.sparse import SparseTensor

wrap.functions("""
batch Batch in_tensors num_batch_threads max_batch_size batch_timeout_micros grad_timeout_micros max_enqueued_batches=10 allowed_batch_sizes=[] container='' shared_name='' batching_queue=''
unbatch Unbatch batched_tensor batch_index id timeout_micros container='' shared_name=''
save_v2 SaveV2 prefix tensor_names shape_and_slices tensors
restore_v2 RestoreV2 prefix tensor_names shape_and_slices dtypes
prevent_gradient PreventGradient input message=''
nth_element NthElement input n reverse=False
bucketize Bucketize input boundaries
mat_mul MatMul a b transpose_a=False transpose_b=False
""", globals())  # noqa: E501


def expand_dims_v2(input, axis, name=None):
    """Adds tf.expand_dims with the arguments of TensorFlow 2."""
    return array_ops.expand_dims(input, axis, name)


def shape_v2(input, out_type=None, name=None):
    """Adds tf.shape with the arguments of TensorFlow 2."""
    return array_ops.shape(input, name, dtypes.int32 if out_type is None else out_type)


def shape_internal(input, name=None, optimize=True, out_type=None):
    """Returns the shape of a tensor: a constant if it is known and optimize is true."""
    return _known_or(input, name, optimize, out_type or dtypes.int32, "Shape", lambda shape: shape)


def size_internal(input, name=None, optimize=True, out_type=dtypes.int32):
    """Returns the number of elements of a tensor: a constant if it is known and optimize is true."""
    return _known_or(input, name, optimize, out_type, "Size", lambda shape: _product(shape))


def _product(numbers):
    found = 1
    for n in numbers:
        found *= n
    return found


def _known_or(input, name, optimize, out_type, kind, value):
    with name_scope(name, kind, [input]) as scope:
        if isinstance(input, SparseTensor):
            whole = math_ops.cast(input.dense_shape, out_type)
            return whole if kind == "Shape" else math_ops.reduce_prod(whole, 0, name=scope)
        input = convert_to_tensor(input)
        if optimize and input.get_shape().is_fully_defined():
            name = "shape_as_tensor" if kind == "Shape" else scope
            return constant(value(input.get_shape().as_list()), out_type, name=name)
        return op(kind, scope, input=input, out_type=out_type)


def reduced_shape(input_shape, axes):
    """Returns the shape after a reduction over the axes that keeps their dimensions."""
    known, over = (constant_value(x) if isinstance(x, Tensor) else np.array(x) for x in (input_shape, axes))
    if known is not None and over is not None:
        made = known.copy()
        made[over] = 1
        return made
    input_shape, axes = math_ops.cast(input_shape, dtypes.int32), math_ops.cast(axes, dtypes.int32)
    rank = array_ops.size(input_shape)
    axes = (axes + rank) % rank
    return array_ops.dynamic_stitch([math_ops.range(rank), axes], [input_shape, array_ops.ones(array_ops.shape(axes), dtypes.int32)])


def is_constant(tensor_or_op):
    """Returns whether it is the tensor or the op of a constant."""
    if isinstance(tensor_or_op, Tensor):
        tensor_or_op = tensor_or_op.op
    return isinstance(tensor_or_op, Operation) and tensor_or_op.type == "Const"


def variable_op_v2(shape, dtype, name="Variable", container="", shared_name=""):
    """Returns the reference of a variable that has no initial value yet."""
    return op("VariableV2", name, shape=TensorShape(shape), dtype=dtype, container=container, shared_name=shared_name)


def string_split_v2(source, sep=None, maxsplit=-1):
    """Returns the words of each string of a vector, as a SparseTensor."""
    source = convert_to_tensor(source, dtypes.string)
    made = op("StringSplitV2", input=source, sep=convert_to_tensor("" if sep is None else sep, dtypes.string), maxsplit=maxsplit)
    return SparseTensor(*made)


def random_poisson_v2(shape, lam, dtype=dtypes.float32, seed=None, name=None):
    """Adds tf.random.poisson with the arguments of TensorFlow 2."""
    from weft._core.ops.random_ops import random_poisson
    return random_poisson(lam, shape, dtype, seed, name)
