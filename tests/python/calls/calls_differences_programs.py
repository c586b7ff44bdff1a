"""Differences found by programs: empty pictures, glimpses, folders of checkpoints, and static shapes of sparse tensors."""
import os

from calls_differences_texts import text
from calls_differences_values import named
from machine import case


@case(nodes=False)
def pictures_without_pixels(tf):
    calls = (tf.image.rot90, tf.image.transpose_image, tf.image.flip_left_right, tf.image.per_image_standardization,
             lambda x: tf.image.random_flip_up_down(x, seed=1), lambda x: tf.image.central_crop(x, 0.5),
             lambda x: tf.image.resize_image_with_crop_or_pad(x, 2, 2))
    with tf.Session() as session:
        return [named(lambda: session.run(call(tf.placeholder_with_default(tf.zeros(have), known))).shape) for call in calls
                for have, known in (([2, 0, 3], [None, 0, None]), ([2, 0, 3], [None, None, 3]), ([1, 2, 3, 1], [None, None, None, 1]))]


@case(nodes=False)
def shapes_of_glimpses(tf):
    p = tf.placeholder
    pairs = [([None, 8, 8, 3], [4, 2]), ([5, 8, 8, 3], [None, 2]), ([5, 8, 8, 3], [4, 2]), ([5, 8, 8, None], [5, 3]), (None, None)]
    return [text(lambda: tf.image.extract_glimpse(p(tf.float32, x), [3, 2], p(tf.float32, o)).shape.as_list()) for x, o in pairs]


@case(nodes=False)
def folders_that_savers_make(tf):
    v, got = tf.Variable([1.0, 2.0], name="v"), []
    kinds = [{}, {"sharded": True}, {"write_version": tf.train.SaverDef.V1}]
    with tf.Session() as session:
        session.run(v.initializer)
        for i, kind in enumerate(kinds):
            for path in ("new%d/model" % i, "a%d/b/model" % i, "model%d" % i):
                got.append((text(lambda: tf.train.Saver(**kind).save(session, path)), os.path.isdir(os.path.dirname(path) or ".")))
    return got


def parts(sparse):
    """The static shapes of a SparseTensor and of its parts, and the type of the op of its shape."""
    whole = sparse.shape.as_list() if sparse.shape.ndims is not None else None
    return whole, str(sparse.indices.shape), str(sparse.dense_shape.shape), sparse.dense_shape.op.type


@case
def sparse_placeholders_of_shapes_in_tensors(tf):
    known = tf.placeholder(tf.float32, [None, 4])
    shapes = [tf.constant([2, 3], tf.int64), tf.constant([-1, 3], tf.int64), tf.shape(known, out_type=tf.int64),
              tf.placeholder(tf.int64, [2]), tf.placeholder(tf.int64, [None]), tf.placeholder(tf.int64), None, [None, 3], (2, 5)]
    wrong = named(lambda: tf.sparse_placeholder(tf.float32, tf.constant([2, 3])))
    return [parts(tf.sparse_placeholder(tf.float32, s)) for s in shapes] + [wrong]


@case(nodes=False)
def shapes_of_sparse_tensors_that_are_partly_known(tf):
    x = tf.placeholder(tf.float32, [None, 4])
    rows = tf.shape(x, out_type=tf.int64)
    made = [tf.SparseTensor([[0, 0]], [1.0], s).shape.as_list() for s in (
        rows, tf.cast(tf.shape(x), tf.int64), tf.stack([rows[0], 7]), tf.concat([rows[:1], [5]], 0))]
    pairs = [([None, 4], [3, None]), ([None, 4], [None, 5]), ([2, 4], [3, 4]), ([2, 3, None], [2, None, 5]), (None, [2, 3])]
    for first, second in pairs:
        for axis in (0, -1):
            for expand in (False, True):
                both = [tf.sparse_placeholder(tf.float32, s) for s in (first, second)]
                made.append(str(tf.sparse_concat(axis, both, expand_nonconcat_dim=expand).shape))
    return made


@case(nodes=False)
def names_that_are_not_names_of_tensors(tf):
    graph = tf.get_default_graph()
    tf.constant(1.0, name="a")
    calls = (graph.get_tensor_by_name, lambda n: graph.as_graph_element(n).name, lambda n: graph.as_graph_element(n, False, False))
    return [text(lambda: call(n)) for n in ("a", "a:", "a:x", "a:0:0", "a:1", "b", "b:0") for call in calls]


@case(nodes=False)
def sums_of_tensors_of_unknown_rank_are_scalars(tf):
    x, b = tf.placeholder(tf.float32), tf.placeholder(tf.bool)
    calls = (tf.reduce_sum, tf.reduce_mean, tf.reduce_prod, tf.reduce_max, tf.reduce_min, tf.reduce_logsumexp, tf.count_nonzero,
             tf.nn.zero_fraction, tf.math.reduce_variance, lambda t: tf.reduce_sum(t, 0), lambda t: tf.reduce_sum(t, keepdims=True),
             lambda t: tf.losses.mean_squared_error(t, x))
    made = [f(x) for f in calls]
    with tf.Session() as session:
        return [str(t.shape) for t in [*made, tf.reduce_all(b), tf.reduce_any(b)]], session.run(made[:9], {x: [[1.0, 2.0], [3.0, 0.0]]})


@case(nodes=False)
def floats_where_integers_belong(tf):
    calls = (lambda i: tf.nn.embedding_lookup(tf.ones([3, 2]), i), lambda i: tf.nn.embedding_lookup([tf.ones([3, 2]), tf.ones([2, 2])], i),
             lambda i: tf.nn.embedding_lookup_sparse(tf.ones([3, 2]), tf.SparseTensor([[0, 0]], i, [1, 1]), None),
             lambda i: tf.gather(tf.ones([3, 2]), i), lambda i: tf.random_normal(i), lambda i: tf.random_uniform(i),
             lambda i: tf.truncated_normal((2, *i)), lambda i: tf.glorot_uniform_initializer()([2, *i]))
    return [text(lambda: call([2.0])) for call in calls]


@case(nodes=False)
def numbers_drawn_after_a_one_shot_iterator(tf):
    tf.set_random_seed(3)
    rows = tf.data.Dataset.range(6).shuffle(6).batch(3)
    element = tf.data.make_one_shot_iterator(rows).get_next()
    drawn = tf.random_uniform([2])
    more = tf.data.make_initializable_iterator(rows)
    after = tf.random_uniform([2])
    with tf.Session() as session:
        session.run(more.initializer)
        return session.run([element, drawn, more.get_next(), after])


@case(nodes=False)
def hooks_that_see_a_request_to_stop(tf):
    seen = []

    class See(tf.train.SessionRunHook):
        def before_run(self, run_context):
            seen.append(run_context.stop_requested)

        def after_run(self, run_context, run_values):
            seen.append(run_context.stop_requested)
    step = tf.train.get_or_create_global_step()
    add = tf.assign_add(step, 1)
    with tf.train.MonitoredTrainingSession(hooks=[See(), tf.train.StopAtStepHook(last_step=2), See()]) as session:
        while not session.should_stop():
            session.run(add)
    return seen


@case
def variables_with_the_type_of_another(tf):
    v, n = tf.Variable([1.0, 2.0], name="v"), tf.Variable([1, 2], name="n")
    with tf.variable_scope("copy", reuse=tf.AUTO_REUSE):
        made = [tf.get_variable("g/" + o.op.name, shape=o.shape, dtype=o.dtype, collections=[tf.GraphKeys.GLOBAL_VARIABLES])
                for o in (v, n, v)]
        made.append(tf.get_variable("z", [2], v.dtype, tf.zeros_initializer(), use_resource=True))
    parts = tf.get_variable("p", [2], n.dtype, partitioner=tf.fixed_size_partitioner(2))
    return made[0] is made[2], [m.dtype.name for m in made], tf.assign(made[1], n), [p.dtype.name for p in parts]


class Removes(object):
    """A hook that takes a variable out of a collection before the session is made."""

    def __new__(cls, tf, name):
        class Hook(tf.train.SessionRunHook):
            def begin(self):
                listed = tf.get_collection_ref("variables")
                listed.remove(next(v for v in listed if v.op.name == name))
        return Hook()


@case(nodes=False)
def collections_changed_in_place(tf):
    a, b, c, d = (tf.Variable(float(i), name=n) for i, n in enumerate("abcd"))
    step = tf.train.get_or_create_global_step()
    more = tf.assign_add(step, 1)
    del tf.get_default_graph()._collections["variables"][1]
    sync = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 1)
    sync.minimize(a * a, step, [a])
    local = tf.group(tf.local_variables_initializer(), b.initializer, d.initializer)
    with tf.Session() as session:
        unready = sorted(session.run(sync.ready_for_local_init_op).tolist())
    first, queue = (tf.FIFOQueue(9, tf.int32, [[]], name=name) for name in "xy")
    for q in (first, queue):
        tf.train.add_queue_runner(tf.train.QueueRunner(q, [q.enqueue(1)]))
    del tf.get_collection_ref("queue_runners")[0]
    size, taken = first.size(), queue.dequeue()
    with tf.train.MonitoredTrainingSession(checkpoint_dir="m", save_summaries_steps=None, log_step_count_steps=None,
                                           hooks=[Removes(tf, "d")], scaffold=tf.train.Scaffold(local_init_op=local)) as session:
        session.run(more)
        values = session.run([b, d, taken, size])
    return unready, values, [name for name, _ in tf.train.list_variables(tf.train.latest_checkpoint("m"))]
