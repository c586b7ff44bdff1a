"""tf.quantization.*: floats as small integers, and floats that are rounded as if they were."""
from weft._core.framework import wrap

wrap.functions("""
quantize QuantizeV2@quantize input min_range max_range T mode='MIN_COMBINED' round_mode='HALF_AWAY_FROM_ZERO' name=None narrow_range=False axis=-1 ensure_minimum_range=0.01
quantize_v2 QuantizeV2 input min_range max_range T mode='MIN_COMBINED' name=None round_mode='HALF_AWAY_FROM_ZERO' narrow_range=False axis=-1 ensure_minimum_range=0.01
dequantize Dequantize input min_range max_range mode='MIN_COMBINED' name=None axis=-1 narrow_range=False
fake_quant_with_min_max_args FakeQuantWithMinMaxArgs inputs min=-6.0 max=6.0 num_bits=8 narrow_range=False
fake_quant_with_min_max_args_gradient FakeQuantWithMinMaxArgsGradient gradients inputs min=-6.0 max=6.0 num_bits=8 narrow_range=False
fake_quant_with_min_max_vars FakeQuantWithMinMaxVars inputs min max num_bits=8 narrow_range=False
fake_quant_with_min_max_vars_gradient FakeQuantWithMinMaxVarsGradient gradients inputs min max num_bits=8 narrow_range=False
fake_quant_with_min_max_vars_per_channel FakeQuantWithMinMaxVarsPerChannel inputs min max num_bits=8 narrow_range=False
fake_quant_with_min_max_vars_per_channel_gradient FakeQuantWithMinMaxVarsPerChannelGradient gradients inputs min max num_bits=8 narrow_range=False
""", globals())  # noqa: E501
