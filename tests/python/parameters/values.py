"""The arguments of the recipes: what the names in them stand for, and a value for a parameter by its name.

REQUIRED gives a function without a recipe its first arguments; OTHER gives a parameter a value that is not its default.
All values are Python expressions, which `environment` has the names for.
"""
import inspect
import types

import numpy as np

import uses

X = np.arange(12, dtype=np.float32).reshape(3, 4) / 7
Y = (np.arange(12, dtype=np.float32).reshape(3, 4) - 4) / 5
N = np.array([[3, 1, 4, 1], [5, 9, 2, 6], [5, 3, 5, 8]], np.int32)
SQUARE = np.array([[2, 0.5, 0], [0.5, 3, 1], [0, 1, 4]], np.float32)
PROBABILITY = (X + 0.1) / 2
NUMBERS = dict(
    X=X, Y=Y, N=N, M=N % 3, SQUARE=SQUARE, P=PROBABILITY, V=X[0], W=np.array([0.5, 2, 1, 0.25], np.float32),
    BOOL=X > 0.8, ZERO_ONE=(X > 0.8).astype(np.float32), ROWS=np.array([[1.0], [2.0], [0.5]], np.float32),
    LABELS=np.array([1, 3, 0], np.int32), ONE_HOT=np.eye(4, dtype=np.float32)[[1, 3, 0]], IDS=np.array([0, 2, 2], np.int32),
    COMPLEX=(X + 1j * Y).astype(np.complex64), WORDS=np.array([b"one two", b"three", b"  four,five "]),
    IMAGE=np.linspace(0, 1, 2 * 6 * 6 * 3, dtype=np.float32).reshape(2, 6, 6, 3) ** 2,
    PICTURE=np.linspace(0, 1, 6 * 4 * 3, dtype=np.float32).reshape(6, 4, 3),
    BYTES=(np.arange(6 * 4 * 3).reshape(6, 4, 3) * 3 % 256).astype(np.uint8),
    FILTER=np.linspace(-1, 1, 2 * 2 * 3 * 2, dtype=np.float32).reshape(2, 2, 3, 2),
    SQUARE_BOXES=np.array([[0, 0, 1, 1], [0, 0.3, 1, 1.3], [0, 3, 1, 4]], np.float32),
    VOLUME=np.linspace(0, 1, 2 * 4 * 4 * 4 * 3, dtype=np.float32).reshape(2, 4, 4, 4, 3) ** 2,
    FILTER3=np.linspace(-1, 1, 2 * 2 * 2 * 3 * 2, dtype=np.float32).reshape(2, 2, 2, 3, 2),
    SEQUENCE=np.linspace(-1, 1, 2 * 3 * 4, dtype=np.float32).reshape(2, 3, 4))

REQUIRED = dict(
    x="X", y="Y", a="X", b="Y", input="X", input_="X", input_tensor="X", tensor="X", features="Y", logits="Y", t="X",
    images="IMAGE", image="PICTURE", data="X", value="X", values="[X, Y]", labels="ZERO_ONE", predictions="P",
    matrix="SQUARE", diagonal="V", segment_ids="IDS", indices="IDS", num_segments="4", axis="1", inputs="[X, Y]",
    t_list="[X, Y]", clip_norm="1.5", condition="BOOL", params="X", shape="[3, 4]", source="WORDS",
    string_tensor="WORDS", elems="X", delta="0.25", seed="3")

OTHER = dict(
    name="'given'", scope="'given'", dtype="tf.float64", axis="0", axes="[0]", dim="0", keep_dims="True", keepdims="True",
    reduction_indices="[0]", seed="7", use_locking="True", validate_indices="False", weights="ROWS", summarize="2",
    message="'what was given'", data="[X]", collections="['given']", loss_collection="'given'", reduction="'none'",
    metrics_collections="['given']", updates_collections="['others']", shared_name="'given'", family="'given'",
    parallel_iterations="3", swap_memory="True", back_prop="False", reuse="tf.AUTO_REUSE", trainable="False",
    initializer="tf.constant_initializer(0.5)", regularizer="tf.nn.l2_loss", kernel_initializer="tf.constant_initializer(0.5)",
    bias_initializer="tf.constant_initializer(0.5)", kernel_regularizer="tf.nn.l2_loss", bias_regularizer="tf.nn.l2_loss",
    activity_regularizer="tf.nn.l2_loss", kernel_constraint="uses.halve", bias_constraint="uses.halve",
    constraint="uses.halve", activation="tf.nn.relu", caching_device="'/cpu:0'", partitioner="tf.fixed_size_partitioner(2)",
    use_resource="True", custom_getter="uses.getter", noise_shape="[3, 1]", combiner="'sum'", max_norm="0.5",
    partition_strategy="'div'", out_type="tf.int64", output_type="tf.int32", encoding="'latin-1'",
    beta_initializer="tf.constant_initializer(0.5)",
    gamma_initializer="tf.constant_initializer(0.5)", beta_regularizer="tf.nn.l2_loss", gamma_regularizer="tf.nn.l2_loss",
    outputs_collections="'given'", variables_collections="['given']", weights_initializer="tf.constant_initializer(0.5)",
    weights_regularizer="tf.nn.l2_loss", biases_initializer="tf.constant_initializer(0.5)", biases_regularizer="tf.nn.l2_loss",
    activation_fn="tf.nn.sigmoid", normalizer_fn="uses.halve", compression_type="'GZIP'", dimension="0", device="'/cpu:0'",
    graph="tf.Graph()", synchronization="tf.VariableSynchronization.ON_READ", aggregation="tf.VariableAggregation.SUM")


class Constants(dict):
    """The arrays above as constants, each made in the default graph when a recipe first asks for it."""

    def __init__(self, tf):
        super().__init__()
        self.tf = tf

    def __missing__(self, name):
        self[name] = self.tf.constant(NUMBERS[name], name=name)
        return self[name]


def environment(tf):
    """The names that recipes may use, as the globals and locals of eval: `X` is a tensor, `arrays.X` an array."""
    return dict(tf=tf, np=np, uses=uses.Uses(tf), arrays=types.SimpleNamespace(**NUMBERS)), Constants(tf)


def another(name, default, given):
    """The source of a value for a parameter, other than its default; None if there is no telling."""
    if default is inspect.Parameter.empty or given:
        return OTHER["name"] if name == "name" else None
    if isinstance(default, bool):
        return repr(not default)
    if name in OTHER:
        return OTHER[name]
    if isinstance(default, int):
        return repr(default + 1)
    if isinstance(default, float):
        return repr(default / 2 + 0.25)
    return None
