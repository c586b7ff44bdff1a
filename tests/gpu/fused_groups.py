"""fused_groups.py - elementwise ops that become one kernel with several results: are the numbers those of single kernels?

    python3 -m weft tests/gpu/fused_groups.py    with the package on PYTHONPATH; WEFT_CUDA_PLUGIN=simulated needs no card

Each model runs twice on the card, the second time with WEFT_GPU_NO_REPLAY=1, which groups nothing, and WEFT_GPU_COMPILE=0, which
compiles no kernels.  Each line has the model's name, how many groups it has in each run, and whether all numbers are the same.
Chains of halves are near: they round only their result.  So are sums along rows, which are added in another order.  Large models are
grouped only where kernels can be compiled.
"""
import os

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(0)


def gates(dtype=tf.float32):
    """The pointwise part of an LSTM cell and its gradient."""
    z, c = tf.placeholder(dtype, [3, 20]), tf.placeholder(dtype, [3, 5])
    bias = tf.get_variable("bias", [20], dtype, tf.random_normal_initializer(seed=1))
    i, j, f, o = tf.split(tf.nn.bias_add(z, bias), 4, axis=1)
    state = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
    out = tf.tanh(state) * tf.sigmoid(o)
    loss = tf.reduce_sum(out * out) + tf.reduce_sum(state)
    return [out, state] + tf.gradients(loss, [z, c, bias]), {z: rng.randn(3, 20), c: rng.randn(3, 5)}


def gates_in_half():
    return gates(tf.float16)


def gates_in_double():
    return gates(tf.float64)


def fetched_parts():
    """A part of a split is fetched, so the split stays."""
    z = tf.placeholder(tf.float32, [4, 6])
    left, right = tf.split(z * 2.0, 2, axis=1)
    a = tf.tanh(left) * right
    return [left, a, tf.sigmoid(a) + a], {z: rng.randn(4, 6)}


def rows():
    """Parts along the first axis, and results that are joined along it."""
    z = tf.placeholder(tf.float32, [6, 4])
    top, bottom = tf.slice(z, [0, 0], [3, 4]), tf.slice(z, [3, 0], [3, 4])
    a, b = tf.tanh(top) * bottom, tf.sigmoid(bottom)
    joined = tf.concat([a + b, a - b], 0)
    return [tf.matmul(joined, joined, transpose_b=True), a], {z: rng.randn(6, 4)}


def columns():
    """Operands that broadcast: a scalar, a row and a column."""
    x, row, column = (tf.placeholder(tf.float32, s) for s in ([5, 7], [7], [5, 1]))
    a = x * row + 1.5
    b = tf.tanh(a) + column
    return [a, b, tf.concat([a * b, tf.sigmoid(b)], 1)], {x: rng.randn(5, 7), row: rng.randn(7), column: rng.randn(5, 1)}


def joined_with_others():
    """Results that are joined with values that are no results, in two ways; the second comes later."""
    x, h = tf.placeholder(tf.float32, [3, 4]), tf.placeholder(tf.float32, [3, 4])
    w = tf.get_variable("w", [8, 4], initializer=tf.random_normal_initializer(seed=2))
    out = tf.tanh(h) * x
    first = tf.matmul(tf.concat([x, out], 1), w)
    second = tf.matmul(tf.concat([out, h, out], 0), w[:4])
    return [first, second] + tf.gradients(tf.reduce_sum(first * first) + tf.reduce_sum(second), [x, h, w]), {
        x: rng.randn(3, 4), h: rng.randn(3, 4)}


def sums():
    """A sum of more than two, of parts and of other values."""
    z, x = tf.placeholder(tf.float32, [4, 9]), tf.placeholder(tf.float32, [4, 3])
    a, b, c = tf.split(z, 3, axis=1)
    total = tf.add_n([a, b, x, c, x])
    return [tf.sigmoid(total) * a, total], {z: rng.randn(4, 9), x: rng.randn(4, 3)}


def changed_between():
    """A variable that changes between its two readers."""
    v = tf.get_variable("v", [4], initializer=tf.zeros_initializer(), use_resource=False)
    x = tf.placeholder(tf.float32, [4])
    before = tf.tanh(x + v)
    with tf.control_dependencies([before]):
        add = tf.assign_add(v, before * 0.5)
    with tf.control_dependencies([add]):
        after = tf.sigmoid(v.read_value() + before)
    return [before, after, before * after], {x: rng.randn(4)}


def handed_on():
    """Items that hand on their input: one is fetched, one is awaited, and one reads a variable that changes afterwards."""
    v = tf.get_variable("v", [4], initializer=tf.zeros_initializer(), use_resource=False)
    x = tf.placeholder(tf.float32, [4])
    same, before = tf.reshape(tf.tanh(x), [4]), tf.identity(v)
    with tf.control_dependencies([before, same]):
        add = tf.assign_add(v, same)
    with tf.control_dependencies([add]):
        late = tf.identity(same * 2.0)
    return [same, before * same, late + before, tf.reduce_sum(same, axis=[]) * 3.0 + late], {x: rng.randn(4)}


def descent():
    """The update of a variable stays at the end of a chain."""
    v = tf.get_variable("v", [4, 4], initializer=tf.ones_initializer())
    x = tf.placeholder(tf.float32, [4, 4])
    y = tf.tanh(v * x)
    loss = tf.reduce_sum(y * y + tf.sigmoid(y))
    return [loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss)], {x: rng.randn(4, 4)}


def large_norm():
    """A layer norm and its gradient, whose statistics are columns and are repeated by BroadcastTo."""
    x = tf.placeholder(tf.float32, [1024, 768])
    y = tf.contrib.layers.layer_norm(x * 2.0, begin_norm_axis=-1, begin_params_axis=-1)
    loss = tf.reduce_sum(tf.square(y) * tf.tanh(x))
    return [y] + tf.gradients(loss, [x] + tf.trainable_variables()), {x: rng.randn(1024, 768)}


def norm_of(rows, columns, dtype=tf.float32):
    """A layer norm behind a residual and its gradient; the scale's gradient sums rows of what the rest reads."""
    x, z = (tf.placeholder(dtype, [rows, columns]) for _ in range(2))
    scale, offset = (tf.get_variable(name, [columns], dtype, tf.random_normal_initializer(1.0, 0.1, seed=1)) for name in ("s", "o"))
    a = tf.tanh(x) + z
    mean, variance = tf.nn.moments(a, [-1], keep_dims=True)
    y = tf.nn.batch_normalization(a, mean, variance, offset, scale, 1e-6)
    loss = tf.reduce_sum(tf.square(y) * tf.tanh(z)) + tf.reduce_sum(y * x)
    return [y, mean, tf.reduce_sum(a * a, axis=1)] + tf.gradients(loss, [x, z, scale, offset]), {
        x: rng.randn(rows, columns), z: rng.randn(rows, columns)}


def large_norm_of_odd_rows():
    return norm_of(2700, 100)


def large_norm_of_long_rows():
    return norm_of(301, 2500)


def large_norm_in_double():
    return norm_of(600, 520, tf.float64)


def attention_of(texts, heads, length, width):
    """The softmax of an attention with its mask and dropout; one row has a NaN, and one is masked but for one column."""
    scores, mask = tf.placeholder(tf.float32, [texts, heads, length, width]), tf.placeholder(tf.float32, [texts, 1, 1, width])
    weights = tf.nn.softmax(scores * 0.125 + mask)
    kept = tf.nn.dropout(weights, 0.9, seed=3)
    given = rng.randn(texts, heads, length, width)
    given[0, 0, 0, 1] = np.nan
    hidden = -1e4 * (rng.rand(texts, 1, 1, width) < 0.3)
    hidden[-1, ..., 1:] = -1e9
    loss = tf.reduce_sum(kept[:, :, 1:] * kept[:, :, 1:] * scores[:, :, 1:])
    return [weights, kept] + tf.gradients(loss, [scores, mask]), {scores: given, mask: hidden}


def large_attention():
    return attention_of(4, 3, 200, 128)


def large_attention_of_short_rows():
    return attention_of(16, 12, 150, 12)


def large_heads():
    """Transposes of the heads of an attention and of their gradients, which groups do while they read and write."""
    x = tf.placeholder(tf.float32, [1040, 512])
    bias = tf.get_variable("bias", [512], initializer=tf.random_normal_initializer(seed=1))
    heads = tf.transpose(tf.reshape(tf.nn.bias_add(x, bias), [8, 130, 8, 64]), [0, 2, 1, 3])
    back = tf.transpose(heads * 2.0, [2, 0, 1, 3])
    moved = tf.reshape(tf.transpose(tf.tanh(back), [1, 0, 2, 3]), [1040, 512])
    loss = tf.reduce_sum(tf.square(tf.sigmoid(moved) + moved))
    return [heads, back, moved] + tf.gradients(loss, [x, bias]), {x: rng.randn(1040, 512)}


def large_gelu(dtype=tf.float32):
    """Values that are read several times, in a formula and in its gradient."""
    x = tf.placeholder(dtype, [512, 1024])
    bias = tf.get_variable("bias", [1024], dtype, tf.random_normal_initializer(seed=1))
    z = tf.nn.bias_add(x, bias)
    y = z * 0.5 * (1.0 + tf.tanh(0.7978845608 * (z + 0.044715 * tf.pow(z, 3)))) + tf.erf(z)
    return [y] + tf.gradients(tf.reduce_sum(y * y), [x, bias]), {x: rng.randn(512, 1024)}


def large_gelu_in_half():
    return large_gelu(tf.float16)


def large_gelu_in_double():
    return large_gelu(tf.float64)


def large_update():
    """An optimizer that is written op by op."""
    p, m, v = (tf.get_variable(n, [700, 512], initializer=tf.constant_initializer(0.5)) for n in "pmv")
    g = tf.placeholder(tf.float32, [700, 512])
    scaled = g * 0.3
    next_m = 0.9 * m + 0.1 * scaled
    next_v = 0.999 * v + 0.001 * tf.square(scaled)
    update = next_m / (tf.sqrt(next_v) + 1e-6) + 0.01 * p
    return [tf.group(p.assign(p - 0.1 * update), m.assign(next_m), v.assign(next_v))], {g: rng.randn(700, 512)}


def swapped():
    """Two variables get values that are computed of each other; a third is assigned but not read, and a fourth is read as a row."""
    a, b, c, row = (tf.get_variable(n, s, initializer=tf.constant_initializer(i + 0.5), use_resource=False)
                    for i, (n, s) in enumerate([("a", [4, 6]), ("b", [4, 6]), ("c", [4, 6]), ("row", [1, 6])]))
    x = tf.placeholder(tf.float32, [4, 6])
    new_a, new_b = tf.tanh(b * x) + row, a - b * 0.5
    new_c = new_a * new_b
    with tf.control_dependencies([new_a, new_b, new_c]):
        return [tf.group(a.assign(new_a), b.assign(new_b), c.assign(new_c)), new_c], {x: rng.randn(4, 6)}


def assigned_later():
    """The old value is read between the new value and its assignment, and the new one after that."""
    v = tf.get_variable("v", [3, 4], initializer=tf.ones_initializer(), use_resource=False)
    x = tf.placeholder(tf.float32, [3, 4])
    y = tf.sigmoid(v * x)
    new = y * v + x
    with tf.control_dependencies([new]):
        old = tf.matmul(v.read_value(), x, transpose_b=True)
    with tf.control_dependencies([old]):
        assign = v.assign(new)
    with tf.control_dependencies([assign]):
        late = tf.matmul(v.read_value(), x, transpose_b=True)
    return [y, old, late, tf.tanh(late) * late], {x: rng.randn(3, 4)}


def assigned_and_fetched():
    """The output of an assignment is fetched, and so is the value of another one."""
    v, w = (tf.get_variable(n, [3, 4], initializer=tf.ones_initializer(), use_resource=False) for n in "vw")
    x = tf.placeholder(tf.float32, [3, 4])
    new_v, new_w = v * x + 1.0, tf.tanh(w) - x
    return [v.assign(new_v), w.assign(new_w).op, new_w * 2.0, new_w], {x: rng.randn(3, 4)}


def choices(dtype=tf.float32, rows=5):
    """Comparisons and choices between floats, of which one mask is fetched; NaN is neither less nor more."""
    x, r = tf.placeholder(dtype, [rows, 512]), tf.placeholder(dtype, [rows, 512])
    keep = r >= 0.3
    y = tf.where(keep, tf.tanh(x) * 1.5, tf.zeros_like(x)) + r
    z = tf.where_v2(y > x, y, 0.25) * tf.where(tf.less(x, r), x, y) + tf.where(y[:, 0] <= 0.5, x, y)
    values = rng.randn(rows, 512)
    if dtype != tf.float16:
        values[0, :3] = np.nan, np.inf, -np.inf
    return [keep, y, z, y <= 0.5] + tf.gradients(tf.reduce_sum(z * z), [x, r]), {x: values, r: rng.rand(rows, 512)}


def choices_by_row():
    """Conditions that are vectors: of Select one for each row, of SelectV2 one for each column."""
    x, n = tf.placeholder(tf.float32, [8, 8]), tf.placeholder(tf.float32, [8])
    wide = tf.placeholder(tf.float32, [8, 6, 4])
    y = tf.tanh(x) * 2.0
    z = tf.where(n > 0.0, y, x + 1.0) * tf.where_v2(n > 0.0, y, 0.5)
    u = tf.where(n > 0.0, tf.sigmoid(wide) + 1.0, wide) * 3.0
    return [z, u, tf.gradients(z, x)[0], tf.gradients(u, wide)[0]], {
        x: rng.randn(8, 8), n: [1, -1, 1, 1, -1, 1, -1, -1], wide: rng.randn(8, 6, 4)}


def choices_in_half():
    return choices(tf.float16)


def large_choices():
    return choices(rows=520)


def large_choices_in_double():
    return choices(tf.float64, 520)


def large_dropout():
    """A dense layer with dropout and a residual, as in a transformer."""
    x = tf.placeholder(tf.float32, [1024, 512])
    bias = tf.get_variable("bias", [512], initializer=tf.random_normal_initializer(seed=1))
    y = tf.nn.dropout(tf.nn.bias_add(x * 2.0, bias), 0.9, seed=3) + x
    return [y] + tf.gradients(tf.reduce_sum(y * y), [x, bias]), {x: rng.randn(1024, 512)}


def attention_scores():
    """Two steps of an attention by a sum over tanh: groups read sums of rows that another group repeats."""
    keys, query = tf.placeholder(tf.float32, [64, 30, 256]), tf.placeholder(tf.float32, [64, 256])
    score = tf.get_variable("score", [256], initializer=tf.random_normal_initializer(0, 0.1, seed=1))
    state = query
    for _ in range(2):
        e = tf.reduce_sum(score * tf.tanh(keys + tf.expand_dims(state, 1)), 2)
        state = tf.tanh(tf.reduce_sum(tf.expand_dims(tf.nn.softmax(e), 2) * keys, 1))
    return [state] + tf.gradients(tf.reduce_sum(state * state), [keys, query, score]), {
        keys: rng.randn(64, 30, 256), query: rng.randn(64, 256)}


def large_columns_kept():
    """One number per row, computed in a group without sums of rows, and read by others too."""
    x, column = tf.placeholder(tf.float32, [1024, 512]), tf.placeholder(tf.float32, [1024, 1])
    scale = tf.tanh(column * 2.0)
    return [tf.sigmoid(x * scale) + x, scale], {x: rng.randn(1024, 512), column: rng.randn(1024, 1)}


def run(model):
    tf.reset_default_graph()
    rng.seed(0)
    fetches, feed = model()
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as s:
        s.run(tf.global_variables_initializer())
        got = [[v for v in s.run(fetches, feed) if v is not None] for _ in range(4)]
        got.append(s.run(tf.global_variables()))
        meta = tf.RunMetadata()
        s.run(fetches, feed, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=meta)
        groups = sum("_FusedGroup" in n.timeline_label for d in meta.step_stats.dev_stats for n in d.node_stats)
    return np.concatenate([np.ravel(v) for step in got for v in step]), groups


for model in (gates, gates_in_half, gates_in_double, fetched_parts, rows, columns, joined_with_others, sums,
              changed_between, handed_on, descent, large_norm, large_gelu, large_gelu_in_half, large_gelu_in_double, large_update,
              swapped, assigned_later, assigned_and_fetched, choices, choices_by_row, choices_in_half, large_choices,
              large_choices_in_double,
              large_dropout, large_norm_of_odd_rows, large_norm_of_long_rows, large_norm_in_double, large_attention,
              large_attention_of_short_rows, large_heads, attention_scores, large_columns_kept):
    os.environ.pop("WEFT_GPU_NO_REPLAY", None)
    os.environ.pop("WEFT_GPU_COMPILE", None)
    together, groups = run(model)
    os.environ["WEFT_GPU_NO_REPLAY"], os.environ["WEFT_GPU_COMPILE"] = "1", "0"
    single, none = run(model)
    same = together.tobytes() == single.tobytes()
    near = together.dtype == np.float16 and np.abs(together - single).max() <= 4e-3 * np.abs(single).max()
    if "norm" in model.__name__ or "attention" in model.__name__:
        near = np.allclose(together, single, 1e-4, 2e-4 if together.dtype == np.float32 else 1e-10, equal_nan=True)
    print(model.__name__, groups, none, "same" if same else "near" if near else
          "DIFFERENT: %s, %s" % (together, single), flush=True)
