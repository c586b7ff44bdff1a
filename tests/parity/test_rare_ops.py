"""Ops that few programs use and that no case of the battery can express."""
import numpy as np
import pytest
import tensorflow as tf

from scenario import Fails, check

raw = tf.raw_ops
CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


def test_an_immutable_constant_has_the_bytes_of_its_file(tmp_path):
    path = str(tmp_path / "numbers")
    np.arange(6, dtype=np.float32).tofile(path)

    def made(dtype, shape, region=path):
        return raw.ImmutableConst(dtype=dtype, shape=shape, memory_region_name=region)
    check(lambda: [made(tf.float32, [2, 3]), made(tf.float32, [2]), made(tf.int16, [3, 4]), made(tf.float32, [0]),
                   Fails(made(tf.float32, [2, 4])), Fails(made(tf.string, [2])), Fails(made(tf.float32, [None, 3])),
                   Fails(made(tf.float32, [2], path + "-not"))])


def test_a_tensor_passes_from_send_to_recv_within_a_step():
    def steps():
        ends = dict(tensor_name="x", send_device=CPU, send_device_incarnation=1, recv_device=CPU)
        sent = raw.Send(tensor=tf.constant([1.0, 2.0]), **ends)
        got = raw.Recv(tensor_type=tf.float32, **ends)
        with tf.control_dependencies([sent]):
            done = tf.identity(3)
        return [[got, done], [done, got]]
    check(steps)


def test_a_session_keeps_a_tensor_behind_a_resource():
    check(lambda: [raw.GetSessionHandleV2(value=[1.0, 2.0]).op, raw.GetSessionHandleV2(value=["a"]).op])


@pytest.mark.parametrize("dtype", ["float32", "string", "int64"])
def test_rows_are_pushed_to_lists(dtype):
    def lists():
        one = raw.EmptyTensorList(element_shape=tf.constant([2], tf.int32), max_num_elements=-1, element_dtype=dtype)
        return tf.stack([one, one])

    def rows(values):
        return tf.constant(values) if dtype == "string" else tf.cast(tf.strings.to_number(values), dtype)

    def pushed(to, values):
        return raw.TensorListPushBackBatch(input_handles=to, tensor=rows(values))

    def stacked(all_lists):
        return [raw.TensorListStack(input_handle=l, element_shape=[2], element_dtype=dtype) for l in tf.unstack(all_lists, num=2)]

    def steps():
        once = pushed(lists(), [["1", "2"], ["3", "4"]])
        wrong = tf.compat.v1.placeholder_with_default(tf.reshape(lists(), [2, 1]), None)
        return [stacked(once), stacked(pushed(once, [["5", "6"], ["7", "8"]])), Fails(pushed(lists(), [["1"], ["2"]])),
                Fails(pushed(wrong, [["1", "2"], ["3", "4"]]))]
    check(steps)
