"""Functions that write at indices into a copy of a tensor."""
from weft._core.framework import wrap

wrap.functions("""
tensor_scatter_update TensorScatterUpdate tensor indices updates | tensor_scatter_nd_update
tensor_scatter_add TensorScatterAdd tensor indices updates | tensor_scatter_nd_add
tensor_scatter_sub TensorScatterSub tensor indices updates | tensor_scatter_nd_sub
tensor_scatter_nd_max TensorScatterMax tensor indices updates
tensor_scatter_nd_min TensorScatterMin tensor indices updates
""", globals())
