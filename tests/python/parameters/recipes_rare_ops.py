"""Recipes of functions of ops that few programs use; values.py has the names in them."""
RECIPES = """
tf.nn.fractional_max_pool(IMAGE, [1.0, 1.5, 1.4, 1.0], deterministic=True, seed=1, seed2=2) ; pseudo_random=True, overlapping=True,
    seed=5, seed2=9, pooling_ratio=[1.0, 2.0, 2.0, 1.0]
tf.nn.fractional_max_pool(IMAGE, [1.0, 1.5, 1.4, 1.0]) ; deterministic=True ; it[0].shape
tf.nn.fractional_avg_pool(IMAGE, [1.0, 1.5, 1.4, 1.0], deterministic=True, seed=1, seed2=2) ; pseudo_random=True, overlapping=True,
    seed=5, seed2=9, pooling_ratio=[1.0, 2.0, 2.0, 1.0]
tf.nn.fractional_avg_pool(IMAGE, [1.0, 1.5, 1.4, 1.0]) ; deterministic=True ; it[0].shape
tf.nn.learned_unigram_candidate_sampler(tf.constant([[1], [2]], tf.int64), 1, 3, True, 9, seed=3) ; num_sampled=2, unique=False,
    range_max=12, seed=5
tf.decode_compressed(tf.constant(['x', 'y']))
tf.decode_compressed(tf.constant(b'x\\x9cK\\x04\\x00\\x00b\\x00b'), compression_type='ZLIB') ; compression_type='GZIP'
tf.get_session_handle(X) ; name='given' ; it.op.type
tf.get_session_tensor('a;0;/job:localhost/replica:0/task:0/device:CPU:0', tf.float32) ; dtype=tf.int32,
    handle='a;0;/job:localhost/replica:0/task:0/device:CPU:1' ; [it[1].dtype.name, it[1].device]
tf.delete_session_tensor('a;0;/job:localhost/replica:0/task:0/device:CPU:0') ;
    handle='a;0;/job:localhost/replica:0/task:0/device:CPU:1' ; it[1].device
tf.CriticalSection() ; shared_name='shared', critical_section_def=3, import_scope='s' ; it.name
tf.decode_json_example(['{}', '{"features": {"feature": {"a": {"int64List": {"value": ["1"]}}}}}'])
"""
