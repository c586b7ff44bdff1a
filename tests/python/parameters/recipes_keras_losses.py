"""Recipes of tf.keras.losses and tf.keras.metrics; values.py has the names in them."""


def losses():
    """Each loss as a function and as an object, with and without weights."""
    functions = """mean_squared_error mean_absolute_error mean_absolute_percentage_error mean_squared_logarithmic_error
        squared_hinge hinge categorical_hinge log_cosh kl_divergence poisson""".split()
    classes = """MeanSquaredError MeanAbsoluteError MeanAbsolutePercentageError MeanSquaredLogarithmicError Hinge SquaredHinge
        CategoricalHinge Poisson LogCosh KLDivergence""".split()
    for name in functions:
        yield "tf.keras.losses.%s(ZERO_ONE, P)" % name
    for name in classes:
        yield "tf.keras.losses.%s() ; reduction='sum' ; [it(ZERO_ONE, P), it(ZERO_ONE, P, W[:3]), it.get_config()]" % name


def metrics():
    """Each mean of a function."""
    for name in """KLDivergence Poisson LogCoshError Hinge SquaredHinge CategoricalHinge MeanSquaredError MeanAbsoluteError
            MeanAbsolutePercentageError MeanSquaredLogarithmicError RootMeanSquaredError CategoricalAccuracy Accuracy""".split():
        yield "tf.keras.metrics.%s() ; dtype='float64' ; uses.keras_metric(it)" % name
    for name in "FalsePositives FalseNegatives TrueNegatives TruePositives".split():
        yield "tf.keras.metrics.%s() ; thresholds=[0.2, 0.7], dtype='float64' ; uses.keras_metric(it)" % name
    for name in "Precision Recall".split():
        yield ("tf.keras.metrics.%s() ; thresholds=[0.2, 0.7], top_k=2, class_id=1, dtype='float64' ; "
               "uses.keras_metric(it)" % name)
    for name in "SensitivityAtSpecificity SpecificityAtSensitivity PrecisionAtRecall RecallAtPrecision".split():
        yield ("tf.keras.metrics.%s(0.4) ; num_thresholds=5, class_id=1, dtype='float64' ; "
               "uses.keras_metric(it)" % name)


RECIPES = "\n".join([*losses(), *metrics()]) + """
tf.keras.losses.Huber() ; delta=0.2, reduction='none' ; [it(ZERO_ONE, P), it.get_config()]
tf.keras.losses.Loss() ; reduction='none' ; it.get_config()
tf.keras.losses.cosine_similarity(ZERO_ONE, P) ; axis=0
tf.keras.losses.cosine_proximity(ZERO_ONE, P) ; axis=0
tf.keras.losses.categorical_crossentropy(ONE_HOT, P) ; from_logits=True, label_smoothing=0.2, axis=0
tf.keras.losses.categorical_focal_crossentropy(ONE_HOT, P) ; from_logits=True, label_smoothing=0.2, axis=0, alpha=0.5, gamma=3.0
tf.keras.losses.sparse_categorical_crossentropy(LABELS, P) ; from_logits=True, ignore_class=3
tf.keras.losses.binary_crossentropy(ZERO_ONE, P / 2) ; from_logits=True, label_smoothing=0.2, axis=0
tf.keras.losses.binary_focal_crossentropy(ZERO_ONE, P / 2) ; from_logits=True, label_smoothing=0.2, axis=0,
    apply_class_balancing=True, alpha=0.5, gamma=3.0
tf.keras.losses.BinaryCrossentropy() ; from_logits=True, label_smoothing=0.2, axis=0, reduction='sum' ;
    [it(ZERO_ONE, P / 2), it(ZERO_ONE, P / 2, W[:3]), it.get_config()]
tf.keras.losses.BinaryFocalCrossentropy() ; from_logits=True, label_smoothing=0.2, axis=0, apply_class_balancing=True,
    alpha=0.5, gamma=3.0, reduction='sum' ; [it(ZERO_ONE, P / 2), it.get_config()]
tf.keras.losses.CategoricalCrossentropy() ; from_logits=True, label_smoothing=0.2, axis=0, reduction='sum' ;
    [it(ONE_HOT, P), it.get_config()]
tf.keras.losses.CategoricalFocalCrossentropy() ; from_logits=True, label_smoothing=0.2, axis=0, alpha=0.5, gamma=3.0,
    reduction='sum' ; [it(ONE_HOT, P), it.get_config()]
tf.keras.losses.SparseCategoricalCrossentropy() ; from_logits=True, ignore_class=3, reduction='sum' ;
    [it(LABELS, P), it(LABELS, P, W[:3]), it(tf.expand_dims(LABELS, 1), P), it.get_config()]
tf.keras.losses.CosineSimilarity() ; axis=0, reduction='sum' ; [it(ZERO_ONE, P), it.get_config()]
tf.keras.losses.get('mse') ; ; it(ZERO_ONE, P)
tf.keras.losses.get('Huber') ; ; it(ZERO_ONE, P)
tf.keras.losses.serialize(tf.keras.losses.Huber(2.0), True)
tf.keras.losses.deserialize({'class_name': 'Huber', 'config': {'delta': 2.0}}) ; name={'class_name': 'Hinge', 'config': {}},
    custom_objects={'Huber': tf.keras.losses.Hinge} ; it.get_config()
tf.keras.metrics.Mean() ; dtype='float64' ; uses.keras_metric(it)
tf.keras.metrics.Sum() ; dtype='float64' ; uses.keras_metric(it)
tf.keras.metrics.MeanTensor() ; dtype='float64', shape=(3, 4) ; uses.keras_metric(it)
tf.keras.metrics.MeanMetricWrapper(tf.keras.losses.mean_squared_error) ; dtype='float64' ; uses.keras_metric(it)
tf.keras.metrics.MeanRelativeError(np.ones((3, 4), np.float32) * 2) ; dtype='float64' ; uses.keras_metric(it)
tf.keras.metrics.BinaryAccuracy() ; threshold=0.2, dtype='float64' ; uses.keras_metric(it)
tf.keras.metrics.SparseCategoricalAccuracy() ; dtype='float64' ; uses.keras_metric(it)
tf.keras.metrics.TopKCategoricalAccuracy() ; k=2, dtype='float64' ; uses.keras_metric(it)
tf.keras.metrics.SparseTopKCategoricalAccuracy() ; k=2, dtype='float64' ; uses.keras_metric(it)
tf.keras.metrics.BinaryCrossentropy() ; from_logits=True, label_smoothing=0.2, dtype='float64' ;
    uses.keras_metric(it)
tf.keras.metrics.CategoricalCrossentropy() ; from_logits=True, label_smoothing=0.2, axis=0, dtype='float64' ;
    uses.keras_metric(it)
tf.keras.metrics.SparseCategoricalCrossentropy() ; from_logits=True, ignore_class=3, dtype='float64' ;
    uses.keras_metric(it)
tf.keras.metrics.CosineSimilarity() ; axis=0, dtype='float64' ; uses.keras_metric(it)
tf.keras.metrics.IoU(4, [0, 1]) ; dtype='float64', ignore_class=1, target_class_ids=[3] ;
    uses.keras_metric(it)
tf.keras.metrics.IoU(4, [0, 1], sparse_y_true=False, sparse_y_pred=False) ; axis=0 ; uses.keras_metric(it)
tf.keras.metrics.IoU(4, [0, 1]) ; sparse_y_true=False, sparse_y_pred=False ; [it.get_config()]
tf.keras.metrics.BinaryIoU() ; threshold=0.2, target_class_ids=[1], dtype='float64' ; uses.keras_metric(it)
tf.keras.metrics.MeanIoU(4) ; dtype='float64', ignore_class=1 ; uses.keras_metric(it)
tf.keras.metrics.MeanIoU(4) ; sparse_y_true=False, sparse_y_pred=False, axis=0 ; [it.get_config()]
tf.keras.metrics.OneHotIoU(4, [0, 1]) ; dtype='float64', ignore_class=1, sparse_y_pred=True, axis=0 ; [it.get_config()]
tf.keras.metrics.OneHotIoU(4, [0, 1]) ; target_class_ids=[3] ; uses.keras_metric(it)
tf.keras.metrics.OneHotMeanIoU(4) ; dtype='float64', ignore_class=1, sparse_y_pred=True, axis=0 ; [it.get_config()]
tf.keras.metrics.OneHotMeanIoU(4) ; ; uses.keras_metric(it)
tf.keras.metrics.AUC() ; num_thresholds=5, curve='PR', summation_method='minoring', dtype='float64', thresholds=[0.1, 0.5],
    multi_label=True, from_logits=True ; uses.keras_metric(it)
tf.keras.metrics.AUC(5, 'PR') ; summation_method='majoring' ; uses.keras_metric(it)
tf.keras.metrics.AUC(multi_label=True, num_labels=4) ; label_weights=[1.0, 2.0, 3.0, 4.0], num_labels=5 ;
    uses.keras_metric(it)
tf.keras.metrics.FBetaScore() ; average='weighted', beta=2.0, threshold=0.5, dtype='float64' ;
    uses.keras_metric(it)
tf.keras.metrics.F1Score() ; average='micro', threshold=0.5, dtype='float64' ; uses.keras_metric(it)
tf.keras.metrics.R2Score() ; class_aggregation=None, num_regressors=1, dtype='float64' ; uses.keras_metric(it)
tf.keras.metrics.R2Score('variance_weighted_average') ; ; uses.keras_metric(it)
tf.keras.metrics.binary_accuracy(ZERO_ONE, P) ; threshold=0.2
tf.keras.metrics.categorical_accuracy(ONE_HOT, P)
tf.keras.metrics.sparse_categorical_accuracy(LABELS, P)
tf.keras.metrics.top_k_categorical_accuracy(ONE_HOT, P) ; k=2
tf.keras.metrics.sparse_top_k_categorical_accuracy(LABELS, P) ; k=2
tf.keras.metrics.get('mse') ; ; it(ZERO_ONE, P)
tf.keras.metrics.get('acc') ; ; it(LABELS, IDS)
tf.keras.metrics.serialize(tf.keras.metrics.AUC(), True)
tf.keras.metrics.deserialize({'class_name': 'AUC', 'config': {'num_thresholds': 10}}) ;
    custom_objects={'AUC': tf.keras.metrics.Mean} ; it.get_config()
"""
