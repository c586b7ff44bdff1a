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
# ---- lists, databases, tables, records ----
tf.data.experimental.from_list([1, 2]) ; elements=[3.0] ; uses.elements(it)
tf.data.experimental.SqlDataset('sqlite', uses.database(), 'select a from t', (tf.int64,)) ; driver_name='mysql',
    data_source_name=uses.database(), query='select b from t', output_types=(tf.string,) ; uses.elements(it)
tf.data.experimental.pad_to_cardinality(4) ; cardinality=3, mask_key='m' ;
    uses.elements(tf.data.Dataset.from_tensor_slices({'a': [1, 2]}).apply(it))
tf.data.experimental.copy_to_device('/cpu:0') ; target_device='/cpu:1', source_device='/cpu:0' ; ''
tf.data.experimental.DatasetInitializer(tf.data.Dataset.from_tensor_slices((['a'], np.array([5])))) ;
    dataset=tf.data.Dataset.from_tensor_slices((['a'], np.float32([5]))) ; [it.key_dtype, it.value_dtype]
tf.data.experimental.table_from_dataset(tf.data.Dataset.from_tensor_slices((['a', 'b'], np.array([5, 6])))) ;
    dataset=tf.data.Dataset.from_tensor_slices((['a'], np.array([7]))), num_oov_buckets=3, vocab_size=1, default_value=9,
    hasher_spec='h', key_dtype=tf.float32 ; [it.lookup(tf.constant(['a', 'b', 'c'])), it.size()]
tf.data.experimental.index_table_from_dataset(tf.data.Dataset.from_tensor_slices(['a', 'b'])) ;
    dataset=tf.data.Dataset.from_tensor_slices(['c']), num_oov_buckets=3, vocab_size=1, default_value=9, key_dtype=tf.float32,
    hasher_spec='h' ; [it.lookup(tf.constant(['a', 'b', 'c'])), it.size()]
tf.data.experimental.TFRecordWriter('r') ; filename='s', compression_type='GZIP' ;
    uses.session().run(it.write(tf.data.Dataset.from_tensor_slices([b'a', b'b'])))
tf.data.experimental.make_saveable_from_iterator(tf.data.make_one_shot_iterator(tf.data.Dataset.range(3))) ;
    iterator=tf.data.make_initializable_iterator(tf.data.Dataset.range(3)), external_state_policy='bogus' ; [it.name, it.specs[0].name]
tf.data.experimental.CheckpointInputPipelineHook(tf.estimator.Estimator(uses.model, 'm')) ; external_state_policy='bogus' ; ''
tf.contrib.data.sliding_window_batch(3) ; window_size=2, stride=2, window_shift=3, window_stride=2 ;
    uses.elements(tf.data.Dataset.range(7).apply(it))
tf.contrib.data.assert_element_shape([None]) ; expected_shapes=[2] ; str(tf.data.Dataset.range(9).batch(2).apply(it))
"""
