"""Recipes of tf.distributions and of special functions."""
RECIPES = """
tf.distributions.Normal([0.5, 1.0], 2.0) ; loc=[1.5, 2.0], scale=3.0 ; [it.sample(2, seed=3), it.log_prob(0.5), it.mean()]
tf.distributions.Bernoulli([0.5, 1.0]) ; logits=[0.1, 0.2], dtype=tf.float32 ; [it.sample(2, seed=3), it.log_prob(1), it.mean()]
tf.distributions.Bernoulli(probs=[0.5, 0.2]) ; probs=[0.1, 0.2] ; [it.sample(2, seed=3), it.log_prob(1), it.mean()]
tf.distributions.Uniform() ; low=-1.0, high=3.0 ; [it.sample(2, seed=3), it.log_prob(0.5), it.mean()]
tf.distributions.Laplace([0.5, 1.0], 2.0) ; loc=[1.5, 2.0], scale=3.0 ; [it.sample(2, seed=3), it.log_prob(0.5), it.mean()]
tf.distributions.Gamma([0.5, 2.0], 2.0) ; concentration=[1.5, 2.0], rate=3.0 ; [it.sample(2, seed=3), it.log_prob(0.5)]
tf.distributions.Gamma([0.5, 2.0], 2.0) ; ; it.mode()
tf.distributions.Exponential([0.5, 2.0]) ; rate=3.0 ; [it.sample(2, seed=3), it.log_prob(0.5)]
tf.distributions.StudentT(3.0, [0.5, 1.0], 2.0) ; df=2.0, loc=[1.5, 2.0], scale=3.0 ; [it.sample(2, seed=3), it.log_prob(0.5)]
tf.distributions.Beta(0.5, [0.5, 2.0]) ; concentration1=2.0, concentration0=3.0 ; [it.sample(2, seed=3), it.log_prob(0.5)]
tf.distributions.Categorical([0.5, 1.0]) ; logits=[0.1, 0.2], dtype=tf.int64 ; [it.sample(5, seed=3), it.log_prob(1)]
tf.distributions.Categorical(probs=[0.5, 0.5]) ; probs=[0.1, 0.9] ; [it.sample(5, seed=3), it.log_prob(1)]
tf.distributions.Dirichlet([0.5, 2.0]) ; concentration=[1.5, 2.0] ; [it.sample(2, seed=3), it.log_prob([0.5, 0.5])]
tf.distributions.DirichletMultinomial(3.0, [0.5, 2.0]) ; total_count=4.0, concentration=[1.5, 2.0] ;
    [it.sample(2, seed=3), it.mean()]
tf.distributions.Multinomial(3.0, [0.5, 2.0]) ; total_count=4.0, logits=[1.5, 2.0] ; [it.sample(2, seed=3), it.mean()]
tf.distributions.Multinomial(3.0, probs=[0.5, 0.5]) ; probs=[0.1, 0.9] ; [it.sample(2, seed=3), it.mean()]
tf.distributions.Distribution(tf.float32, tf.distributions.FULLY_REPARAMETERIZED, False, True) ; dtype=tf.float64,
    reparameterization_type=tf.distributions.NOT_REPARAMETERIZED, validate_args=True, allow_nan_stats=False,
    parameters={'a': 1}, graph_parents=[X], name='given' ; [it.dtype, repr(it.reparameterization_type), it.validate_args,
    it.allow_nan_stats, it.parameters, it.name]
tf.distributions.ReparameterizationType('a') ; rep_type='b' ; repr(it)
tf.distributions.kl_divergence(tf.distributions.Normal(0.5, 2.0), tf.distributions.Normal(1.0, 2.0)) ;
    distribution_a=tf.distributions.Normal(0.0, 3.0), distribution_b=tf.distributions.Normal(0.0, 3.0),
    allow_nan_stats=False
tf.distributions.RegisterKL(tf.distributions.Normal, tf.distributions.Gamma) ;
    dist_cls_a=tf.distributions.Gamma, dist_cls_b=tf.distributions.Laplace
tf.betainc(2.0, 3.0, [0.1, 0.5]) ; a=1.0, b=0.5, x=[0.2, 0.3]
"""
