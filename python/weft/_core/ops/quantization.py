"""tf.quantization.*: represents floats by small integers, or rounds them as if it did."""
from weft._core.framework import dtypes, wrap
from weft._core.framework.build import convert_to_tensor, op

wrap.functions("""
quantize_op QuantizeV2 input min_range max_range T mode='MIN_COMBINED' round_mode='HALF_AWAY_FROM_ZERO' name=None narrow_range=False axis=-1 ensure_minimum_range=0.01
quantize_v2 QuantizeV2 input min_range max_range T mode='MIN_COMBINED' name=None round_mode='HALF_AWAY_FROM_ZERO' narrow_range=False axis=-1 ensure_minimum_range=0.01
fake_quant_with_min_max_args FakeQuantWithMinMaxArgs inputs min=-6.0 max=6.0 num_bits=8 narrow_range=False
fake_quant_with_min_max_args_gradient FakeQuantWithMinMaxArgsGradient gradients inputs min=-6.0 max=6.0 num_bits=8 narrow_range=False
fake_quant_with_min_max_vars FakeQuantWithMinMaxVars inputs min max num_bits=8 narrow_range=False
fake_quant_with_min_max_vars_gradient FakeQuantWithMinMaxVarsGradient gradients inputs min max num_bits=8 narrow_range=False
fake_quant_with_min_max_vars_per_channel FakeQuantWithMinMaxVarsPerChannel inputs min max num_bits=8 narrow_range=False
fake_quant_with_min_max_vars_per_channel_gradient FakeQuantWithMinMaxVarsPerChannelGradient gradients inputs min max num_bits=8 narrow_range=False
quantize_and_dequantize_op QuantizeAndDequantizeV2 input input_min input_max signed_input=True num_bits=8 range_given=False round_mode='HALF_TO_EVEN' name=None narrow_range=False axis=-1
quantize_and_dequantize_v4_op QuantizeAndDequantizeV4 input input_min input_max signed_input=True num_bits=8 range_given=False round_mode='HALF_TO_EVEN' name=None narrow_range=False axis=-1
quantized_concat QuantizedConcat concat_dim values input_mins input_maxes
quantized_max_pool QuantizedMaxPool input min_input max_input ksize strides padding
quantized_avg_pool QuantizedAvgPool input min_input max_input ksize strides padding
""", globals())  # noqa: E501


def _axis(input, axis):
    """Returns the axis counted from the front, or -1 for None, which means the whole tensor."""
    if axis is None:
        return -1
    if axis < 0:
        axis += convert_to_tensor(input).shape.ndims
        if axis < 0:
            raise ValueError("input should have known rank to use negative axis.")
    return axis


def quantize(input, min_range, max_range, T, mode="MIN_COMBINED", round_mode="HALF_AWAY_FROM_ZERO", name=None,
             narrow_range=False, axis=None, ensure_minimum_range=0.01):
    """Returns floats as small integers, and the ends of the range that these represent.

    Args:
      input: a tensor of floats.
      min_range: the number that the lowest integer stands for.
      max_range: the number that the highest integer stands for.
      T: the type of the integers, such as tf.quint8.
      mode: 'MIN_COMBINED', 'MIN_FIRST' or 'SCALED'.
      round_mode: 'HALF_AWAY_FROM_ZERO' or 'HALF_TO_EVEN'.
      name: a name for the operation.
      narrow_range: whether the least integer is left out.
      axis: the dimension whose slices have a range of their own, or None.
      ensure_minimum_range: how far apart the ends are at least.
    """
    return quantize_op(input, min_range, max_range, T, mode, round_mode, name, narrow_range, _axis(input, axis),  # noqa: F821
                       ensure_minimum_range)


def dequantize(input, min_range, max_range, mode="MIN_COMBINED", name=None, axis=None, narrow_range=False,
               dtype=dtypes.float32):
    """Returns the numbers that small integers stand for.

    Args:
      input: a tensor of a quantized type.
      min_range: the number that the lowest integer stands for.
      max_range: the number that the highest integer stands for.
      mode: 'MIN_COMBINED', 'MIN_FIRST' or 'SCALED'.
      name: a name for the operation.
      axis: the dimension whose slices have a range of their own, or None.
      narrow_range: whether the least integer is left out.
      dtype: tf.float32 or tf.bfloat16.
    """
    return op("Dequantize", name, input=input, min_range=min_range, max_range=max_range, mode=mode, axis=_axis(input, axis),
              narrow_range=narrow_range, dtype=dtype)


def quantize_and_dequantize(input, input_min, input_max, signed_input=True, num_bits=8, range_given=False, round_mode="HALF_TO_EVEN",
                            name=None, narrow_range=False, axis=None):
    """Returns floats rounded to the values that num_bits integers can represent. The gradient passes through.

    Args:
      input: a tensor of floats.
      input_min: the least value, if range_given.
      input_max: the greatest value, if range_given.
      signed_input: whether the integers have a sign.
      num_bits: how many bits the integers have.
      range_given: whether the range is given; else it is that of the input.
      round_mode: 'HALF_TO_EVEN' or 'HALF_UP'.
      name: a name for the operation.
      narrow_range: whether the least integer is left out.
      axis: the dimension whose slices have a range of their own, or None.
    """
    return quantize_and_dequantize_op(input, input_min, input_max, signed_input, num_bits, range_given, round_mode, name,  # noqa: F821
                                      narrow_range, _axis(input, axis))


def quantize_and_dequantize_v2(input, input_min, input_max, signed_input=True, num_bits=8, range_given=False, round_mode="HALF_TO_EVEN",
                               name=None, narrow_range=False, axis=None):
    """Rounds as `quantize_and_dequantize` does, but with a gradient of zero outside of the range.

    Args:
      input: a tensor of floats.
      input_min: the least value, if range_given.
      input_max: the greatest value, if range_given.
      signed_input: whether the integers have a sign.
      num_bits: how many bits the integers have.
      range_given: whether the range is given; else it is that of the input.
      round_mode: 'HALF_TO_EVEN' or 'HALF_UP'.
      name: a name for the operation.
      narrow_range: whether the least integer is left out.
      axis: the dimension whose slices have a range of their own, or None.
    """
    return quantize_and_dequantize_v4_op(input, input_min, input_max, signed_input, num_bits, range_given, round_mode, name,  # noqa: F821
                                         narrow_range, _axis(input, axis))


def quantized_conv2d(input, filter, min_input, max_input, min_filter, max_filter, strides, padding, out_type=dtypes.qint32,
                     dilations=[1, 1, 1, 1], name=None):  # noqa: B006
    """Returns a convolution of quantized integers: 32-bit integers, and the ends of the range that they represent.

    Args:
      input: images of type quint8.
      filter: the filter, of type quint8.
      min_input: the number that the lowest integer of the input stands for.
      max_input: the number that the highest integer of the input stands for.
      min_filter: the number that the lowest integer of the filter stands for.
      max_filter: the number that the highest integer of the filter stands for.
      strides: four integers; those of rows and columns are equal, the others are 1.
      padding: 'SAME' or 'VALID'.
      out_type: tf.qint32.
      dilations: four ones.
      name: a name for the operation.
    """
    return op("QuantizedConv2D", name, input=input, filter=filter, min_input=min_input, max_input=max_input, min_filter=min_filter,
              max_filter=max_filter, strides=strides, padding=padding, out_type=out_type, dilations=dilations)
