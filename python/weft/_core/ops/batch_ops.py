"""tf.nondifferentiable_batch_function: calls a function once for the rows of several concurrent runs."""
import functools

from weft._core.framework import nest
from weft._core.framework.build import op
from weft._core.framework.function import trace
from weft._core.framework.graph import Tensor, name_scope
from weft._core.framework.tensor_shape import TensorShape


def _rows_unknown(shape):
    """Returns the shape of a batch of such rows."""
    return shape if shape.ndims is None or shape.ndims == 0 else TensorShape([None] + shape.as_list()[1:])


def nondifferentiable_batch_function(num_batch_threads, max_batch_size, batch_timeout_micros, allowed_batch_sizes=None,
                                     max_enqueued_batches=10, autograph=True, enable_large_batch_splitting=True):
    """Decorates a function of tensors so that concurrent runs share one call, with their tensors joined along dimension
    0.

    A batch is processed when it has max_batch_size rows or batch_timeout_micros have passed.  It is padded to the next
    of allowed_batch_sizes.  autograph has no effect: Weft does not convert Python code.
    """
    def decorator(fn):
        @functools.wraps(fn)
        def decorated(*args):
            with name_scope("batch") as scope:
                wrong = [a for a in args if not isinstance(a, Tensor)]
                if wrong:
                    raise AttributeError("the arguments of a batch function are tensors, got %r (use tf.convert_to_tensor)" % wrong[0])
                form = []

                def body(*inner):
                    made = fn(*inner)
                    form.append(made)
                    return nest.flatten(made), None
                f, _ = trace(body, [a.dtype.base_dtype for a in args], [_rows_unknown(a.shape) for a in args],
                             getattr(fn, "__name__", "batched"))
                out = op("BatchFunction", in_tensors=list(args), captured_tensors=f.captured, f=f, Tout=f.types,
                         num_batch_threads=num_batch_threads, max_batch_size=max_batch_size,
                         batch_timeout_micros=batch_timeout_micros, allowed_batch_sizes=allowed_batch_sizes or [],
                         max_enqueued_batches=max_enqueued_batches, shared_name=scope,
                         enable_large_batch_splitting=enable_large_batch_splitting)
                return nest.pack_sequence_as(form[0], out if isinstance(out, (list, tuple)) else [out])
        return decorated
    return decorator
