"""MultiWorkerMirroredStrategy before a session: which worker this is, its devices, shapes of sums, and the session's options."""
from machine import case

TWO = {"worker": ["b:1", "c:1"]}


def strategy(tf, cluster, task_type, task_id):
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec(cluster), task_type=task_type, task_id=task_id)
    return tf.distribute.experimental.MultiWorkerMirroredStrategy(cluster_resolver=resolver)


@case(nodes=False)
def places(tf):
    found = []
    for cluster, task_type, task_id in ((TWO, "worker", 1), (dict(TWO, ps=["a:1"]), "worker", 0), (dict(TWO, chief=["x:1"]), "worker", 1),
                                        (dict(TWO, chief=["x:1"]), "chief", 0), ({"worker": ["b:1"]}, "worker", 0)):
        made = strategy(tf, cluster, task_type, task_id)
        extended = made.extended
        config = made.update_config_proto(tf.ConfigProto(device_filters=["/job:ps"]))
        found.append([made.num_replicas_in_sync, str(extended.worker_devices), extended.should_checkpoint, extended.should_save_summary,
                      extended.experimental_should_init, extended.experimental_between_graph])
        if made.num_replicas_in_sync > 1:
            found.append([list(config.device_filters), config.experimental.collective_group_leader, config.isolate_session_state])
    return found


@case(nodes=False)
def values(tf):
    made = strategy(tf, dict(TWO, chief=["x:1"]), "worker", 1)
    with made.scope():
        v = tf.get_variable("v", [2])
        w = tf.Variable(3, name="w", synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM)
        sums = [made.reduce("mean", tf.constant(2.0), axis=None), made.reduce(tf.distribute.ReduceOp.SUM, tf.constant([2.0, 3]), axis=0),
                made.reduce("SUM", made.run(lambda a: a + 1, args=(tf.constant([1, 2]),)), axis=None), w.read_value(),
                made.run(lambda: tf.distribute.get_replica_context().all_reduce("sum", tf.zeros([4, 3])))]
        number = made.run(lambda: tf.distribute.get_replica_context().replica_id_in_sync_group)
        number = tf.get_static_value(made.experimental_local_results(number)[0])
    return [v.name, v.device, type(v).__name__, type(w).__name__, [(t.shape.as_list(), t.dtype.name) for t in sums], int(number)]


@case(nodes=False)
def errors(tf):
    found = []
    for task_type, task_id in (("worker", 5), (None, None)):
        try:
            strategy(tf, TWO, task_type, task_id)
        except ValueError as e:
            found.append(str(e))
    return found
