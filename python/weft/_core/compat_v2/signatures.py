"""Functions of tf.compat.v2 that differ from those of tf.compat.v1 in the names and the order of parameters alone.

A row is the signature of TensorFlow 2, and behind "->" the function of tf.compat.v1 that gets its arguments by name:
"OLD=NEW" renames one, and "NAME:=VALUE" is given always.  None is not passed on: it means the default of both.
A line that begins with spaces continues the row before.
"""
import ast
import inspect
import pkgutil

from weft._core.framework import dtypes

_ROWS = """
argmax(input, axis=None, output_type=int64, name=None)
argmin(input, axis=None, output_type=int64, name=None)
batch_to_space(input, block_shape, crops, name=None) -> batch_to_space_nd
boolean_mask(tensor, mask, axis=None, name='boolean_mask')
cond(pred, true_fn=None, false_fn=None, name=None)
convert_to_tensor(value, dtype=None, dtype_hint=None, name=None)
debugging.assert_all_finite(x, message, name=None)
debugging.assert_equal(x, y, message=None, summarize=None, name=None)
debugging.assert_greater(x, y, message=None, summarize=None, name=None)
debugging.assert_greater_equal(x, y, message=None, summarize=None, name=None)
debugging.assert_integer(x, message=None, name=None)
debugging.assert_less(x, y, message=None, summarize=None, name=None)
debugging.assert_less_equal(x, y, message=None, summarize=None, name=None)
debugging.assert_near(x, y, rtol=None, atol=None, message=None, summarize=None, name=None)
debugging.assert_negative(x, message=None, summarize=None, name=None)
debugging.assert_non_negative(x, message=None, summarize=None, name=None)
debugging.assert_non_positive(x, message=None, summarize=None, name=None)
debugging.assert_none_equal(x, y, summarize=None, message=None, name=None)
debugging.assert_positive(x, message=None, summarize=None, name=None)
debugging.assert_rank(x, rank, message=None, name=None)
debugging.assert_rank_at_least(x, rank, message=None, name=None)
debugging.assert_rank_in(x, ranks, message=None, name=None)
debugging.assert_scalar(tensor, message=None, name=None)
expand_dims(input, axis, name=None)
feature_column.categorical_column_with_vocabulary_file(key, vocabulary_file, vocabulary_size=None, dtype=string,
    default_value=None, num_oov_buckets=0)
gather(params, indices, validate_indices=None, axis=None, batch_dims=0, name=None)
gather_nd(params, indices, batch_dims=0, name=None)
gradients(ys, xs, grad_ys=None, name='gradients', gate_gradients=False, aggregation_method=None, stop_gradients=None,
    unconnected_gradients='none')
hessians(ys, xs, gate_gradients=False, aggregation_method=None, name='hessians')
image.crop_and_resize(image, boxes, box_indices, crop_size, method='bilinear', extrapolation_value=0.0, name=None)
image.draw_bounding_boxes(images, boxes, colors, name=None)
io.decode_csv(records, record_defaults, field_delim=',', use_quote_delim=True, na_value='', select_cols=None,
    name=None)
io.parse_example(serialized, features, example_names=None, name=None)
io.parse_single_example(serialized, features, example_names=None, name=None)
io.serialize_many_sparse(sp_input, out_type=string, name=None)
io.serialize_sparse(sp_input, out_type=string, name=None)
math.confusion_matrix(labels, predictions, num_classes=None, weights=None, dtype=int32, name=None)
math.count_nonzero(input, axis=None, keepdims=None, dtype=int64, name=None)
math.in_top_k(targets, predictions, k, name=None)
math.log_softmax(logits, axis=None, name=None)
math.softmax(logits, axis=None, name=None)
nn.avg_pool2d(input, ksize, strides, padding, data_format='NHWC', name=None) -> nn.avg_pool2d value=input
nn.batch_norm_with_global_normalization(input, mean, variance, beta, gamma, variance_epsilon,
    scale_after_normalization, name=None)
nn.conv1d(input, filters, stride, padding, data_format='NWC', dilations=None, name=None)
nn.conv2d(input, filters, strides, padding, data_format='NHWC', dilations=None, name=None)
nn.conv2d_transpose(input, filters, output_shape, strides, padding='SAME', data_format='NHWC', dilations=None,
    name=None)
nn.conv3d(input, filters, strides, padding, data_format='NDHWC', dilations=None, name=None)
nn.conv3d_transpose(input, filters, output_shape, strides, padding='SAME', data_format='NDHWC', dilations=None,
    name=None) -> nn.conv3d_transpose value=input
nn.convolution(input, filters, strides=None, padding='VALID', data_format=None, dilations=None, name=None) ->
    nn.convolution filter=filters
nn.crelu(features, axis=-1, name=None)
nn.ctc_loss(labels, logits, label_length, logit_length, logits_time_major=True, unique=None, blank_index=None,
    name=None) -> nn.ctc_loss_v2
nn.depth_to_space(input, block_size, data_format='NHWC', name=None)
nn.depthwise_conv2d(input, filter, strides, padding, data_format=None, dilations=None, name=None)
nn.dropout(x, rate, noise_shape=None, seed=None, name=None)
nn.embedding_lookup(params, ids, max_norm=None, name=None) -> nn.embedding_lookup partition_strategy:='div'
nn.embedding_lookup_sparse(params, sp_ids, sp_weights, combiner=None, max_norm=None, name=None,
    allow_fast_lookup=False) -> nn.embedding_lookup_sparse partition_strategy:='div'
nn.log_softmax(logits, axis=None, name=None)
nn.moments(x, axes, shift=None, keepdims=False, name=None)
nn.nce_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
    remove_accidental_hits=False, name='nce_loss') -> nn.nce_loss partition_strategy:='div'
nn.pool(input, window_shape, pooling_type, strides=None, padding='VALID', data_format=None, dilations=None, name=None)
nn.safe_embedding_lookup_sparse(embedding_weights, sparse_ids, sparse_weights=None, combiner='mean', default_id=None,
    max_norm=None, name=None, allow_fast_lookup=False) -> nn.safe_embedding_lookup_sparse partition_strategy:='div'
nn.sampled_softmax_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
    remove_accidental_hits=True, seed=None, name='sampled_softmax_loss') -> nn.sampled_softmax_loss
    partition_strategy:='div'
nn.separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding, data_format=None, dilations=None,
    name=None)
nn.sigmoid_cross_entropy_with_logits(labels=None, logits=None, name=None)
nn.softmax(logits, axis=None, name=None)
nn.softmax_cross_entropy_with_logits(labels, logits, axis=-1, name=None) -> nn.softmax_cross_entropy_with_logits_v2
nn.space_to_batch(input, block_shape, paddings, name=None) -> space_to_batch_nd
nn.space_to_depth(input, block_size, data_format='NHWC', name=None)
nn.sparse_softmax_cross_entropy_with_logits(labels, logits, name=None)
nn.sufficient_statistics(x, axes, shift=None, keepdims=False, name=None)
nn.weighted_cross_entropy_with_logits(labels, logits, pos_weight, name=None)
nn.weighted_moments(x, axes, frequency_weights, keepdims=False, name=None)
norm(tensor, ord='euclidean', axis=None, keepdims=None, name=None)
pad(tensor, paddings, mode='CONSTANT', constant_values=0, name=None)
random.poisson(shape, lam, dtype=float32, seed=None, name=None)
reduce_all(input_tensor, axis=None, keepdims=False, name=None)
reduce_any(input_tensor, axis=None, keepdims=False, name=None)
reduce_logsumexp(input_tensor, axis=None, keepdims=False, name=None)
reduce_max(input_tensor, axis=None, keepdims=False, name=None)
reduce_mean(input_tensor, axis=None, keepdims=False, name=None)
reduce_min(input_tensor, axis=None, keepdims=False, name=None)
reduce_prod(input_tensor, axis=None, keepdims=False, name=None)
reduce_sum(input_tensor, axis=None, keepdims=False, name=None)
reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None, name=None)
shape(input, out_type=int32, name=None)
size(input, out_type=int32, name=None)
space_to_batch(input, block_shape, paddings, name=None) -> space_to_batch_nd
sparse.add(a, b, threshold=0)
sparse.concat(axis, sp_inputs, expand_nonconcat_dims=False, name=None) -> sparse.concat
    expand_nonconcat_dim=expand_nonconcat_dims
sparse.segment_mean(data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False)
sparse.segment_sqrt_n(data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False)
sparse.segment_sum(data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False)
sparse.split(sp_input=None, num_split=None, axis=None, name=None)
squeeze(input, axis=None, name=None)
strings.length(input, unit='BYTE', name=None)
strings.reduce_join(inputs, axis=None, keepdims=False, separator='', name=None)
strings.split(input, sep=None, maxsplit=-1, name=None) -> strings.split result_type:='RaggedTensor'
strings.substr(input, pos, len, unit='BYTE', name=None)
strings.to_hash_bucket(input, num_buckets, name=None)
strings.to_number(input, out_type=float32, name=None)
test.assert_equal_graph_def(expected, actual)
transpose(a, perm=None, conjugate=False, name='transpose')
tuple(tensors, control_inputs=None, name=None)
while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True, swap_memory=False,
    maximum_iterations=None, name=None) -> while_loop return_same_structure:=True
"""
# NEW=OLD: other paths of the functions above, and functions whose rows are those of another name.
_ALSO = """
assert_equal=debugging.assert_equal assert_greater=debugging.assert_greater assert_less=debugging.assert_less
assert_rank=debugging.assert_rank linalg.norm=norm math.argmax=argmax math.argmin=argmin nn.in_top_k=math.in_top_k
math.reduce_all=reduce_all math.reduce_any=reduce_any math.reduce_logsumexp=reduce_logsumexp math.reduce_max=reduce_max
math.reduce_mean=reduce_mean math.reduce_min=reduce_min math.reduce_prod=reduce_prod math.reduce_sum=reduce_sum
"""


def _parameters(text):
    """Returns the parameters of a row as those of inspect; a bare word as a default is a type."""
    made = []
    for argument, default in _pairs(ast.parse("def f(%s): pass" % text).body[0].args):
        value = inspect.Parameter.empty
        if isinstance(default, ast.Name):
            value = dtypes.as_dtype(default.id)
        elif default is not None:
            value = ast.literal_eval(default)
        made.append(inspect.Parameter(argument.arg, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=value))
    return made


def _pairs(arguments):
    defaults = [None] * (len(arguments.args) - len(arguments.defaults)) + arguments.defaults
    return zip(arguments.args, defaults, strict=True)


def _function(row):
    """Returns (path, function) of a row."""
    left, _, right = row.partition(" -> ")
    path, _, text = left.rstrip(")").partition("(")
    target, *changes = (right or path).split()
    always = {k: ast.literal_eval(v) for k, v in (c.split(":=") for c in changes if ":=" in c)}
    renamed = {new: old for old, new in (c.split("=") for c in changes if ":=" not in c)}
    signature = inspect.Signature(_parameters(text))
    unset = {p.name: p.default for p in signature.parameters.values() if p.default not in (inspect.Parameter.empty, None)}

    def call(*args, **kwargs):
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError as e:
            raise TypeError("tf.compat.v2.%s: %s" % (path, e)) from None
        given = {renamed.get(k, k): v for k, v in {**unset, **given}.items() if v is not None}
        return pkgutil.resolve_name("weft:" + target)(**given, **always)
    call.__name__ = call.__qualname__ = path.rpartition(".")[2]
    call.__module__ = ("weft.compat.v2." + path).rpartition(".")[0]
    call.__signature__ = signature
    call.__doc__ = "Is tf.%s with the parameters of TensorFlow 2." % target
    return path, call


def _functions():
    made = dict(_function(row) for row in _ROWS.strip().replace("\n    ", " ").splitlines())
    made.update((new, made[old]) for new, old in (word.split("=") for word in _ALSO.split()))
    return made


FUNCTIONS = _functions()
