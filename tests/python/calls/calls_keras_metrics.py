"""tf.keras.metrics: the values after batches with and without weights, and after a reset."""
import numpy as np

from machine import case

X = np.arange(12, dtype=np.float32).reshape(3, 4) / 7
P = (X + 0.1) / 4
LABELS = np.array([1, 3, 0], np.int32)
HOT = np.eye(4, dtype=np.float32)[LABELS]
ZERO_ONE = (X > 0.8).astype(np.float32)
WEIGHTS = np.float32([0.5, 2, 1])


def measured(tf, metrics, *values):
    """The values of metrics after one batch, a weighted one, and a reset."""
    K = tf.keras.backend
    plain = [m.update_state(*values) for m in metrics]
    weighted = [m.update_state(*values, sample_weight=WEIGHTS) for m in metrics]
    results, found = [m.result() for m in metrics], []
    for update in (plain, weighted):
        K.get_session().run(update)
        found.append(K.get_session().run([results, [m.variables for m in metrics]]))
    for m in metrics:
        m.reset_states()
    called = [m(*values) for m in metrics]
    return found + [K.get_session().run(called), [[v.name for v in m.variables] for m in metrics], [m.get_config() for m in metrics]]


@case(nodes=False, tolerance=1e-4)
def means_of_functions(tf):
    m = tf.keras.metrics
    kinds = [m.KLDivergence(), m.Poisson(), m.LogCoshError(), m.Hinge(), m.SquaredHinge(), m.CategoricalHinge(), m.MeanSquaredError(),
             m.MeanAbsoluteError(), m.MeanAbsolutePercentageError(), m.MeanSquaredLogarithmicError(), m.RootMeanSquaredError(),
             m.CategoricalAccuracy(), m.TopKCategoricalAccuracy(2), m.BinaryAccuracy(), m.BinaryAccuracy(threshold=0.2),
             m.BinaryCrossentropy(), m.CategoricalCrossentropy(label_smoothing=0.1), m.CosineSimilarity(),
             m.MeanRelativeError(np.ones((3, 4), np.float32) * 2), m.MeanMetricWrapper(tf.keras.losses.mean_squared_error, name="w"),
             m.MeanSquaredError(dtype="float64")]
    return measured(tf, kinds, HOT, P)


@case(nodes=False, tolerance=1e-4)
def means_of_classes(tf):
    m = tf.keras.metrics
    kinds = [m.SparseCategoricalAccuracy(), m.SparseTopKCategoricalAccuracy(2), m.SparseCategoricalCrossentropy(),
             m.SparseCategoricalCrossentropy(ignore_class=3)]
    return measured(tf, kinds, LABELS, P), measured(tf, [m.Accuracy(), m.MeanIoU(4), m.IoU(4, [0, 1])], LABELS, np.int32([1, 0, 0]))


@case(nodes=False, tolerance=1e-4)
def means_of_values(tf):
    m = tf.keras.metrics
    return measured(tf, [m.Mean(), m.Sum()], X), measured(tf, [m.MeanTensor(), m.Mean(name="other")], X)


@case(nodes=False, tolerance=1e-4)
def confusions(tf):
    m = tf.keras.metrics
    kinds = [m.FalsePositives(), m.FalseNegatives([0.2, 0.7]), m.TrueNegatives(), m.TruePositives(), m.Precision(), m.Recall(),
             m.Precision(thresholds=[0.2, 0.7]), m.Recall(top_k=2), m.Precision(class_id=1), m.SensitivityAtSpecificity(0.4, 7),
             m.SpecificityAtSensitivity(0.4, 7), m.PrecisionAtRecall(0.4, 7), m.RecallAtPrecision(0.4, 7)]
    return measured(tf, kinds, ZERO_ONE, P)


@case(nodes=False, tolerance=1e-4)
def areas(tf):
    m = tf.keras.metrics
    kinds = [m.AUC(), m.AUC(5, "PR"), m.AUC(7, "PR", "majoring"), m.AUC(7, "ROC", "minoring"), m.AUC(thresholds=[0.1, 0.5])]
    several = m.AUC(7, multi_label=True, num_labels=4, label_weights=[1.0, 2.0, 3.0, 4.0])
    update = several.update_state(ZERO_ONE, P)
    tf.keras.backend.get_session().run(update)
    return measured(tf, kinds, ZERO_ONE, P), tf.keras.backend.get_session().run([several.result()] + several.variables)


@case(nodes=False, tolerance=1e-4)
def unions(tf):
    m = tf.keras.metrics
    return measured(tf, [m.OneHotIoU(4, [0, 3]), m.OneHotMeanIoU(4)], HOT, P)
