"""Recipes of tf.random.Generator and of functions of a seed alone."""
RECIPES = """
tf.random.stateless_uniform([3], [1, 2]) ; minval=0.5, maxval=2.0 ; [tf.identity(it, name='m')]
tf.random.categorical(tf.log(P), 5) ; dtype=tf.int32, seed=7, num_samples=3
tf.random.stateless_gamma([3], [1, 2], 2.0) ; shape=[2], seed=[3, 4], alpha=3.0, beta=0.5
tf.random.stateless_poisson([3], [1, 2], 2.0) ; shape=[2], seed=[3, 4], lam=9.0, dtype=tf.float32
tf.random.stateless_binomial([3], [1, 2], 9.0, 0.5) ; shape=[2], seed=[3, 4], counts=20.0, probs=0.9, output_dtype=tf.float32
tf.random.stateless_categorical(tf.log(P), 5, [1, 2]) ; logits=Y, num_samples=3, seed=[3, 4], dtype=tf.int32
tf.random.stateless_multinomial(tf.log(P), 5, [1, 2]) ; logits=Y, num_samples=3, seed=[3, 4], output_dtype=tf.int32
tf.random.experimental.stateless_shuffle(X, [1, 2]) ; value=Y, seed=[3, 5], alg='philox'
tf.random.experimental.index_shuffle([1, 2], [1, 2], 9) ; index=[3, 4], seed=[3, 5], max_index=20
tf.random.fold_in([1, 2], 3) ; seed=[3, 4], data=5, alg='philox' ; [tf.identity(it, name='m')]
tf.random.split([1, 2]) ; seed=[3, 4], num=3, alg='philox' ; [tf.identity(it, name='m')]
tf.random.Generator(None, [1, 2, 3], 1) ; copy_from=tf.random.Generator.from_seed(3), state=[3, 4, 5], alg='none' ; it.state.name
tf.random.create_rng_state(3, 1) ; seed=4, alg='none' ; [tf.identity(it, name='m')]
tf.random.set_global_generator(tf.random.Generator.from_seed(3)) ; generator=tf.random.Generator.from_seed(5) ;
    tf.random.get_global_generator().normal([2])
"""
