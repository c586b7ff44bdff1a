"""Public functions of rarely used ops, one line each."""
from weft._core.framework import dtypes, wrap
from weft._core.framework.build import op
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import name_scope

wrap.functions("""
fftnd FFTND input fft_length axes
ifftnd IFFTND input fft_length axes
rfftnd RFFTND input fft_length axes Tcomplex=8
irfftnd IRFFTND input fft_length axes Treal=1
conv2d_backprop_filter_v2 Conv2DBackpropFilterV2 input filter out_backprop strides padding use_cudnn_on_gpu=True explicit_paddings=[] data_format='NHWC' dilations=[1,1,1,1]
conv2d_backprop_input_v2 Conv2DBackpropInputV2 input filter out_backprop strides padding use_cudnn_on_gpu=True explicit_paddings=[] data_format='NHWC' dilations=[1,1,1,1]
approx_top_k ApproxTopK input k reduction_dimension=-1 recall_target=0.95 is_max_k=True reduction_input_size_override=-1 aggregate_to_topk=True
random_index_shuffle RandomIndexShuffle index seed max_index rounds=4
sdca_fprint SdcaFprint input
sdca_optimizer SdcaOptimizer sparse_example_indices sparse_feature_indices sparse_feature_values dense_features example_weights example_labels sparse_indices sparse_weights dense_weights example_state_data loss_type l1 l2 num_loss_partitions num_inner_iterations adaptative=True
sdca_shrink_l1 SdcaShrinkL1 weights l1 l2
quantized_relu_x QuantizedReluX features max_value min_features max_features out_type=12
""", globals())  # noqa: E501


def generate_bounding_box_proposals(scores, bbox_deltas, image_info, anchors, nms_threshold=0.7, pre_nms_topn=6000, min_size=16,
                                    post_nms_topn=300, name=None):
    return op("GenerateBoundingBoxProposals", name, scores=scores, bbox_deltas=bbox_deltas, image_info=image_info, anchors=anchors,
              nms_threshold=nms_threshold, pre_nms_topn=pre_nms_topn, min_size=min_size, post_nms_topn=post_nms_topn)


def approx_max_k(operand, k, reduction_dimension=-1, recall_target=0.95, reduction_input_size_override=-1, aggregate_to_topk=True,
                 name=None):
    """Returns the k largest elements along a dimension, and their indices.

    Args:
      operand: a tensor of floating-point numbers.
      k: how many elements.
      reduction_dimension: the dimension; on CPUs -1.
      recall_target: the share of them that must be found; on CPUs all are.
      reduction_input_size_override: the size that the recall is computed for; no effect on CPUs.
      aggregate_to_topk: whether partial results are joined; no effect on CPUs.
      name: a name for the op.
    """
    return approx_top_k(operand, k, reduction_dimension, recall_target, True, reduction_input_size_override, aggregate_to_topk,  # noqa: F821
                        name)


def approx_min_k(operand, k, reduction_dimension=-1, recall_target=0.95, reduction_input_size_override=-1, aggregate_to_topk=True,
                 name=None):
    return approx_top_k(operand, k, reduction_dimension, recall_target, False, reduction_input_size_override, aggregate_to_topk,  # noqa: F821
                        name)


approx_min_k.__doc__ = approx_max_k.__doc__.replace("largest", "smallest")


def sobol_sample(dim, num_results, skip=0, dtype=dtypes.float32, name=None):
    """Returns points of the Sobol sequence, which fill a cube evenly.

    Args:
      dim: the number of dimensions, at most 250.
      num_results: the number of points.
      skip: how many points to leave out first.
      dtype: float32 or float64.
      name: a name for the operation.
    """
    with name_scope(name, "sobol", [dim, num_results, skip]):
        return op("SobolSample", None, dim=dim, num_results=num_results, skip=skip, dtype=as_dtype(dtype))
