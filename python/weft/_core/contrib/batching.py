"""tf.contrib.batching: joins the rows of concurrent runs in one batch, with the ops Batch and Unbatch."""
import functools

import weft as tf
from weft._core.framework import nest
from weft._core.framework.build import op
from weft._core.ops.batch_ops import nondifferentiable_batch_function


def batch_function_v1(num_batch_threads, max_batch_size, batch_timeout_micros, allowed_batch_sizes=None, grad_timeout_micros=60000000,
                      unbatch_timeout_micros=60000000, max_enqueued_batches=10):
    """Decorates a function of one tensor so that concurrent runs share one call, with their rows joined.

    Of the runs of a batch one computes it; the others wait for their rows.

    Args:
      num_batch_threads: how many threads schedule batches.
      max_batch_size: how many rows a batch has at most.
      batch_timeout_micros: how long the first rows of a batch wait for others.
      allowed_batch_sizes: the sizes to which batches are padded.
      grad_timeout_micros: how long gradients wait for those of the other runs.
      unbatch_timeout_micros: how long rows wait for the run that computes their batch.
      max_enqueued_batches: how many batches may wait.
    """
    def decorator(f):
        @functools.wraps(f)
        def decorated(*args):
            with tf.name_scope("batch") as name:
                for a in args:
                    if not isinstance(a, tf.Tensor):
                        raise ValueError("All arguments to functions decorated with `batch_function_v1`  are supposed to be "
                                         "Tensors; found %r" % (a,))
                found, index, number = op("Batch", in_tensors=list(args), num_batch_threads=num_batch_threads,
                                          max_batch_size=max_batch_size, batch_timeout_micros=batch_timeout_micros,
                                          allowed_batch_sizes=list(allowed_batch_sizes or []),
                                          max_enqueued_batches=max_enqueued_batches, shared_name=name,
                                          grad_timeout_micros=grad_timeout_micros)
                found = found if isinstance(found, (list, tuple)) else [found]
                made = f(*found)
                parts = [op("Unbatch", batched_tensor=t, batch_index=index, id=number, shared_name="%sunbatch_%d" % (name, i),
                            timeout_micros=unbatch_timeout_micros) for i, t in enumerate(nest.flatten(made))]
                return nest.pack_sequence_as(made, parts)
        return decorated
    return decorator


def batch_function(num_batch_threads, max_batch_size, batch_timeout_micros, allowed_batch_sizes=None, max_enqueued_batches=10):
    """Returns the decorator tf.nondifferentiable_batch_function, under its older name."""
    return nondifferentiable_batch_function(num_batch_threads, max_batch_size, batch_timeout_micros, allowed_batch_sizes,
                                            max_enqueued_batches)
