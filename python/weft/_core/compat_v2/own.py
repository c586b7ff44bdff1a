"""What tf.compat.v2 has under other paths than tf, its own functions, and what to use for names that it lacks.

LIKE: {path: path in tf} of names that are other objects in TensorFlow, and do the same in graphs.
OWN: {path: object}.  OTHERWISE: {path: advice} for names of tf that are not those of TensorFlow 2.
"""
from weft._core.compat_v2 import functions, images, initializers, keras_layers

_SAME_PATH = """
case data.Dataset data.FixedLengthRecordDataset data.Iterator data.TFRecordDataset data.TextLineDataset
data.experimental.CsvDataset data.experimental.RandomDataset data.experimental.SqlDataset
data.experimental.choose_from_datasets data.experimental.make_batched_features_dataset data.experimental.make_csv_dataset
data.experimental.sample_from_datasets debugging.assert_shapes debugging.assert_type distribute.MirroredStrategy
distribute.OneDeviceStrategy distribute.ReplicaContext distribute.Strategy distribute.StrategyExtended
estimator.Estimator executing_eagerly feature_column.make_parse_example_spec foldl foldr image.extract_patches
keras.callbacks.TensorBoard keras.layers.DenseFeatures
lookup.StaticHashTable lookup.StaticVocabularyTable map_fn math.bessel_i0 math.bessel_i0e math.bessel_i1
math.bessel_i1e math.erfcinv math.erfinv math.multiply_no_nan math.ndtri math.reciprocal_no_nan
math.reduce_euclidean_norm math.reduce_std math.reduce_variance math.scalar_mul math.softplus math.special.bessel_i0
math.special.bessel_i0e math.special.bessel_i1 math.special.bessel_i1e math.special.bessel_j0 math.special.bessel_j1
math.special.bessel_k0 math.special.bessel_k0e math.special.bessel_k1 math.special.bessel_k1e math.special.bessel_y0
math.special.bessel_y1 math.special.dawsn math.special.expint math.special.fresnel_cos math.special.fresnel_sin
math.special.spence nn.leaky_relu nn.relu6 nn.silu nn.softplus nn.swish saved_model.contains_saved_model scalar_mul scan
train.Checkpoint variable_creator_scope VariableAggregation DeviceSpec
"""
_OPTIMIZERS = "Adadelta Adagrad Adam Adamax Ftrl Nadam Optimizer RMSprop SGD"
_INITIALIZERS = """
Constant GlorotNormal GlorotUniform HeNormal HeUniform Identity LecunNormal LecunUniform Ones Orthogonal RandomNormal
RandomUniform TruncatedNormal VarianceScaling Zeros
"""
_SMALL = {"GlorotNormal": "glorot_normal", "GlorotUniform": "glorot_uniform", "HeNormal": "he_normal", "HeUniform": "he_uniform",
          "LecunNormal": "lecun_normal", "LecunUniform": "lecun_uniform", "RandomNormal": "random_normal",
          "RandomUniform": "random_uniform", "TruncatedNormal": "truncated_normal", "VarianceScaling": "variance_scaling"}

LIKE = {name: name for name in _SAME_PATH.split()}
for _name in _OPTIMIZERS.split():
    for _module in ("optimizers", "keras.optimizers"):
        LIKE["%s.%s" % (_module, _name)] = "keras.optimizers." + _name
LIKE.update({"random.set_seed": "set_random_seed", "losses.huber": "keras.losses.huber_loss"})

OWN = {**functions.FUNCTIONS, **images.FUNCTIONS, **keras_layers.LAYERS, **initializers.PLAIN}
for _name in _INITIALIZERS.split():
    for _module in ("initializers", "keras.initializers"):
        OWN["%s.%s" % (_module, _name)] = OWN["%s.%s" % (_module, _SMALL.get(_name, _name.lower()))] = \
            getattr(initializers, _name)

for _path, _made in sorted(OWN.items(), key=lambda item: (item[0].count("."), not item[0].endswith(item[1].__name__), item[0])):
    if _made.__module__.startswith("weft._core.compat_v2."):  # it carries its first public name, in errors and pickles
        _module, _, _name = ("weft.compat.v2." + _path).rpartition(".")
        _made.__module__, _made.__name__, _made.__qualname__ = _module, _name, _name

_EAGER = "Weft has no eager mode, which it needs: use "
OTHERWISE = {
    "test.compute_gradient": _EAGER + "tf.compat.v1.test.compute_gradient in a tf.compat.v1.Session",
    "distribute.ParameterServerStrategy": _EAGER + "tf.compat.v1.distribute.experimental.ParameterServerStrategy",
    "distribute.experimental.ParameterServerStrategy": _EAGER + "that of tf.compat.v1",
}
