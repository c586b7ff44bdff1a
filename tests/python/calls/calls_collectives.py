"""Collective ops over the CPU devices of one process: what each member gets, bit for bit, and what goes wrong."""
import numpy as np

from machine import case

R = np.random.RandomState(5)


def outcome(tf, build, members=3, times=1):
    """The members' values, or the error without the nodes that Python and TensorFlow name."""
    with tf.Graph().as_default():
        config = tf.ConfigProto(device_count={"CPU": members})
        try:
            fetches = []
            for i in range(members):
                with tf.device("/cpu:%d" % i):
                    fetches.append(build(tf.raw_ops, i))
            with tf.Session(config=config) as sess:
                options = tf.RunOptions(timeout_in_ms=9000)
                options.experimental.collective_graph_key = 7
                for _ in range(times):
                    values = sess.run(fetches, options=options)
            return values
        except tf.errors.OpError as e:
            text = e.message.partition("\n\nOriginal stack")[0]
            return type(e).__name__, [line for line in text.split("\n") if line.startswith(("Collective", "group_size", "The error"))]
        except ValueError as e:
            return "ValueError", str(e)[:40]


def keys(size=3, **more):
    return dict(group_size=size, group_key=1, instance_key=1, **more)


@case(nodes=False, tolerance=0)
def reductions(tf):
    found = []
    for size in (1, 5, 16, 17, 48, 100, 1000):
        x = R.randn(3, size).astype(np.float32)
        for merge in ("Add", "Mul", "Min", "Max"):
            found.append(outcome(tf, lambda raw, i: raw.CollectiveReduce(
                input=x[i], merge_op=merge, final_op="Div" if size % 2 else "Id", subdiv_offsets=[0], **keys()), times=2))
    x = R.randn(3, 7, 11)
    for dtype in (np.float16, np.float64, np.int32, np.int64):
        for final in ("Id", "Div"):
            found.append(outcome(tf, lambda raw, i: raw.CollectiveReduceV2(
                input=(x[i] * 9).astype(dtype), ordering_token=[], merge_op="Add", final_op=final, timeout_seconds=60.0, **keys())))
    for offsets in ([], [0, 1], [0, 1, 2, 0]):
        found.append(outcome(tf, lambda raw, i: raw.CollectiveReduce(
            input=x[i], merge_op="Add", final_op="Div", subdiv_offsets=offsets, communication_hint="ring", **keys())))
    found.append(outcome(tf, lambda raw, i: raw.CollectiveReduce(
        input=x[0], merge_op="Add", final_op="Div", subdiv_offsets=[0], **keys(1)), members=1))
    return found


@case(nodes=False, tolerance=0)
def exchanges(tf):
    x = R.randn(4, 4, 3).astype(np.float32)
    g = [outcome(tf, lambda raw, i: raw.CollectiveGather(input=x[i], shape=[16, 3], **keys(4)), 4),
         outcome(tf, lambda raw, i: raw.CollectiveGatherV2(input=x[i], ordering_token=[], **keys(4)), 4),
         outcome(tf, lambda raw, i: raw.CollectiveAllToAllV2(input=x[i], ordering_token=[], **keys(4)), 4)]
    for source in range(4):
        g.append(outcome(tf, lambda raw, i: raw.CollectiveBcastSend(input=x[i], shape=[4, 3], **keys(4)) if i == source else
                         raw.CollectiveBcastRecv(T=tf.float32, shape=[4, 3], **keys(4)), 4, times=2))
    g.append(outcome(tf, lambda raw, i: raw.CollectiveBcastSendV2(input=True, **keys(4)) if i == 2 else
                     raw.CollectiveBcastRecvV2(T=tf.bool, shape=np.int32([]), **keys(4)), 4))
    return g


@case(nodes=False)
def wrong(tf):
    x = np.float32([1, 2, 3, 4, 5])

    def reduce(raw, i, dtype=np.float32, size=3, merge="Add", n=5, **more):
        return raw.CollectiveReduce(input=x[:n].astype(dtype), group_size=size, group_key=1, instance_key=1, merge_op=merge, final_op="Id",
                                    subdiv_offsets=[0], **more)
    found = [outcome(tf, lambda raw, i: reduce(raw, i, size=0)),
             outcome(tf, lambda raw, i: raw.CollectiveGatherV2(input=1.0, ordering_token=[], **keys()))]
    # Which member is told of a difference depends on their order: only the kinds of error are compared.
    late = outcome(tf, lambda raw, i: reduce(raw, i, timeout_seconds=0.2), members=2)
    assert late[0] == "DeadlineExceededError" and "timed out waiting for other workers" in late[1][0], late
    kinds = [outcome(tf, lambda raw, i: reduce(raw, i, n=2 + i)), outcome(tf, lambda raw, i: reduce(raw, i, size=3 - i % 2)),
             outcome(tf, lambda raw, i: reduce(raw, i, dtype=np.float64 if i else np.float32)),
             outcome(tf, lambda raw, i: raw.CollectiveBcastSend(input=x, shape=[5], **keys(2)), 2),
             outcome(tf, lambda raw, i: raw.CollectiveBcastRecv(T=tf.float32, shape=[5], **keys(2)), 2)]
    return found + [(kind, len(lines)) for kind, lines in kinds]


@case(nodes=False)
def assigned(tf):
    with tf.Session() as sess:
        groups = [tf.raw_ops.CollectiveAssignGroupV2(group_assignment=[[0, 1], [2, 3]], device_index=i, base_key=10) for i in range(4)]
        return sess.run([list(g) for g in groups])


@case(alone=True)
def scattered(tf):
    """TensorFlow scatters on GPUs only; with communicators it ends the process now and then."""
    x = R.randn(3, 6, 2).astype(np.float32)
    made = outcome(tf, lambda raw, i: raw.CollectiveReduceScatterV2(
        input=x[i], ordering_token=[], merge_op="Max", final_op="Id", max_subdivs_per_device=1, is_stateless=True, **keys()))
    assert (np.concatenate(made) == x.max(0)).all(), made

    def grouped(raw, i):
        made = raw.CollectiveInitializeCommunicator(group_key=5, rank=i, group_size=3)
        return raw.CollectiveReduceV3(input=x[i], communicator=made, group_assignment=[[0, 1, 2]], reduction="Add")
    assert outcome(tf, grouped)[0] == "UnimplementedError"

    def summed(raw, i):
        group = raw.CollectiveInitializeCommunicator(group_key=5, rank=i, group_size=3)
        first = raw.CollectiveReduceV3(input=x[i], communicator=group, group_assignment=np.zeros((0, 0), np.int32), reduction="Max")
        return raw.CollectiveAllToAllV3(input=first[:3], communicator=group, group_assignment=np.zeros((0, 0), np.int32))
    rows = outcome(tf, summed)
    assert all((r == x.max(0)[i]).all() for i, r in enumerate(rows)), rows
