"""tf.profiler: the parameters, float operations, times and bytes of a graph, by name scope or by op.

The counts of float operations are TensorFlow's: one for each element of the output of an elementwise op, two for each product and
sum of a matrix product or convolution.  Ops that TensorFlow counts as none are none here too.
"""
import re

import weft as tf
from weft._core.framework import absent, proto, protos
from weft._core.framework.absent import Named

_COUNTS = ["%d int %s" % (i, n) for i, n in enumerate((
    "run_count", "exec_micros", "accelerator_exec_micros", "cpu_exec_micros", "requested_bytes", "peak_bytes", "residual_bytes",
    "output_bytes", "parameters", "float_ops", "total_definition_count", "total_run_count", "total_exec_micros",
    "total_accelerator_exec_micros", "total_cpu_exec_micros", "total_requested_bytes", "total_peak_bytes", "total_residual_bytes",
    "total_output_bytes", "total_parameters", "total_float_ops"), 30)]
GraphNodeProto = proto.message("GraphNodeProto", "1 string name", *_COUNTS, (11, protos.TensorShapeProto, "shapes", "repeated"))
proto.add_field(GraphNodeProto, "children", 12, GraphNodeProto, "repeated")
MultiGraphNodeProto = proto.message("MultiGraphNodeProto", "1 string name", *_COUNTS, (10, GraphNodeProto, "graph_nodes", "repeated"))
proto.add_field(MultiGraphNodeProto, "children", 11, MultiGraphNodeProto, "repeated")

_Trace = proto.message("CodeDef.Trace", "1 string file", "6 int file_id", "2 int32 lineno", "3 string function", "7 int function_id",
                       "4 string line", "8 int line_id", "5 int32 func_start_line")
_CodeDef = proto.message("CodeDef", (1, _Trace, "traces", "repeated"))
OpLogEntry = proto.message("OpLogEntry", "1 string name", "2 int float_ops", "3 repeated string types", (4, _CodeDef, "code_def"))
OpLogProto = proto.message("OpLogProto", (1, OpLogEntry, "log_entries", "repeated"), "2 imap string id_to_string")

_Checker = proto.message("AdviceProto.Checker", "2 repeated string reports")
AdviceProto = proto.message("AdviceProto", (1, _Checker, "checkers", "map"))


# ---- float operations ----

def _size(tensor):
    count = tensor.shape.num_elements()
    if count is None:
        raise ValueError("unknown shape")
    return count


def _out(times):
    return lambda op: times * _size(op.outputs[0])


def _reduced(op):
    return _size(op.inputs[0]) - _size(op.outputs[0])


def _product(op):
    _size(op.inputs[0])  # TensorFlow counts nothing if this shape is unknown, even if the output's is known.
    a = op.inputs[0].shape.as_list()
    transposed = any(op.node_def.attr[n].b for n in ("transpose_a", "adj_x") if n in op.node_def.attr)
    return 2 * a[-2 if transposed else -1] * _size(op.outputs[0])


def _convolution(op):
    return 2 * _size(op.inputs[1]) // op.inputs[1].shape.as_list()[-1] * _size(op.outputs[0])


def _depthwise(op):
    rows, columns = op.inputs[1].shape.as_list()[:2]
    return 2 * rows * columns * _size(op.outputs[0])


def _backward(op):
    """Returns the operations of a gradient of a convolution, as many as of the convolution, whose output is the last
    input.
    """
    of = op.outputs[0] if op.type.endswith("Filter") else op.inputs[1]
    return 2 * _size(of) // of.shape.as_list()[-1] * _size(op.inputs[2])


def _window(op):
    window = 1
    for n in op.node_def.attr["ksize"].list.i:
        window *= n
    return window


def _dilation(op):
    rows, columns, _ = op.inputs[1].shape.as_list()
    return 2 * rows * columns * _size(op.outputs[0])


_FLOPS = {
    **dict.fromkeys(("Add", "AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "Pow", "Greater", "GreaterEqual", "Less", "LessEqual",
                     "Equal", "NotEqual", "Square", "Log", "Neg", "Reciprocal", "BiasAdd", "AssignAdd", "AssignSub"), _out(1)),
    **dict.fromkeys(("SquaredDifference", "Rsqrt"), _out(2)), "Softmax": _out(5), "L2Loss": lambda op: 3 * _size(op.inputs[0]) - 1,
    **dict.fromkeys(("Sum", "ArgMax", "ArgMin", "BiasAddGrad"), _reduced), "Mean": lambda op: _size(op.inputs[0]),
    "AddN": lambda op: _size(op.outputs[0]) * (len(op.inputs) - 1),
    **dict.fromkeys(("MatMul", "BatchMatMul", "BatchMatMulV2"), _product), **dict.fromkeys(("Conv2D", "Conv3D"), _convolution),
    "DepthwiseConv2dNative": _depthwise, **dict.fromkeys(("Conv2DBackpropInput", "Conv2DBackpropFilter"), _backward),
    **dict.fromkeys(("MaxPool", "AvgPool"), lambda op: _window(op) * _size(op.outputs[0])), "Dilation2D": _dilation,
    "MaxPoolGrad": lambda op: (_window(op) + 1) * _size(op.inputs[1]), "AvgPoolGrad": lambda op: 2 * _window(op) * _size(op.inputs[1]),
    "RsqrtGrad": _out(4)}


def _float_ops(op):
    try:
        return int(_FLOPS[op.type](op)) if op.type in _FLOPS else 0
    except (ValueError, TypeError, IndexError):  # The shape is not known.
        return 0


# ---- options ----

class ProfileOptionBuilder(metaclass=Named):
    """Makes the options of profile(), step by step."""

    def __init__(self, options=None):
        self._options = dict(options) if options is not None else {
            "max_depth": 100, "min_bytes": 0, "min_micros": 0, "min_params": 0, "min_float_ops": 0, "min_occurrence": 0,
            "order_by": "name", "account_type_regexes": [".*"], "start_name_regexes": [".*"], "trim_name_regexes": [],
            "show_name_regexes": [".*"], "hide_name_regexes": [], "account_displayed_op_only": False, "select": ["micros"], "step": -1,
            "output": "stdout"}

    @staticmethod
    def _preset(**changes):
        return {"max_depth": 10000, "min_bytes": 0, "min_micros": 0, "min_params": 0, "min_float_ops": 0, "min_occurrence": 0,
                "order_by": "name", "account_type_regexes": [".*"], "start_name_regexes": [".*"], "trim_name_regexes": [],
                "show_name_regexes": [".*"], "hide_name_regexes": [], "account_displayed_op_only": True, "step": -1,
                "output": "stdout", **changes}

    @staticmethod
    def trainable_variables_parameter():
        """Returns options for the sizes of the trainable variables."""
        return ProfileOptionBuilder._preset(account_type_regexes=["_trainable_variables"], select=["params"])

    @staticmethod
    def float_operation():
        """Returns options for the numbers of float operations."""
        return ProfileOptionBuilder._preset(min_float_ops=1, order_by="float_ops", select=["float_ops"])

    @staticmethod
    def time_and_memory(min_micros=1, min_bytes=1, min_accelerator_micros=0, min_cpu_micros=0, min_peak_bytes=0, min_residual_bytes=0,
                        min_output_bytes=0):
        """Returns options for times and bytes, which need the RunMetadata of a run."""
        return ProfileOptionBuilder._preset(
            min_micros=min_micros, min_bytes=min_bytes, min_accelerator_micros=min_accelerator_micros, min_cpu_micros=min_cpu_micros,
            min_peak_bytes=min_peak_bytes, min_residual_bytes=min_residual_bytes, min_output_bytes=min_output_bytes, order_by="micros",
            select=["micros", "bytes"])

    def build(self):
        """Returns the options."""
        return dict(self._options)

    def _with(self, **changes):
        self._options.update(changes)
        return self

    def with_max_depth(self, max_depth):
        return self._with(max_depth=max_depth)

    def with_min_memory(self, min_bytes=0, min_peak_bytes=0, min_residual_bytes=0, min_output_bytes=0):
        return self._with(min_bytes=min_bytes, min_peak_bytes=min_peak_bytes, min_residual_bytes=min_residual_bytes,
                          min_output_bytes=min_output_bytes)

    def with_min_execution_time(self, min_micros=0, min_accelerator_micros=0, min_cpu_micros=0):
        return self._with(min_micros=min_micros, min_accelerator_micros=min_accelerator_micros, min_cpu_micros=min_cpu_micros)

    def with_min_parameters(self, min_params):
        return self._with(min_params=min_params)

    def with_min_occurrence(self, min_occurrence):
        return self._with(min_occurrence=min_occurrence)

    def with_min_float_operations(self, min_float_ops):
        return self._with(min_float_ops=min_float_ops)

    def with_accounted_types(self, account_type_regexes):
        return self._with(account_type_regexes=list(account_type_regexes))

    def with_node_names(self, start_name_regexes=None, show_name_regexes=None, hide_name_regexes=None, trim_name_regexes=None):
        given = dict(start_name_regexes=start_name_regexes, show_name_regexes=show_name_regexes, hide_name_regexes=hide_name_regexes,
                     trim_name_regexes=trim_name_regexes)
        return self._with(**{k: list(v) for k, v in given.items() if v is not None})

    def account_displayed_op_only(self, is_true):
        return self._with(account_displayed_op_only=is_true)

    def with_empty_output(self):
        return self._with(output="none")

    def with_stdout_output(self):
        return self._with(output="stdout")

    def with_file_output(self, outfile):
        return self._with(output="file:outfile=%s" % outfile)

    def with_timeline_output(self, timeline_file):
        return self._with(output="timeline:outfile=%s" % timeline_file)

    def with_pprof_output(self, pprof_file):
        return self._with(output="pprof:outfile=%s" % pprof_file)

    def order_by(self, attribute):
        return self._with(order_by=attribute)

    def select(self, attributes):
        return self._with(select=list(attributes))

    def with_step(self, step):
        return self._with(step=step)


# ---- views ----

_OWN = ("run_count", "exec_micros", "accelerator_exec_micros", "cpu_exec_micros", "requested_bytes", "output_bytes", "parameters",
        "float_ops")
_MINIMA = {"min_micros": "exec_micros", "min_bytes": "requested_bytes", "min_params": "parameters", "min_float_ops": "float_ops",
           "min_accelerator_micros": "accelerator_exec_micros", "min_cpu_micros": "cpu_exec_micros", "min_output_bytes": "output_bytes"}
_ORDERS = {"micros": "exec_micros", "bytes": "requested_bytes", "params": "parameters", "float_ops": "float_ops",
           "accelerator_micros": "accelerator_exec_micros", "cpu_micros": "cpu_exec_micros", "output_bytes": "output_bytes",
           "occurrence": "run_count"}


def _measured(run_meta):
    """Returns {node: (runs, microseconds, bytes asked for, bytes of outputs, on an accelerator)}"""
    found = {}
    for device in run_meta.step_stats.dev_stats if run_meta is not None else ():
        for node in device.node_stats:
            name = node.node_name.partition(":")[0]
            runs, micros, asked, made, _ = found.get(name, (0, 0, 0, 0, False))
            outputs = sum(o.tensor_description.allocation_description.requested_bytes for o in node.output)
            found[name] = (runs + 1, micros + node.all_end_rel_micros, asked + max(outputs, sum(m.total_bytes for m in node.memory)),
                           made + outputs, "gpu" in device.device.lower())
    return found


def _figures(graph, run_meta):
    """Returns {operation's name: (types, figures)}"""
    measured, found = _measured(run_meta), {}
    trainable = {v.op.name for v in graph.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES)}
    for op in graph.get_operations():
        types = [op.type, *(["_trainable_variables"] if op.name in trainable else [])]
        runs, micros, asked, made, away = measured.get(op.name, (0, 0, 0, 0, False))
        is_variable = op.type in ("Variable", "VariableV2", "VarHandleOp")
        dims = tf.TensorShape([d.size for d in op.get_attr("shape").dim]) if is_variable else None
        found[op.name] = types, dict(
            run_count=runs, exec_micros=micros, accelerator_exec_micros=micros if away else 0, cpu_exec_micros=0 if away else micros,
            requested_bytes=asked, output_bytes=made, parameters=dims.num_elements() or 0 if is_variable else 0, float_ops=_float_ops(op))
    return found


def _shapes(graph):
    """Returns {variable's operation: its shape}"""
    return {v.op.name: v.shape.as_list() for v in graph.get_collection(tf.GraphKeys.GLOBAL_VARIABLES) if v.shape.is_fully_defined()}


def _matches(patterns, text):
    return any(re.fullmatch(p, text) or re.match(p + "$", text) for p in patterns)


def _sorted(nodes, options):
    key = _ORDERS.get(options["order_by"])
    return sorted(nodes, key=lambda n: (-getattr(n, "total_" + key) if key else 0, n.name))


def _scope_view(figures, options, shapes):
    """Returns the tree of name scopes without the nodes that are not shown, whose children move up."""
    tree = {}
    for name in figures:
        at = tree
        for part in name.split("/"):
            at = at.setdefault(part, {})

    def shown(path, below, depth):
        children = [n for part in sorted(below) for n in shown(path + [part], below[part], depth + 1)]
        name = "/".join(path)
        types, own = figures.get(name, ([], dict.fromkeys(_OWN, 0)))
        typed = any(_matches(options["account_type_regexes"], t) for t in types)
        good = all(own[k] >= options.get(m, 0) for m, k in _MINIMA.items()) and depth <= options["max_depth"] and \
            _matches(options["show_name_regexes"], name) and not _matches(options["hide_name_regexes"], name)
        if not good or not (typed or children):
            return children
        made = _node(GraphNodeProto, name, own if typed else dict.fromkeys(_OWN, 0), children, options)
        if typed and name in shapes:
            made.shapes.extend([protos.TensorShapeProto()])
            for n in shapes[name]:
                made.shapes[0].dim.add(size=n)
        return [made]
    top = [n for part in sorted(tree) for n in shown([part], tree[part], 1)]
    return _node(GraphNodeProto, "_TFProfRoot", dict.fromkeys(_OWN, 0), top, options)


def _node(kind, name, own, children, options):
    made = kind(name=name, **own)
    for key in _OWN:
        setattr(made, "total_" + key, own[key] + sum(getattr(c, "total_" + key) for c in children))
    made.total_definition_count = 1 + sum(c.total_definition_count for c in children)
    made.children.extend(_sorted(children, options))
    return made


def _op_view(figures, options):
    """Returns the figures of each type of op, the largest first; a node holds those after it."""
    groups = {}
    for types, own in figures.values():
        if _matches(options["account_type_regexes"], types[0]) or any(_matches(options["account_type_regexes"], t) for t in types[1:]):
            for key in _OWN:
                groups.setdefault(types[0], dict.fromkeys(_OWN, 0))[key] += own[key]
    good = {t: own for t, own in groups.items() if all(own[k] >= options.get(m, 0) for m, k in _MINIMA.items())}
    key = _ORDERS.get(options["order_by"])
    chain = []
    for name in sorted(good, key=lambda t: (-good[t][key] if key else 0, t), reverse=True):
        chain = [_node(MultiGraphNodeProto, name, good[name], chain, options)]
    return _node(MultiGraphNodeProto, "_TFProfRoot", dict.fromkeys(_OWN, 0), chain, options)


def _short(n):
    for size, unit in ((1e9, "b"), (1e6, "m"), (1e3, "k")):
        if n >= size:
            return "%.2f%s" % (n / size, unit)
    return str(n)


def _short_time(micros):
    """Formats microseconds as a text with at most two decimals."""
    for size, unit in ((1e6, "sec"), (1e3, "ms")):
        if micros >= size:
            return "%.2f%s" % (micros / size, unit)
    return "%dus" % micros


_SHOWN = {"params": ("parameters", "params", "# parameters"), "float_ops": ("float_ops", "flops", "# float_ops"),
          "micros": ("exec_micros", "us", "total execution time"), "bytes": ("requested_bytes", "bytes", "requested bytes"),
          "occurrence": ("run_count", "times", "op occurrence")}


def _lines(node, select, depth=0):
    parts = []
    for key in select:
        name, unit, _ = _SHOWN[key]
        own = getattr(node, name)
        first = _short(own) if own or depth and not node.children else "--"
        parts.append("%s/%s %s" % (first, _short(getattr(node, "total_" + name)), unit))
    sizes = ["x".join(str(d.size) for d in s.dim) for s in getattr(node, "shapes", ())] if "params" in select else []
    yield "%s%s (%s)" % ("  " * depth, node.name, ", ".join(sizes + parts))
    for child in node.children:
        yield from _lines(child, select, depth + 1)


def _print(made, options):
    output, _, target = options["output"].partition(":outfile=")
    if output == "none":
        return
    if output not in ("stdout", "file"):
        raise NotImplementedError("tf.profiler: output=%r is not in Weft%s: use with_stdout_output, with_file_output or "
                                  "with_empty_output; tf.train.ProfilerHook writes timelines" % (output, absent.where()))
    select = [s for s in options["select"] if s in _SHOWN]
    head = ["", "==================Model Analysis Report======================", "", "Profile:",
            "node name | " + " | ".join(_SHOWN[s][2] for s in select)]
    text = "\n".join([*head, *_lines(made, select), "", "======================End of Report=========================="])
    if output == "stdout":
        print(text)
    else:
        with tf.gfile.Open(target, "w") as f:
            f.write(text + "\n")


_DEFAULT = 0


def profile(graph=None, run_meta=None, op_log=None, cmd="scope", options=_DEFAULT):
    """Counts what a graph has and does; cmd: "scope" or "graph" by name, "op" by type.  Returns and prints the tree."""
    if op_log is not None:
        raise NotImplementedError("tf.profiler.profile(op_log=...) is not in Weft%s: leave it out" % absent.where())
    options = ProfileOptionBuilder.trainable_variables_parameter() if options is _DEFAULT else {**ProfileOptionBuilder().build(), **options}
    graph = graph or tf.get_default_graph()
    figures = _figures(graph, run_meta)
    if cmd not in ("scope", "graph", "op"):
        raise NotImplementedError("tf.profiler.profile(cmd=%r) is not in Weft%s: use 'scope' or 'op'" % (cmd, absent.where()))
    made = _op_view(figures, options) if cmd == "op" else _scope_view(figures, options, _shapes(graph))
    _print(made, options)
    return made


class Profiler(metaclass=Named):
    """Profiles several steps of one graph."""

    def __init__(self, graph=None, op_log=None):
        if op_log is not None:
            raise NotImplementedError("tf.profiler.Profiler(op_log=...) is not in Weft: leave it out")
        self._graph, self._steps = graph or tf.get_default_graph(), {}

    def add_step(self, step, run_meta):
        """Adds the measurements of a run."""
        self._steps[step] = run_meta

    def _meta(self, options):
        step = options.get("step", -1)
        return self._steps.get(step) or (self._steps[max(self._steps)] if self._steps else None)

    def profile_name_scope(self, options):
        """Returns the tree of name scopes."""
        return profile(self._graph, self._meta(options), cmd="scope", options=options)

    def profile_graph(self, options):
        """Returns the tree of name scopes."""
        return profile(self._graph, self._meta(options), cmd="graph", options=options)

    def profile_operations(self, options):
        """Returns the figures of each type of op."""
        return profile(self._graph, self._meta(options), cmd="op", options=options)

    def profile_python(self, options):
        """Raises an error: profiles by lines of code are not available."""
        raise NotImplementedError("tf.profiler.Profiler.profile_python is not in Weft: use profile_name_scope or profile_operations")

    def advise(self, options):
        """Reports what costs most in the measured steps. options: {name of a checker: {}}."""
        from weft._core.platform.advice import advise
        return advise(self._graph, self._meta({}), options)


# ---- tf.contrib.tfprof.model_analyzer ----

TRAINABLE_VARS_PARAMS_STAT_OPTIONS = ProfileOptionBuilder.trainable_variables_parameter()
FLOAT_OPS_OPTIONS = ProfileOptionBuilder.float_operation()


def print_model_analysis(graph, run_meta=None, op_log=None, tfprof_cmd="scope", tfprof_options=TRAINABLE_VARS_PARAMS_STAT_OPTIONS):
    """Calls profile(), under its older name."""
    if tfprof_cmd not in ("scope", "graph", "op"):
        raise NotImplementedError("print_model_analysis(tfprof_cmd=%r) is not in Weft%s: use 'scope' or 'op'" % (
            tfprof_cmd, absent.where()))
    return profile(graph, run_meta, op_log, tfprof_cmd, tfprof_options)
