"""tf.nn: dilation and erosion, CTC losses with dense labels, averages of losses, dropout with a given sampler."""
from weft._core.framework import dtypes
from weft._core.framework.build import constant_value, convert_to_tensor, either, op
from weft._core.framework.graph import name_scope
from weft._core.nn import nn
from weft._core.ops import array_ops, math_ops, stateless
from weft._core.ops.sparse import SparseTensor


def dilation2d(input, filter=None, strides=None, rates=None, padding=None, name=None, filters=None, dilations=None):
    """Returns the largest sum of a filter and each window of an image.

    Args:
      input: images, a tensor of four dimensions.
      filter: a filter of the shape [height, width, channels].
      strides: the distance of windows, four numbers.
      rates: the distance of the pixels of a window, four numbers.
      padding: 'SAME' or 'VALID'.
      name: a name for the operation.
      filters: another name of `filter`.
      dilations: another name of `rates`.
    """
    return op("Dilation2D", name, input=input, filter=either("filters", filters, "filter", filter), strides=list(strides),
              rates=list(either("dilations", dilations, "rates", rates)), padding=padding)


def erosion2d(value, kernel, strides, rates, padding, name=None):
    """Returns the smallest difference of each window of an image and a filter.

    Args:
      value: images, a tensor of four dimensions.
      kernel: a filter of the shape [height, width, channels].
      strides: the distance of windows, four numbers.
      rates: the distance of the pixels of a window, four numbers.
      padding: 'SAME' or 'VALID'.
      name: a name for the operation.
    """
    with name_scope(name, "erosion2d", [value, kernel]) as scope:
        return math_ops.negative(op("Dilation2D", scope, input=math_ops.negative(value), filter=array_ops.reverse_v2(kernel, [0, 1]),
                                    strides=list(strides), rates=list(rates), padding=padding))


# ---- losses ----

def compute_average_loss(per_example_loss, sample_weight=None, global_batch_size=None):
    """Returns the sum of losses divided by the number of examples.

    Args:
      per_example_loss: the loss of each example.
      sample_weight: the weight of each example, or None.
      global_batch_size: the number of examples of all replicas; by default the size of the first dimension.
    """
    losses = convert_to_tensor(per_example_loss)
    have = losses.dtype.base_dtype
    if sample_weight is not None:  # Losses are weighted as floats, and then converted back.
        as_float = losses if have.is_floating else math_ops.cast(losses, dtypes.float32)
        losses = math_ops.cast(as_float * math_ops.cast(convert_to_tensor(sample_weight), as_float.dtype), have)
    if global_batch_size is None:
        if losses.shape.ndims == 0:
            raise ValueError("per_example_loss must have at least one dimension, or global_batch_size must be given")
        global_batch_size = array_ops.shape(losses)[0] * 1  # the number of replicas
    count = convert_to_tensor(global_batch_size)
    if not count.dtype.is_integer:
        raise TypeError("global_batch_size must be an integer, not %r" % (global_batch_size,))
    return math_ops.div_no_nan(math_ops.reduce_sum(losses), math_ops.cast(count, have))


def scale_regularization_loss(regularization_loss):
    """Returns the sum of regularization losses divided by the number of replicas, which is 1 outside of a strategy.

    Args:
      regularization_loss: a tensor.
    """
    return math_ops.reduce_sum(math_ops.cast(convert_to_tensor(regularization_loss), dtypes.float32)) / 1.0


# ---- CTC ----

def collapse_repeated(labels, seq_length, name=None):
    """Returns sequences of labels without repetitions of the previous label, and their lengths.

    Args:
      labels: a matrix of labels, one sequence in each row.
      seq_length: the length of each sequence.
      name: a name for the operation.
    """
    with name_scope(name, "collapse_repeated_labels", [labels, seq_length]):
        labels = convert_to_tensor(labels, name="labels")
        seq_length = convert_to_tensor(seq_length, name="seq_length")
        width = array_ops.shape(labels)[1]
        first = array_ops.ones_like(labels[:, :1], dtype=dtypes.bool)
        new = array_ops.concat([first, math_ops.not_equal(labels[:, 1:], labels[:, :-1])], 1)
        new = math_ops.logical_and(new, array_ops.sequence_mask(seq_length, maxlen=width))
        count = math_ops.reduce_sum(math_ops.cast(new, dtypes.int32), 1)
        most = math_ops.reduce_max(count)
        places = array_ops.where(array_ops.sequence_mask(count, maxlen=most))
        sizes = math_ops.cast(array_ops.stack([array_ops.shape(labels)[0], most]), dtypes.int64)
        made = array_ops.scatter_nd(places, array_ops.boolean_mask(labels, new), sizes)
        made.set_shape([labels.shape[0].value, None])
        return made, math_ops.cast(count, seq_length.dtype)


def ctc_unique_labels(labels, name=None):
    """Returns the distinct labels of each row, padded with zeros, and for each label its index among them.

    Args:
      labels: a matrix of labels, one sequence in each row.
      name: a name for the operation.
    """
    from weft._core.ops.functional_ops import map_fn
    with name_scope(name, "ctc_unique_labels", [labels]):
        labels = convert_to_tensor(labels, name="labels")

        def one(row):
            found = op("Unique", x=row, out_idx=dtypes.int32)
            values, index = found[0], found[1]
            padded = array_ops.pad(values, [[0, array_ops.shape(row)[0] - array_ops.shape(values)[0]]])
            return [math_ops.cast(padded, dtypes.int64), index]
        return map_fn(one, labels, dtype=[dtypes.int64, dtypes.int32])


def ctc_loss_v2(labels, logits, label_length, logit_length, logits_time_major=True, unique=None, blank_index=None, name=None):
    """Returns the loss of connectionist temporal classification, with labels as a matrix or a SparseTensor.

    Args:
      labels: labels, one sequence in each row: a matrix, or a SparseTensor.
      logits: scores of the labels over time.
      label_length: the length of each row of labels; None for a SparseTensor.
      logit_length: the number of time steps of each sequence.
      logits_time_major: whether the first dimension of logits is time; else it is the batch.
      unique: the result of `ctc_unique_labels`; the loss is the same without it.
      blank_index: which label is the blank, negative from the end; by default 0 for a matrix.
      name: a name for the operation.
    """
    with name_scope(name, "ctc_loss", [logits, label_length, logit_length]):
        logits, dense = convert_to_tensor(logits, name="logits"), not isinstance(labels, SparseTensor)
        logits = logits if logits_time_major else array_ops.transpose(logits, [1, 0, 2])
        if not dense and blank_index is None:
            raise ValueError("Argument `blank_index` must be provided when labels is a SparseTensor.")
        # The op refuses a row without labels: such a row gets one label, and its loss is computed separately.
        if dense:
            label_length = convert_to_tensor(label_length, name="label_length")
            labels = _sparse_rows(convert_to_tensor(labels, name="labels"), math_ops.maximum(label_length, 1))
        classes = logits.shape.as_list()[2] if logits.shape.ndims == 3 else None
        classes = array_ops.shape(logits)[2] if classes is None else classes
        blank = 0 if blank_index is None else blank_index
        blank = blank + classes if blank < 0 else blank
        # The op expects the blank as the last class, so it is moved there, and the labels above it are decremented.
        logits = array_ops.concat([logits[:, :, :blank], logits[:, :, blank + 1:], logits[:, :, blank:blank + 1]], 2)
        shifted = math_ops.cast(array_ops.where(labels.values < blank, labels.values, labels.values - 1), dtypes.int32)
        logit_length = math_ops.cast(logit_length, dtypes.int32)
        shifted = math_ops.maximum(shifted, 0) if dense else shifted
        loss = nn.ctc_loss(SparseTensor(labels.indices, shifted, labels.dense_shape), logits, logit_length)
        return array_ops.where(math_ops.equal(label_length, 0), _loss_of_blanks(logits, logit_length), loss) if dense else loss


def _loss_of_blanks(logits, lengths):
    """Returns the loss of sequences without labels, which have the blank, the last class, at every time step."""
    inside = math_ops.cast(array_ops.sequence_mask(lengths, maxlen=array_ops.shape(logits)[0]), logits.dtype)
    return -math_ops.reduce_sum(nn.log_softmax(logits)[:, :, -1] * array_ops.transpose(inside), 0)


def _sparse_rows(labels, lengths):
    """Returns the first elements of each row of a matrix as a SparseTensor."""
    inside = array_ops.sequence_mask(lengths, maxlen=array_ops.shape(labels)[1])
    places = array_ops.where(inside)
    return SparseTensor(places, array_ops.gather_nd(labels, places), array_ops.shape(labels, out_type=dtypes.int64))


def ctc_beam_search_decoder_v2(inputs, sequence_length, beam_width=100, top_paths=1):
    """Returns the most probable label sequences by beam search.

    Args:
      inputs: logits, a tensor of [time, batch, classes].
      sequence_length: the number of time steps of each sequence.
      beam_width: how many prefixes are followed.
      top_paths: how many results for each sequence.
    """
    return nn.ctc_beam_search_decoder(inputs, sequence_length, beam_width=beam_width, top_paths=top_paths, merge_repeated=False)


# ---- dropout ----

def general_dropout(x, rate, uniform_sampler, noise_shape=None, name=None):
    """Applies dropout with random numbers from a given function.

    Args:
      x: a tensor of floats.
      rate: the part of the elements that becomes zero.
      uniform_sampler: a function of `shape` and `dtype` that gives numbers in [0, 1).
      noise_shape: the shape of the random numbers; where it is 1, elements are dropped together.
      name: a name for the operation.
    """
    with name_scope(name, "dropout", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_floating:
            raise ValueError("`x.dtype` must be a floating point tensor. Received: x.dtype=%s" % x.dtype)
        known = constant_value(rate) if hasattr(rate, "op") else rate
        if known is not None:
            if not 0 <= known < 1:
                raise ValueError("`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate=%s" % rate)
            if known == 0:
                return x
        shape = array_ops.shape(x) if noise_shape is None else noise_shape
        drawn = uniform_sampler(shape=shape, dtype=x.dtype)
        rate = convert_to_tensor(rate, x.dtype)
        kept = math_ops.cast(math_ops.greater_equal(drawn, rate), x.dtype)
        made = x * (1 / (1 - rate)) * kept
        made.set_shape(x.shape)
        return made


def stateless_dropout(x, rate, seed, rng_alg=None, noise_shape=None, name=None):
    """Applies dropout with random numbers that depend only on a seed.

    Args:
      x: a tensor of floats.
      rate: the part of the elements that becomes zero.
      seed: two integers.
      rng_alg: the generator: None, 'auto_select' or 'philox'.
      noise_shape: the shape of the random numbers; where it is 1, elements are dropped together.
      name: a name for the operation.
    """
    if rng_alg not in (None, "auto_select", "philox", 1, 3):
        raise NotImplementedError("tf.nn.experimental.stateless_dropout(rng_alg=%r): Weft supports only 'philox'" % (rng_alg,))

    def sampler(shape, dtype):
        return stateless.stateless_uniform(shape, seed, dtype=dtype)
    return general_dropout(x, rate, sampler, noise_shape, name or "stateless_dropout")
