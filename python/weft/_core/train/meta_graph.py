"""tf.train.export_meta_graph and import_meta_graph: a graph with its collections, as a message or a file."""
import operator
import os
import re

from weft._core.files.gfile import local
from weft._core.framework import proto_text, protos
from weft._core.framework.collection_messages import get_collection_proto_type, get_from_proto_function, get_to_proto_function
from weft._core.framework.graph import GraphKeys, get_default_graph
from weft._core.framework.importer import ImportedNames, InputMap, _key, with_free_names
from weft._core.platform import logging

UNBOUND = "$unbound_inputs_"
_UNBOUND_KEY = "unbound_inputs"
_CONTEXT_KEYS = (GraphKeys.COND_CONTEXT, GraphKeys.WHILE_CONTEXT)
# The collections whose items are messages, and the fields of each message that hold names of nodes or outputs.
_NAMED = {protos.VariableDef: ("variable_name", "initial_value_name", "initializer_name", "snapshot_name"),
          protos.QueueRunnerDef: ("queue_name", "enqueue_op_name", "close_op_name", "cancel_op_name"),
          protos.SaverDef: ("filename_tensor_name", "save_tensor_name", "restore_op_name")}


# ---- export ----

def strip_scope(name, scope):
    """Returns the name without the scope: "s/a" and "^s/a" become "a" and "^a"."""
    return re.sub(r"^(\^?)%s/" % re.escape(scope), r"\1", name) if scope else name


def in_scope(name, scope):
    """Returns whether a node is exported with a scope: its name begins with the name of the scope, as in TensorFlow."""
    return not scope or name.lstrip("^").startswith(scope)


def in_scope_only(item, scope):
    """Returns a message of a collection with names relative to the scope, or None if it belongs to another scope."""
    names = _NAMED.get(type(item), ())
    if not scope or not names:
        return item
    if not in_scope(getattr(item, names[0]), scope):
        return None
    for field in names:
        value = getattr(item, field)
        if isinstance(value, str):
            setattr(item, field, strip_scope(value, scope))
        else:
            value[:] = [strip_scope(v, scope) for v in value]
    return item


def _collection_def(graph, key, scope):
    """Returns the CollectionDef of a collection. If an item cannot be written to a file, it logs that and returns None.
    """
    made = protos.CollectionDef()
    items = graph.get_collection(key)
    if any(hasattr(i, "to_proto") for i in items) and graph._is_message_list(key):
        found = [i.to_proto(scope) if key in _CONTEXT_KEYS else in_scope_only(i.to_proto(), scope)
                 for i in items if hasattr(i, "to_proto")]
        made.bytes_list.value.extend(m.SerializeToString() for m in found if m is not None)
        return made if made.bytes_list.value else None
    if not items:
        return None
    try:
        kind, to_proto = type(items[0]), get_to_proto_function(key)
        if to_proto is not None:
            found = [to_proto(i, export_scope=scope) for i in items]
            made.bytes_list.value.extend(m.SerializeToString() for m in found if m)
        elif issubclass(kind, (str, bytes)):
            if not scope:  # TensorFlow treats a string as a name, which then belongs to another scope.
                made.bytes_list.value.extend(i if isinstance(i, bytes) else i.encode() for i in items)
        elif issubclass(kind, int):
            made.int64_list.value.extend(operator.index(i) for i in items)
        elif issubclass(kind, float):
            made.float_list.value.extend(float(i) for i in items)
        else:
            made.node_list.value.extend(strip_scope(i.name, scope) for i in items if in_scope(i.name, scope))
    except (AttributeError, TypeError, ValueError) as e:
        logging.warning("the collection %s is left out of the meta graph: %s", key, e)
        return None
    return made if any(len(getattr(made, f).value) for f in made.FIELDS if f != "any_list") else None


def strip_defaults(meta):
    """Removes the attributes that have the default value of their op."""
    defaults = {o.name: {a.name: a.default_value.SerializeToString() for a in o.attr if a.HasField("default_value")}
                for o in meta.meta_info_def.stripped_op_list.op}
    for node in meta.graph_def.node:
        known = defaults.get(node.op, {})
        for name in [n for n in node.attr if n in known and node.attr[n].SerializeToString() == known[n]]:
            del node.attr[name]
    meta.meta_info_def.stripped_default_attrs = True


def _scope_input(name, have, scope, unbound):
    if in_scope(name, scope):
        return strip_scope(name, scope)
    if name.startswith("^"):
        return None  # An edge from outside the scope is dropped, as in TensorFlow.
    unbound.add(UNBOUND + name)
    return UNBOUND + name


def _keep_scope(graph_def, scope):
    """Keeps only the nodes of a scope, with names relative to it, and returns the inputs from outside."""
    unbound, kept = set(), []
    for node in graph_def.node:
        if not in_scope(node.name, scope):
            continue
        node.name = strip_scope(node.name, scope)
        node.input[:] = [i for i in (_scope_input(n, None, scope, unbound) for n in node.input) if i is not None]
        if "_class" in node.attr:
            rows = [c.decode() for c in node.attr["_class"].list.s]
            rows = [b"loc:@" + strip_scope(c[5:], scope).encode() for c in rows if in_scope(c[5:], scope)]
            node.attr["_class"].list.s[:] = rows
            if not rows:
                del node.attr["_class"]
        kept.append(node)
    graph_def.node.replace_all(kept)
    return sorted(unbound)


def _clear_savers(meta, saver_def):
    """Keeps only the saver of saver_def, and removes the nodes of the others."""
    savers = [protos.SaverDef.FromString(b) for b in meta.collection_def["savers"].bytes_list.value] \
        if "savers" in meta.collection_def else []
    own = saver_def.filename_tensor_name.rpartition("/")[0] if saver_def is not None else ""
    scopes = {s.filename_tensor_name.rpartition("/")[0] for s in savers} - {own, ""}
    kept = [n for n in meta.graph_def.node if not any(in_scope(n.name, s + "/") for s in scopes)]
    meta.graph_def.node.replace_all(kept)
    if savers:
        meta.collection_def["savers"].bytes_list.value[:] = [
            s.SerializeToString() for s in savers if s.filename_tensor_name.rpartition("/")[0] == own]
        if not meta.collection_def["savers"].bytes_list.value:
            del meta.collection_def["savers"]


def _write(filename, meta, as_text):
    from weft._core.files.gfile import makedirs
    if os.path.dirname(filename):
        makedirs(os.path.dirname(filename))
    with open(local(filename), "w" if as_text else "wb") as f:
        f.write(str(meta) if as_text else meta.SerializeToString())


def _ops_used(meta):
    """Keeps only the definitions of ops that are used, sorted by name. With a function library all are kept."""
    used, ops = {n.op for n in meta.graph_def.node}, meta.meta_info_def.stripped_op_list.op
    kept = [o for o in ops if o.name in used or meta.graph_def.HasField("library")]
    ops.replace_all(sorted(kept, key=lambda o: o.name))


def export_meta_graph(filename=None, meta_info_def=None, graph_def=None, saver_def=None, collection_list=None,
                      as_text=False, graph=None, export_scope=None, clear_devices=False, clear_extraneous_savers=False,
                      strip_default_attrs=False, save_debug_info=False, **kwargs):
    """Returns a MetaGraphDef of the graph, and writes it to a file if one is named.

    collection_list: the collections to export, all by default. export_scope: exports only the nodes of a name scope,
    with names relative to it.  clear_extraneous_savers: leaves out the nodes of all savers but saver_def's.
    strip_default_attrs: leaves out attributes that have their op's default.
    """
    if kwargs:
        raise TypeError("create_meta_graph_def() got an unexpected keyword argument '%s'" % next(iter(kwargs)))
    if save_debug_info:
        raise NotImplementedError("export_meta_graph(save_debug_info=True) is not in Weft: it holds no stack traces in "
                                  "files; leave the argument out")
    graph = graph or get_default_graph()
    scope = export_scope.rstrip("/") if export_scope else None
    meta = protos.MetaGraphDef.FromString(graph._c.export_meta())
    if graph_def is not None:
        other = type(graph)()
        other._c.import_graph(graph_def.SerializeToString(), None, (), ())
        meta.meta_info_def.CopyFrom(protos.MetaGraphDef.FromString(other._c.export_meta()).meta_info_def)
        meta.graph_def.CopyFrom(graph_def)
    unbound = _keep_scope(meta.graph_def, scope) if scope else []
    for key in list(meta.collection_def):
        del meta.collection_def[key]
    for key in graph.get_all_collection_keys() if collection_list is None else collection_list:
        made = _collection_def(graph, key, scope) if isinstance(key, str) else None
        if made is not None:
            meta.collection_def[key].CopyFrom(made)
    if unbound:
        meta.collection_def[_UNBOUND_KEY].bytes_list.value.extend(u.encode() for u in unbound)
    if saver_def is not None:
        meta.saver_def.CopyFrom(saver_def)
    else:
        meta.ClearField("saver_def")
    if clear_extraneous_savers:
        _clear_savers(meta, saver_def)
    if clear_devices:
        for node in meta.graph_def.node:
            node.device = ""
    _ops_used(meta)
    if strip_default_attrs:
        strip_defaults(meta)
    if meta_info_def is not None:
        ops = meta.meta_info_def.stripped_op_list
        meta.meta_info_def.MergeFrom(meta_info_def)
        if not meta_info_def.stripped_op_list.op:
            meta.meta_info_def.stripped_op_list.CopyFrom(ops)
    if filename:
        _write(filename, meta, as_text)
    return meta


# ---- import ----

def read_meta_graph(path):
    """Returns the MetaGraphDef in a file, which may be binary or text."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise TypeError("Expected binary or unicode string, got %r" % (path,))
    if not os.path.exists(local(path)):
        raise OSError("File does not exist. Received: %s." % os.fsdecode(path))
    with open(local(path), "rb") as f:
        data = f.read()
    try:
        return protos.MetaGraphDef.FromString(data)
    except (ValueError, IndexError, UnicodeDecodeError, AttributeError):
        pass
    try:
        return proto_text.parse(data.decode(), protos.MetaGraphDef())
    except (ValueError, UnicodeDecodeError) as e:
        raise OSError("Cannot parse file %s: %s." % (os.fsdecode(path), e)) from None


read_meta_graph_file = read_meta_graph


def _prefixed(saver_def, scope):
    """Returns a copy of a SaverDef whose names are below the scope."""
    made = protos.SaverDef.FromString(saver_def.SerializeToString())
    for field in _NAMED[protos.SaverDef] if scope else ():
        setattr(made, field, scope + "/" + getattr(made, field))
    return made


def _check_unbound(meta, input_map):
    needed = [b.decode() for b in meta.collection_def[_UNBOUND_KEY].bytes_list.value] \
        if _UNBOUND_KEY in meta.collection_def else []
    missing = [n for n in needed if n not in (input_map or {})]
    if missing:
        raise ValueError("Graph contains unbound inputs: %s. Must provide these inputs through input_map."
                         % ",".join(missing))


def import_meta_graph(meta_graph_or_file, clear_devices=False, import_scope=None, input_map=None, return_elements=None,
                      restore_collections_predicate=None, unbound_inputs_col_name=_UNBOUND_KEY, **kwargs):
    """Adds a graph and its collections to the default graph, and returns the saver that is in it, or one for its
    variables.
    """
    return import_with_elements(meta_graph_or_file, clear_devices, import_scope, input_map, return_elements,
                                restore_collections_predicate, **kwargs)[0]


def import_with_elements(meta_graph_or_file, clear_devices=False, import_scope=None, input_map=None, return_elements=None,
                         restore_collections_predicate=None, **kwargs):
    if kwargs:
        raise TypeError("import_scoped_meta_graph_with_return_elements() got an unexpected keyword argument '%s'"
                        % next(iter(kwargs)))
    given = meta_graph_or_file
    meta = protos.MetaGraphDef.FromString(given.SerializeToString()) if hasattr(given, "SerializeToString") \
        else read_meta_graph(given)
    graph = get_default_graph()
    graph._check_not_finalized()
    _check_unbound(meta, input_map)
    if clear_devices:
        for node in meta.graph_def.node:
            node.device = ""
    for key in list(meta.collection_def):
        if key == _UNBOUND_KEY or (restore_collections_predicate is not None and not restore_collections_predicate(key)):
            del meta.collection_def[key]
    outer = graph.get_name_scope()
    scope = graph.unique_name(import_scope.rstrip("/")) if import_scope else outer or None
    _add(graph, meta, scope, input_map)
    found = [graph.as_graph_element(scope + "/" + e if scope else e) for e in return_elements or ()]
    return _saver_of(meta, scope), found


def _add(graph, meta, scope, input_map):
    from weft._core.framework.build import convert_to_tensor
    from weft._core.framework.graph import Tensor
    savers = _taken(meta, "savers")
    messages = {k: _taken(meta, k) for k in list(meta.collection_def)
                if get_from_proto_function(k) is not None and meta.collection_def[k].bytes_list.value}
    texts = {k: _taken(meta, k) for k in list(meta.collection_def) if scope and _is_texts(graph, meta, k)}
    mapped = {_key(_allowed(k)): v if isinstance(v, Tensor) else convert_to_tensor(v) for k, v in (input_map or {}).items()}
    if mapped:
        for node in meta.graph_def.node:
            node.input[:] = [_allowed(i) for i in node.input]
    replaced = InputMap(graph, meta.graph_def, mapped)
    renamed = {}
    if not scope:
        free, renamed = with_free_names(graph, meta.graph_def)
        if free is not meta.graph_def:
            meta.graph_def.CopyFrom(free)
    graph._c.import_meta(meta.SerializeToString(), scope, *replaced.rows(renamed))
    replaced.check_unused(graph, ImportedNames(scope, renamed))
    for key in _CONTEXT_KEYS:
        graph.get_collection(key)  # Reading the collections tells the operations in which contexts they are.
    if savers is not None:
        from weft._core.train.saver import Saver
        for item in savers.bytes_list.value:
            graph.add_to_collection("savers", Saver.from_proto(protos.SaverDef.FromString(item), import_scope=scope))
    for key, made in messages.items():
        for item in made.bytes_list.value:
            message = get_collection_proto_type(key)()
            message.ParseFromString(item)
            graph.add_to_collection(key, get_from_proto_function(key)(message, import_scope=scope or ""))
    for key, made in texts.items():  # TensorFlow treats strings as names.
        for item in made.bytes_list.value:
            graph.add_to_collection(key, "%s/%s" % (scope, item.decode()))


def _is_texts(graph, meta, key):
    return len(meta.collection_def[key].bytes_list.value) > 0 and not graph._is_message_list(key)


def _allowed(name):
    """Returns the name of an input from outside an exported scope in a form that is allowed for a node."""
    return name[1:] if name.startswith(UNBOUND) else name


def _taken(meta, key):
    made = meta.collection_def[key] if key in meta.collection_def else None
    if made is not None:
        del meta.collection_def[key]
    return made


def _saver_of(meta, scope):
    from weft._core.train.saver import Saver
    if meta.HasField("saver_def"):
        return Saver(saver_def=_prefixed(meta.saver_def, scope))
    if get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES):
        return Saver()
    logging.info("Saver not created because there are no variables in the graph to restore")
    return None
