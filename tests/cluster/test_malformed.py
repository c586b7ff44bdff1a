"""Bytes that are no message, messages out of order, depth without end: each costs one call, and the server serves on."""
import random

import grpc
import pytest

from rawclient import field, varint

MASTER = ["CreateSession", "ExtendSession", "PartialRunSetup", "RunStep", "CloseSession", "ListDevices", "Reset",
          "MakeCallable", "RunCallable", "ReleaseCallable"]
WORKER = ["GetStatus", "CreateWorkerSession", "DeleteWorkerSession", "RegisterGraph", "DeregisterGraph", "RunGraph",
          "CleanupGraph", "CleanupAll", "RecvTensor", "MarkRecvFinished", "Logging", "Tracing", "RecvBuf", "CompleteGroup",
          "CompleteInstance", "GetStepSequence"]
METHODS = ([f"/tensorflow.MasterService/{m}" for m in MASTER] + [f"/tensorflow.WorkerService/{m}" for m in WORKER] +
           ["/weft.Peer/Hello", "/weft.Peer/Fast", "/no.Such/Method"])


def call(channel, method, request, seconds=3):
    """The answer, or the status: a dead server would be UNAVAILABLE."""
    try:
        return channel.unary_unary(method)(request, timeout=seconds)
    except grpc.RpcError as error:
        assert error.code() != grpc.StatusCode.UNAVAILABLE, f"{method}: {error.details()}"
        return error.code()


def likely(rng, depth=0):
    """Bytes that look like a message: small fields, strings, messages in messages."""
    out = b""
    for _ in range(rng.randrange(1, 5)):
        number, kind = rng.randrange(1, 12), rng.randrange(4)
        if kind == 0:
            out += field(number, 0, varint(rng.choice([0, 1, 2, 127, 1 << 31, (1 << 64) - 1])))
        elif kind == 1:
            words = [b"", b"a:0", b"^a", b"/job:ps/replica:0/task:0/device:CPU:0", b"Const", b"\xff\xfe", b"a" * 300]
            out += field(number, 2, rng.choice(words))
        elif kind == 2 and depth < 6:
            out += field(number, 2, likely(rng, depth + 1))
        else:
            out += rng.randbytes(rng.randrange(6))
    return out


@pytest.fixture
def server(cluster):
    c = cluster(workers=0)
    task = c.serve("ps", 0)
    task.until("Started server")
    with grpc.insecure_channel(c.hosts["ps"][0], options=[("grpc.max_send_message_length", -1)]) as channel:
        yield task, channel
        assert task.process.poll() is None, task.output
        devices = call(channel, "/tensorflow.WorkerService/GetStatus", b"")
        assert b"/job:ps/replica:0/task:0/device:CPU:0" in devices


def test_random_bytes_to_every_method(server):
    task, channel = server
    rng = random.Random(1)
    for _ in range(60):
        for method in METHODS:
            call(channel, method, rng.randbytes(rng.randrange(200)))
            call(channel, method, likely(rng))
        assert task.process.poll() is None, task.output


def test_messages_nested_without_end(server):
    _, channel = server
    for number in range(1, 8):
        deep = b""
        for _ in range(30000):
            deep = field(number, 2, deep)
            if len(deep) > 400000:
                break
        for method in METHODS:
            call(channel, method, deep)


def test_calls_out_of_order(server):
    _, channel = server
    worker, master = "/tensorflow.WorkerService/", "/tensorflow.MasterService/"
    unknown = field(1, 2, b"0123456789abcdef")
    aborted, invalid = grpc.StatusCode.ABORTED, grpc.StatusCode.INVALID_ARGUMENT
    assert call(channel, worker + "RunGraph", unknown + field(2, 0, b"\x05")) == aborted
    assert call(channel, worker + "RegisterGraph", unknown + field(6, 0, b"\x01")) == aborted
    assert call(channel, worker + "DeregisterGraph", unknown) == aborted
    assert call(channel, worker + "DeleteWorkerSession", unknown) == b""
    assert call(channel, worker + "CleanupGraph", field(1, 0, b"\x07")) == b""
    assert call(channel, worker + "CreateWorkerSession", b"") == invalid
    assert call(channel, worker + "RecvTensor", field(2, 2, b"no key")) == invalid
    assert call(channel, master + "RunStep", unknown) == aborted
    assert call(channel, master + "CloseSession", unknown) == aborted
    assert call(channel, master + "ListDevices", unknown) == invalid
    assert call(channel, "/no.Such/Method", b"") == grpc.StatusCode.UNIMPLEMENTED
    assert call(channel, worker + "CompleteGroup", b"") == invalid
    assert call(channel, worker + "CompleteInstance", b"") == invalid
    assert call(channel, worker + "RecvBuf", b"") == invalid
    assert call(channel, worker + "GetStepSequence", b"") == b""
