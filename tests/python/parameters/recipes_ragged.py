"""Recipes of ragged tensors, type specs and functions on sparse tensors; values.py has the names in them."""
RECIPES = """
# ---- ragged tensors ----
tf.ragged.constant([[1, 2], [3]]) ; pylist=[[7]], dtype=tf.float32, ragged_rank=1, inner_shape=(), row_splits_dtype=tf.int32 ;
    [it.flat_values, it.row_splits]
tf.ragged.constant_value([[1, 2], [3]]) ; pylist=[[7]], dtype='float32', ragged_rank=1, inner_shape=(), row_splits_dtype='int32' ;
    [it.flat_values, it.row_splits]
tf.ragged.placeholder(tf.float32, 1) ; dtype=tf.int32, ragged_rank=2, value_shape=[2] ; [it.get_shape(), it.flat_values.name]
tf.ragged.range([3, 1]) ; starts=[2], limits=[5, 6], deltas=2, dtype=tf.float32, row_splits_dtype=tf.int32 ; [it.flat_values, it.row_splits]
tf.ragged.boolean_mask(tf.ragged.constant([[1, 2], [3]]), tf.ragged.constant([[True, False], [True]])) ; ; [it.flat_values]
tf.ragged.cross([tf.ragged.constant([['a'], ['b']]), tf.ragged.constant([['c', 'd'], []])]) ; ; [it.flat_values]
tf.ragged.cross_hashed([tf.ragged.constant([['a'], ['b']]), tf.ragged.constant([['c', 'd'], []])]) ; num_buckets=7, hash_key=5 ;
    [it.flat_values]
tf.ragged.map_flat_values(tf.square, tf.ragged.constant([[1, 2], [3]])) ; ; [it.flat_values]
tf.ragged.row_splits_to_segment_ids([0, 2, 3]) ; out_type=tf.int32
tf.ragged.segment_ids_to_row_splits([0, 0, 2]) ; num_segments=4, out_type=tf.int32
tf.ragged.stack([tf.constant([1, 2]), tf.constant([3, 4])]) ; axis=1 ; [it.shape]
tf.ragged.stack_dynamic_partitions([1.0, 2.0, 3.0], [1, 0, 1], 2) ; ; [it.flat_values, it.row_splits]
tf.ragged.RaggedTensorValue(np.array([1, 2]), np.array([0, 2])) ; ; [it.to_list()]
# ---- specs ----
tf.TensorSpec([2]) ; shape=[3], dtype=tf.int32, name='given' ;
    repr(it).replace('Dimension(', '').replace(')', '')
tf.SparseTensorSpec([2, 3]) ; dtype=tf.int32, shape=[3] ;
    repr(it).replace('Dimension(', '').replace(')', '')
tf.RaggedTensorSpec([2, None]) ; dtype=tf.int32, ragged_rank=1, row_splits_dtype=tf.int32, shape=[3, None],
    flat_values_spec=tf.TensorSpec(None, tf.float32) ;
    repr(it).replace('Dimension(', '').replace(')', '')
tf.IndexedSlicesSpec([4, 2]) ; dtype=tf.int32, indices_dtype=tf.int32, dense_shape_dtype=tf.int32, indices_shape=[3], shape=[5, 2] ;
    repr(it).replace('Dimension(', '').replace(')', '')
tf.TensorArraySpec([2]) ; dtype=tf.int32, dynamic_size=True, infer_shape=False, element_shape=[3] ;
    repr(it).replace('Dimension(', '').replace(')', '')
tf.OptionalSpec(tf.TensorSpec([], tf.int32)) ; ;
    repr(it).replace('Dimension(', '').replace(')', '')
tf.type_spec_from_value(X) ; ;
    repr(it).replace('Dimension(', '').replace(')', '')
tf.VarLenFeature(tf.int64) ; ; it.dtype
# ---- sparse tensors ----
tf.sparse.cross([tf.SparseTensor([[0, 0], [1, 0]], ["p", "q"], [2, 1]), tf.constant([['x'], ['y']])]) ; separator='-'
tf.sparse.cross_hashed([tf.SparseTensor([[0, 0], [1, 0]], ["p", "q"], [2, 1]), tf.constant([['x'], ['y']])]) ; num_buckets=7, hash_key=5
# ---- tables ----
tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, -7, -8) ; default_value=7, empty_key=0, deleted_key=-1,
    initial_num_buckets=8, checkpoint=False ; uses.looked_up(it, np.array([1, 2]))
tf.contrib.lookup.MutableDenseHashTable(tf.int64, tf.int64, -1, -7, deleted_key=-8) ; default_value=7, empty_key=0,
    initial_num_buckets=8, checkpoint=False, shared_name='s' ; uses.looked_up(it, np.array([1, 2]))
# ---- text ----
tf.strings.unicode_decode(['a\\u00e9', 'b']) ; input_encoding='UTF-8', errors='ignore', replacement_char=63,
    replace_control_characters=True ; [it.flat_values]
tf.strings.unicode_decode_with_offsets(['a', 'b'], 'UTF-8') ; errors='ignore', replacement_char=63,
    replace_control_characters=True ; [it[0].flat_values, it[1].flat_values]
tf.strings.unicode_encode(tf.ragged.constant([[97, 233], [98]]), 'UTF-8') ; output_encoding='UTF-16-BE', errors='ignore',
    replacement_char=63
tf.strings.unicode_split(['ab', 'c'], 'UTF-8') ; errors='ignore', replacement_char=63 ; [it.flat_values]
tf.strings.unicode_split_with_offsets(['ab', 'c'], 'UTF-8') ; errors='ignore', replacement_char=63 ;
    [it[0].flat_values, it[1].flat_values]
tf.strings.unicode_transcode(['ab', 'c'], 'UTF-8', 'UTF-16-BE') ; errors='ignore', replacement_char=63,
    replace_control_characters=True, output_encoding='UTF-8'
tf.strings.unicode_script([97, 1078])
tf.strings.bytes_split(['ab', 'c']) ; ; [it.flat_values]
tf.strings.ngrams(tf.ragged.constant([['a', 'b', 'c'], ['d']]), 2) ; ngram_width=1, separator='-', pad_values='P',
    preserve_short_sequences=True ; [it.flat_values]
tf.strings.unsorted_segment_join(['a', 'b'], [0, 0], 2) ; separator='-', num_segments=1
tf.edit_distance(tf.SparseTensor([[0, 0]], ['a'], [1, 1]), tf.SparseTensor([[0, 1]], ['b'], [1, 2])) ; normalize=False
tf.fingerprint(['a', 'b'])
# ---- sparse tensors that are rarely used ----
tf.sparse_maximum(tf.SparseTensor([[0, 0]], [1.0], [1, 2]), tf.SparseTensor([[0, 1]], [2.0], [1, 2]))
tf.sparse_minimum(tf.SparseTensor([[0, 0]], [1.0], [1, 2]), tf.SparseTensor([[0, 1]], [2.0], [1, 2]))
tf.sparse_merge(tf.SparseTensor([[0, 0]], [1], [1, 2]), tf.SparseTensor([[0, 0]], [2.0], [1, 2]), 3) ; vocab_size=4,
    already_sorted=True
tf.sparse_reset_shape(tf.SparseTensor([[0, 0]], [1.0], [1, 2])) ; new_shape=[2, 3]
tf.sparse_to_indicator(tf.SparseTensor([[0, 0]], [1], [1, 2]), 3) ; vocab_size=4
tf.sparse_mask(tf.IndexedSlices(X, tf.constant([0, 1, 2])), [1]) ; ; [it.values]
tf.sparse_matmul(X, Y) ; transpose_a=True, transpose_b=True, a_is_sparse=True, b_is_sparse=True
tf.sparse.eye(3) ; num_rows=2, num_columns=4, dtype=tf.int32 ; [it.values, it.dense_shape]
tf.sparse.expand_dims(tf.SparseTensor([[0, 0]], [1.0], [1, 2])) ; axis=0 ; [it.indices, it.dense_shape]
tf.sparse.from_dense([[0, 1]]) ; ; [it.values]
tf.sparse.bincount([[1, 1, 3]]) ; weights=[[1.0, 2.0, 3.0]], axis=-1, minlength=6, maxlength=2, binary_output=True ;
    [it.values, it.dense_shape]
tf.sparse.segment_sum(X, [0, 1], [0, 0]) ; num_segments=3, sparse_gradient=True
tf.sparse.segment_mean(X, [0, 1], [0, 0]) ; num_segments=3, sparse_gradient=True
tf.sparse.segment_sqrt_n(X, [0, 1], [0, 0]) ; num_segments=3, sparse_gradient=True
tf.serialize_sparse(tf.SparseTensor([[0, 0]], [1.0], [1, 2])) ; out_type=tf.string
tf.serialize_many_sparse(tf.SparseTensor([[0, 0]], [1.0], [1, 2])) ; out_type=tf.string
tf.deserialize_many_sparse(tf.serialize_many_sparse(tf.SparseTensor([[0, 0]], [1.0], [1, 2])), tf.float32) ; rank=2 ;
    [it.values, it.indices.shape]
tf.SparseConditionalAccumulator(tf.float32) ; shape=[2], shared_name='s', reduction_type='SUM' ; [it.name, it.dtype]
# ---- parsing ----
tf.SparseFeature('i', 'v', tf.float32, 3) ; already_sorted=True, size=4 ; [it.size, it.already_sorted, it.dtype]
tf.io.RaggedFeature(tf.int64) ; value_key='v', partitions=[tf.io.RaggedFeature.RowLengths('n')], row_splits_dtype=tf.int64,
    validate=True ; [it.value_key, it.row_splits_dtype, it.validate, len(it.partitions)]
tf.io.parse_sequence_example([b''], {'a': tf.VarLenFeature(tf.int64)}, {'b': tf.VarLenFeature(tf.int64)}) ;
    example_names=['n'] ; [it[0]['a'].dense_shape, it[1]['b'].dense_shape]
tf.io.parse_single_sequence_example(b'', {'a': tf.VarLenFeature(tf.int64)}, {'b': tf.VarLenFeature(tf.int64)}) ;
    example_name='n' ; [it[0]['a'].dense_shape, it[1]['b'].dense_shape]
# ---- staging ----
tf.contrib.staging.StagingArea([tf.float32]) ; shapes=[[2]], names=['x'], shared_name='s', capacity=3, memory_limit=64 ;
    [it.name, it.names, it.capacity, it.memory_limit, str(it.shapes)]
tf.contrib.staging.MapStagingArea([tf.float32]) ; shapes=[[2]], names=['x'], shared_name='s', ordered=True, capacity=3,
    memory_limit=64 ; [it.name, it.names, it.capacity, it.memory_limit, str(it.shapes), it.size().op.type]
"""
