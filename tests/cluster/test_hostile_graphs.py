"""Graphs that are well formed and would take a server down if it believed them: each costs one call."""
import grpc
import pytest

from test_malformed import field

pytest.importorskip("tensorflow")
from tensorflow.core.framework import graph_pb2, tensor_pb2, types_pb2  # noqa: E402

FLOAT, STRING, INT32 = types_pb2.DT_FLOAT, types_pb2.DT_STRING, types_pb2.DT_INT32


@pytest.fixture
def server(cluster):
    c = cluster(workers=0)
    task = c.serve("ps", 0)
    task.until("Started server")
    with grpc.insecure_channel(c.hosts["ps"][0]) as channel:
        yield task, channel


def master(channel, method, request, seconds=60):
    return channel.unary_unary(f"/tensorflow.MasterService/{method}")(request, timeout=seconds)


def create(channel, graph):
    """A session's handle, as a field of the requests that name it."""
    graph.versions.producer = 1395
    answer = master(channel, "CreateSession", field(1, 2, graph.SerializeToString()))
    return field(1, 2, answer[2:2 + answer[1]])


def run(server, graph, fetch):
    """The answer, or the error; the server must serve the next client all the same."""
    task, channel = server
    handle = None
    try:
        handle = create(channel, graph)
        return master(channel, "RunStep", handle + field(3, 2, fetch.encode()))
    except grpc.RpcError as error:
        assert error.code() != grpc.StatusCode.UNAVAILABLE, (error.details(), task.output)
        return error
    finally:
        assert task.process.poll() is None, task.output
        if handle:
            master(channel, "CloseSession", handle)
        assert_serves(channel)


def assert_serves(channel):
    graph = graph_pb2.GraphDef()
    constant(graph, "x", FLOAT, [], float_val=[7.0])
    handle = create(channel, graph)
    assert b"\x00\x00\xe0\x40" in master(channel, "RunStep", handle + field(3, 2, b"x:0"))
    master(channel, "CloseSession", handle)


def node(where, name, op, inputs=(), **attrs):
    n = where.add(name=name, op=op, input=inputs)
    for key, value in attrs.items():
        a = n.attr[key]
        if isinstance(value, str):
            a.func.name = value
        elif isinstance(value, list):
            a.list.type.extend(value)
            a.list.SetInParent()
        else:
            a.type = value
    return n


def constant(graph, name, dtype, dims, **values):
    t = tensor_pb2.TensorProto(dtype=dtype, **values)
    for d in dims:
        t.tensor_shape.dim.add(size=d)
    t.tensor_shape.SetInParent()
    node(graph.node, name, "Const", dtype=dtype).attr["value"].tensor.CopyFrom(t)


def function(graph, name, result="y:output:0"):
    f = graph.library.function.add()
    f.signature.name = name
    f.signature.input_arg.add(name="x", type=FLOAT)
    f.signature.output_arg.add(name="out", type=FLOAT)
    f.ret["out"] = result
    return f


def calls(f, name, callee):
    return node(f.node_def, name, "PartitionedCall", ["x"], f=callee, Tin=[FLOAT], Tout=[FLOAT])


def called(name):
    """A graph that calls the function; it is for the caller to define."""
    graph = graph_pb2.GraphDef()
    constant(graph, "x", FLOAT, [], float_val=[1.0])
    node(graph.node, "top", "PartitionedCall", ["x"], f=name, Tin=[FLOAT], Tout=[FLOAT])
    return graph


def chain(n, times):
    graph = called(f"f{n - 1}")
    for i in range(n):
        f = function(graph, f"f{i}", "sum:z:0")
        if i == 0:
            node(f.node_def, "sum", "Add", ["x", "x"], T=FLOAT)
            continue
        for j in range(times):
            calls(f, f"y{j}", f"f{i - 1}")
        node(f.node_def, "sum", "Add", ["y0:output:0", f"y{times - 1}:output:0"], T=FLOAT)
    return graph


def array_ops(graph):
    constant(graph, "handle", STRING, [2], string_val=[b"_tensor_arrays", b"x"])
    constant(graph, "flow", FLOAT, [], float_val=[0.0])
    constant(graph, "indices", INT32, [1], int_val=[0])
    constant(graph, "rows", FLOAT, [1], float_val=[1.0])
    node(graph.node, "size", "TensorArraySizeV2", ["handle", "flow"])
    node(graph.node, "concat", "TensorArrayConcatV2", ["handle", "flow"], dtype=FLOAT)
    node(graph.node, "gather", "TensorArrayGatherV2", ["handle", "indices", "flow"], dtype=FLOAT)
    node(graph.node, "scatter", "TensorArrayScatterV2", ["handle", "indices", "rows", "flow"], T=FLOAT)


@pytest.mark.parametrize("op", ["size", "concat", "gather", "scatter"])
def test_a_tensor_array_of_a_constant_handle(server, op):
    graph = graph_pb2.GraphDef()
    array_ops(graph)
    error = run(server, graph, f"{op}:0")
    assert error.code() == grpc.StatusCode.NOT_FOUND and "does not exist in this step" in error.details()


def test_a_tensor_array_of_a_constant_handle_in_a_function(server):
    graph = called("f")
    inner = graph_pb2.GraphDef()
    array_ops(inner)
    f = function(graph, "f", "gather:value:0")
    names = {"handle": "handle:output:0", "flow": "flow:output:0", "indices": "indices:output:0"}
    for n in inner.node:
        if n.op == "Const" or n.name == "gather":
            copy = f.node_def.add()
            copy.CopyFrom(n)
            copy.input[:] = [names[i] for i in n.input]
    error = run(server, graph, "top:0")
    assert error.code() == grpc.StatusCode.NOT_FOUND and "does not exist in this step" in error.details()


def recursive_by_call():
    graph = called("f")
    calls(function(graph, "f"), "y", "f")
    return graph


def recursive_by_name():
    graph = called("f")
    node(function(graph, "f", "y:out:0").node_def, "y", "f", ["x"])
    return graph


def recursive_by_if():
    graph = called("f")
    calls(function(graph, "leaf"), "y", "f")
    f = function(graph, "f")
    node(f.node_def, "y", "If", ["x", "x"], Tcond=FLOAT, Tin=[FLOAT], Tout=[FLOAT], then_branch="f", else_branch="leaf")
    return graph


def recursive_by_gradient():
    graph = called("f")
    node(function(graph, "f").node_def, "y", "SymbolicGradient", ["x", "x"], f="f", Tin=[FLOAT, FLOAT], Tout=[FLOAT])
    return graph


@pytest.mark.parametrize("graph", [recursive_by_call, recursive_by_name, recursive_by_if, recursive_by_gradient])
def test_a_function_that_calls_itself(server, graph):
    error = run(server, graph(), "top:0")
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT and "calls itself: f -> f" in error.details()


def test_chains_and_doublings_of_functions(server):
    assert b"top:0" in run(server, chain(100, 1), "top:0")
    error = run(server, chain(3000, 1), "top:0")
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT and "nested at most" in error.details()
    error = run(server, chain(40, 2), "top:0")
    assert error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED and "which is the limit" in error.details()


def test_a_compression_type_that_is_no_scalar(server):
    graph = graph_pb2.GraphDef()
    constant(graph, "files", STRING, [1], string_val=[b"none"])
    constant(graph, "empty", STRING, [0])
    constant(graph, "buffer", types_pb2.DT_INT64, [], int64_val=[0])
    node(graph.node, "set", "TFRecordDataset", ["files", "empty", "buffer"])
    shaped = node(graph.node, "first", "DatasetToSingleElement", ["set"], output_types=[STRING])
    shaped.attr["output_shapes"].list.shape.add()
    error = run(server, graph, "first:0")
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT and "compression_type is not a scalar" in error.details()
