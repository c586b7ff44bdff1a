"""Recipes of tf.contrib.distributions, which are compared with themselves: each parameter must have an effect."""
_COMMON = "validate_args=True, allow_nan_stats=False, name='given'"
_FLAGS = "[it.validate_args, it.allow_nan_stats, it.name]"
_PLAIN = "validate_args=True, name='given'"
_USE = "[it.sample(3, seed=3), it.mean(), %s]" % _FLAGS
_B = "[it.forward([0.2, 0.3]), it.inverse(it.forward([0.2, 0.3])), it.validate_args, it.name]"
RECIPES = """
tf.contrib.distributions.Logistic(0.5, 2.0) ; loc=1.0, scale=3.0, COMMON ; USE
tf.contrib.distributions.Cauchy(0.5, 2.0) ; loc=1.0, scale=3.0, validate_args=True, allow_nan_stats=False, name='given' ;
    [it.sample(3, seed=3), FLAGS]
tf.contrib.distributions.Gumbel(0.5, 2.0) ; loc=1.0, scale=3.0, COMMON ; USE
tf.contrib.distributions.HalfNormal(2.0) ; scale=3.0, COMMON ; USE
tf.contrib.distributions.InverseGamma(3.0, 2.0) ; concentration=4.0, rate=1.0, COMMON ; USE
tf.contrib.distributions.Chi2(3.0) ; df=4.0, COMMON ; USE
tf.contrib.distributions.NormalWithSoftplusScale(0.5, 2.0) ; loc=1.0, scale=3.0, COMMON ; USE
tf.contrib.distributions.LaplaceWithSoftplusScale(0.5, 2.0) ; loc=1.0, scale=3.0, COMMON ; USE
tf.contrib.distributions.ExponentialWithSoftplusRate(0.5) ; rate=1.0, COMMON ; USE
tf.contrib.distributions.GammaWithSoftplusConcentrationRate(0.5, 2.0) ; concentration=1.0, rate=3.0, COMMON ; USE
tf.contrib.distributions.BetaWithSoftplusConcentration(0.5, 2.0) ; concentration1=1.0, concentration0=3.0, COMMON ; USE
tf.contrib.distributions.StudentTWithAbsDfSoftplusScale(-3.5, 0.5, 2.0) ; df=4.0, loc=1.0, scale=3.0, COMMON ; USE
tf.contrib.distributions.Poisson(2.0) ; rate=3.0, log_rate=1.0, interpolate_nondiscrete=False, COMMON ; [it.log_prob(1.5), USE]
tf.contrib.distributions.Geometric(0.5) ; probs=0.4, logits=0.2, COMMON ; USE
tf.contrib.distributions.Binomial(4.0, 0.5) ; total_count=3.0, probs=0.4, logits=0.2, COMMON ; [it.mean(), FLAGS]
tf.contrib.distributions.NegativeBinomial(4.0, 0.5) ; total_count=3.0, probs=0.4, logits=0.2, COMMON ; USE
tf.contrib.distributions.Deterministic(0.5) ; loc=1.0, atol=0.5, rtol=0.5, COMMON ; [it.prob(0.7), USE]
tf.contrib.distributions.VectorDeterministic([0.5, 1.0]) ; loc=[1.0, 1.0], atol=0.5, rtol=0.5, COMMON ; [it.prob([0.7, 1.0]), USE]
tf.contrib.distributions.RelaxedBernoulli(0.5, 0.2) ; temperature=1.0, probs=0.4, logits=0.4, COMMON ; [it.sample(3, seed=3), FLAGS]
tf.contrib.distributions.LogNormal(0.5, 2.0) ; loc=1.0, scale=3.0, COMMON ; USE
tf.contrib.distributions.TransformedDistribution(tf.distributions.Normal(0.0, 1.0)) ; distribution=tf.distributions.Normal(1.0, 2.0),
    bijector=tf.contrib.distributions.bijectors.Exp(), batch_shape=[2], event_shape=[3], PLAIN ; [it.sample(2, seed=3), it.name,
        it.validate_args]
tf.contrib.distributions.Independent(tf.distributions.Normal([[0.0, 1.0]], 1.0)) ; distribution=tf.distributions.Normal([[3.0]], 1.0),
    reinterpreted_batch_ndims=2, PLAIN ; [it.log_prob([[0.5, 0.5]]), it.name, it.validate_args]
tf.contrib.distributions.MultivariateNormalDiag([0.5, 1.0], [1.0, 2.0]) ; loc=[1.0, 2.0], scale_diag=[2.0, 2.0],
    scale_identity_multiplier=2.0, COMMON ; USE
tf.contrib.distributions.MultivariateNormalDiagWithSoftplusScale([0.5, 1.0], [1.0, 2.0]) ; loc=[1.0, 2.0], scale_diag=[2.0, 2.0],
    COMMON ; USE
tf.contrib.distributions.MultivariateNormalTriL(V[:3], SQUARE) ; loc=V[1:], scale_tril=SQUARE + 1, COMMON ; USE
tf.contrib.distributions.MultivariateNormalFullCovariance(V[:3], SQUARE) ; loc=V[1:], covariance_matrix=SQUARE * 2, COMMON ; USE
tf.contrib.distributions.MultivariateNormalDiagPlusLowRank(V[:3], [1.0, 2.0, 3.0], None, ROWS) ; loc=V[1:], scale_diag=[1.0, 1.0, 1.0],
    scale_identity_multiplier=2.0, scale_perturb_factor=ROWS + 1, scale_perturb_diag=[2.0], COMMON ; USE
tf.contrib.distributions.OneHotCategorical([0.5, 1.0]) ; probs=[0.1, 0.9], logits=[0.1, 0.2], dtype=tf.float32, COMMON ; USE
tf.contrib.distributions.ExpRelaxedOneHotCategorical(0.5, [0.5, 1.0]) ; temperature=1.0, probs=[0.1, 0.9], logits=[0.1, 0.2],
    dtype=tf.float64, COMMON ;
    [it.sample(3, seed=3), FLAGS]
tf.contrib.distributions.RelaxedOneHotCategorical(0.5, [0.5, 1.0]) ; temperature=1.0, probs=[0.1, 0.9], logits=[0.1, 0.2],
    dtype=tf.float64, COMMON ;
    [it.sample(3, seed=3), it.parameters['validate_args'], it.allow_nan_stats, it.name]
tf.contrib.distributions.Mixture(tf.distributions.Categorical([0.5, 1.0]), [tf.distributions.Normal(0.0, 1.0),
    tf.distributions.Normal(1.0, 2.0)]) ; cat=tf.distributions.Categorical([0.5, 0.1]), components=[tf.distributions.Normal(0.0, 3.0),
    tf.distributions.Normal(1.0, 2.0)], COMMON ; USE
tf.contrib.distributions.MixtureSameFamily(tf.distributions.Categorical([0.5, 1.0]), tf.distributions.Normal([0.0, 1.0], 1.0)) ;
    mixture_distribution=tf.distributions.Categorical([0.5, 0.1]), components_distribution=tf.distributions.Normal([3.0, 1.0], 1.0),
    COMMON ; USE
tf.contrib.distributions.percentile(X, 33.0) ; q=50.0, axis=[1], interpolation='lower', keep_dims=True, validate_args=True, name='given'
tf.contrib.distributions.fill_triangular(X[:, :3]) ; upper=True, name='given'
tf.contrib.distributions.fill_triangular_inverse(SQUARE) ; upper=True, name='given'
tf.contrib.distributions.softplus_inverse(X + 1) ; name='given'
tf.contrib.distributions.bijectors.Identity() ; PLAIN ; B
tf.contrib.distributions.bijectors.Exp() ; PLAIN ; B
tf.contrib.distributions.bijectors.Square() ; PLAIN ; B
tf.contrib.distributions.bijectors.PowerTransform() ; power=0.5, PLAIN ; B
tf.contrib.distributions.bijectors.Sigmoid() ; PLAIN ; B
tf.contrib.distributions.bijectors.Softsign() ; PLAIN ; B
tf.contrib.distributions.bijectors.Softplus() ; hinge_softness=2.0, PLAIN ; B
tf.contrib.distributions.bijectors.AbsoluteValue() ; PLAIN ; B
tf.contrib.distributions.bijectors.Gumbel() ; loc=1.0, scale=2.0, PLAIN ; B
tf.contrib.distributions.bijectors.Weibull() ; scale=2.0, concentration=2.0, PLAIN ; B
tf.contrib.distributions.bijectors.SinhArcsinh() ; skewness=1.0, tailweight=2.0, PLAIN ; B
tf.contrib.distributions.bijectors.SoftmaxCentered() ; PLAIN ; B
tf.contrib.distributions.bijectors.AffineScalar() ; shift=1.0, scale=2.0, PLAIN ; B
tf.contrib.distributions.bijectors.AffineLinearOperator(scale=tf.linalg.LinearOperatorLowerTriangular([[1.0, 0.0], [2.0, 3.0]])) ;
    shift=1.0, scale=tf.linalg.LinearOperatorDiag([1.0, 2.0]), adjoint=True, PLAIN ; B
tf.contrib.distributions.bijectors.Affine(shift=[1.0, 2.0], scale_perturb_factor=[[1.0], [1.0]]) ; scale_perturb_diag=[3.0],
    shift=[2.0, 2.0], scale_identity_multiplier=2.0, scale_diag=[1.0, 3.0],
    scale_tril=[[1.0, 0.0], [2.0, 3.0]], scale_perturb_factor=[[1.0], [2.0]], PLAIN ; B
tf.contrib.distributions.bijectors.Chain() ; bijectors=[tf.contrib.distributions.bijectors.Exp()], PLAIN ; B
tf.contrib.distributions.bijectors.Invert(tf.contrib.distributions.bijectors.Softplus()) ;
    bijector=tf.contrib.distributions.bijectors.Softsign(), PLAIN ; B
BIJECTORS.RealNVP(1, BIJECTORS.real_nvp_default_template([3])) ; num_masked=2,
    shift_and_log_scale_fn=BIJECTORS.real_nvp_default_template([3], True), is_constant_jacobian=True, PLAIN ;
    [it.forward(X[:, :3]), it.is_constant_jacobian, it.validate_args, it.name]
BIJECTORS.MaskedAutoregressiveFlow(BIJECTORS.masked_autoregressive_default_template([4])) ;
    shift_and_log_scale_fn=BIJECTORS.masked_autoregressive_default_template([4], True), is_constant_jacobian=True, unroll_loop=True, PLAIN ;
    [it.forward(X[:, :2]), len(tf.get_default_graph().get_operations()), it.is_constant_jacobian, it.validate_args, it.name]
BIJECTORS.real_nvp_default_template([3]) ; hidden_layers=[4], shift_only=True, activation=tf.tanh, name='given' ;
    [str(it(X[:, :1], 1)), it(X[:, :1], 1)[0], it.name]
BIJECTORS.masked_autoregressive_default_template([4]) ; hidden_layers=[5], shift_only=True, activation=tf.tanh, log_scale_min_clip=0.5,
    log_scale_max_clip=-1.0, log_scale_clip_gradient=True, name='given' ;
    [str(it(X[:, :2])), it(X[:, :2])[0], len(tf.get_default_graph().get_operations()), it.name]
BIJECTORS.masked_dense(X[:, :2], 4, 2) ; inputs=X[:, 1:3], units=6, num_blocks=1, exclusive=True, kernel_initializer=tf.ones_initializer(),
    reuse=True, name='given' ; it
tf.contrib.distributions.bijectors.Permute([1, 0]) ; permutation=[0, 1], PLAIN ; B
tf.contrib.distributions.bijectors.Reshape([1, 2]) ; event_shape_out=[2, 1], event_shape_in=[2], PLAIN ; [it.forward([0.2, 0.3]), it.name,
    it.validate_args, it.inverse_event_shape([1, 2])]
tf.contrib.distributions.bijectors.FillTriangular() ; upper=True, PLAIN ; [it.forward([0.1, 0.2, 0.3]), it.name, it.validate_args]
tf.contrib.distributions.bijectors.Inline(tf.exp, tf.log, tf.sin) ; forward_fn=tf.square, inverse_fn=tf.sqrt,
    inverse_log_det_jacobian_fn=tf.cos,
    forward_log_det_jacobian_fn=tf.cos, forward_event_shape_fn=uses.shorter, forward_event_shape_tensor_fn=uses.shorter,
    inverse_event_shape_fn=uses.shorter, inverse_event_shape_tensor_fn=uses.shorter, forward_min_event_ndims=1,
    inverse_min_event_ndims=1, PLAIN ;
    [it.forward([0.2, 0.3]), it.inverse([0.2, 0.3]), it.inverse_log_det_jacobian([0.2, 0.3], 1), it.forward_log_det_jacobian([0.2,
        0.3], 1),
    it.forward_event_shape([2, 3]), it.inverse_event_shape([2, 3]), it.forward_event_shape_tensor([2, 3]),
    it.inverse_event_shape_tensor([2, 3]),
    it.is_constant_jacobian, it.validate_args, it.name]
tf.contrib.distributions.bijectors.Bijector() ; graph_parents=[X], is_constant_jacobian=True, dtype=tf.float64, forward_min_event_ndims=1,
    inverse_min_event_ndims=2, PLAIN ; [it.graph_parents, it.is_constant_jacobian, it.dtype, it.forward_min_event_ndims,
    it.inverse_min_event_ndims, it.validate_args, it.name]
""".replace("BIJECTORS", "tf.contrib.distributions.bijectors").replace("COMMON", _COMMON).replace("PLAIN", _PLAIN).replace(
    "USE", _USE).replace("FLAGS", _FLAGS).replace("; B\n", "; %s\n" % _B)
