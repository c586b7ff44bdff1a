"""A client of MasterService by hand: messages as bytes over gRPC, so that a test chooses deadlines and when to give up."""
import itertools
import struct
import time

import grpc

MASTER = "/tensorflow.MasterService/"
REQUEST_ID = itertools.count(time.monotonic_ns() & 0xFFFFFFFFFF)


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, wire, payload=b""):
    tag = varint(number << 3 | wire)
    return tag + (varint(len(payload)) + payload if wire == 2 else payload)


def text(number, value):
    return field(number, 2, value.encode())


def fields(message):
    """(number, value) of every field of a message: an int or bytes."""
    at = 0

    def read():
        nonlocal at
        n = shift = 0
        while True:
            byte = message[at]
            at += 1
            n |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return n

    while at < len(message):
        tag = read()
        if tag & 7 == 0:
            yield tag >> 3, read()
            continue
        size = {1: 8, 5: 4}.get(tag & 7) or read()
        yield tag >> 3, message[at:at + size]
        at += size


def report(address):
    """The fields of a task's report, as in proto/report.proto."""
    with grpc.insecure_channel(address) as channel:
        return list(fields(channel.unary_unary("/weft.Peer/Report")(field(1, 0, b"\x01"), timeout=30)))


class Client:
    """A session of a server, made from a graph."""

    def __init__(self, address, graph, config=b""):
        self.channel = grpc.insecure_channel(address)
        answer = self.call("CreateSession", field(1, 2, graph) + field(2, 2, config), 30)
        self.handle = text(1, dict(fields(answer))[1].decode())

    def call(self, method, request, seconds):
        return self.channel.unary_unary(MASTER + method)(request, timeout=seconds)

    def begin(self, method, request, seconds):
        """A call that the caller waits for, or cancels."""
        return self.channel.unary_unary(MASTER + method).future(request, timeout=seconds)

    def step(self, *fetches, timeout_ms=0):
        options = field(5, 2, field(2, 0, varint(timeout_ms))) if timeout_ms else b""
        return (self.handle + b"".join(text(3, f) for f in fetches) + options + field(8, 0, varint(next(REQUEST_ID))))

    def run(self, *fetches, timeout_ms=0, seconds=40):
        return self.call("RunStep", self.step(*fetches, timeout_ms=timeout_ms), seconds)

    def scalar(self, fetch, seconds=60):
        """A scalar float that a step fetches."""
        named = dict(fields(self.run(fetch, seconds=seconds)))[1]
        tensor = dict(fields(dict(fields(named))[2]))
        return struct.unpack("<f", tensor[4] if 4 in tensor else tensor[5])[0]

    def devices(self, seconds):
        return self.call("ListDevices", self.handle, seconds)

    def close(self):
        self.call("CloseSession", self.handle, 30)
        self.channel.close()
