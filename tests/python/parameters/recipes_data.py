"""Recipes of data sets of sparse, ragged and optional values, and of their structures; values.py has the names in them."""
RECIPES = """
# ---- structures ----
tf.data.DatasetSpec(tf.TensorSpec([2])) ; element_spec=tf.TensorSpec([3]), dataset_shape=[2] ;
    [str(it.element_spec), it == tf.data.DatasetSpec(tf.TensorSpec([2])), it == tf.data.DatasetSpec(tf.TensorSpec([2]), [2])]
tf.data.experimental.DatasetStructure(tf.TensorSpec([2])) ; element_spec=tf.TensorSpec([3]), dataset_shape=[2] ;
    [str(it.element_spec), it == tf.data.DatasetSpec(tf.TensorSpec([2])), it == tf.data.DatasetSpec(tf.TensorSpec([2]), [2])]
tf.data.experimental.OptionalStructure(tf.TensorSpec([2])) ; element_spec=tf.TensorSpec([3]) ; str(it)
tf.data.experimental.TensorStructure(tf.float32, [2]) ; dtype=tf.int32, shape=[3] ; str(it)
tf.data.experimental.SparseTensorStructure(tf.float32, [2]) ; dtype=tf.int32, shape=[3] ; [it.dtype, it.shape]
tf.data.experimental.RaggedTensorStructure(tf.float32, [2, None, 3], 2) ; dtype=tf.int32, shape=[3, None, 3], ragged_rank=1 ;
    [it.dtype, it.shape, it.ragged_rank]
tf.data.experimental.TensorArrayStructure(tf.float32, [2], True, True) ; dtype=tf.int32, element_shape=[3], dynamic_size=False,
    infer_shape=False ; [it == tf.TensorArraySpec([2], tf.float32, d, i) for d in (0, 1) for i in (0, 1)]
tf.data.experimental.get_structure(tf.data.Dataset.range(3)) ; dataset_or_iterator=tf.data.Dataset.range(3).batch(2) ; [it.dtype, it.shape]
tf.data.experimental.from_variant(tf.data.experimental.to_variant(tf.data.Dataset.range(3)), tf.TensorSpec([], tf.int64)) ;
    variant=tf.data.experimental.to_variant(tf.data.Dataset.range(4)), structure=tf.TensorSpec(None, tf.int64) ;
    [uses.elements(it), str(it.element_spec)]
tf.data.experimental.to_variant(tf.data.Dataset.range(3)) ; dataset=tf.data.Dataset.range(4) ; [it.dtype, it.shape]
# ---- values of other kinds ----
tf.data.experimental.dense_to_sparse_batch(2, [4]) ; batch_size=3, row_shape=[None] ;
    uses.elements(tf.data.Dataset.range(1, 4).map(uses.filled).apply(it))
tf.data.experimental.dense_to_ragged_batch(2) ; batch_size=3, drop_remainder=True, row_splits_dtype=tf.int32 ;
    [tf.data.experimental.get_structure(tf.data.Dataset.range(1, 4).map(uses.filled).apply(it)).row_splits_dtype,
    [e.to_list() for e in uses.elements(tf.data.Dataset.range(1, 4).map(uses.filled).apply(it))]]
tf.data.experimental.get_next_as_optional(tf.data.make_one_shot_iterator(tf.data.Dataset.range(1))) ;
    iterator=tf.data.make_one_shot_iterator(tf.data.Dataset.range(5, 6)) ; [it.has_value(), str(it.element_spec)]
tf.data.experimental.Optional.from_value(3) ; value=[4.0] ; [it.has_value(), it.get_value()]
tf.data.experimental.Optional.empty(tf.TensorSpec([2])) ; element_spec=tf.TensorSpec([3]) ; [it.has_value(), str(it.element_spec)]
tf.data.Dataset.from_sparse_tensor_slices(tf.SparseTensor([[0, 1]], [1.0], [2, 3])) ; ; uses.elements(it)
tf.data.Dataset.range(1, 4).map(uses.filled).sparse_batch(2, [4]) ; batch_size=3, row_shape=[None] ; uses.elements(it)
tf.data.Dataset.range(1, 4).map(uses.filled).ragged_batch(2) ; batch_size=3, drop_remainder=True, row_splits_dtype=tf.int32 ;
    [it.element_spec.row_splits_dtype, [e.to_list() for e in uses.elements(it)]]
"""
