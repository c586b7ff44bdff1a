"""Savers, meta graphs, state files, session managers and supervisors: every parameter has TensorFlow's effect."""
import os
import re
import time

import numpy as np
import pytest

import weft
from both import SAME, oracle, outcome, same_in_folders


@pytest.fixture
def same(tmp_path, monkeypatch):
    return lambda program: same_in_folders(program, tmp_path, monkeypatch)


def files(folder="."):
    return sorted(os.listdir(folder))


def rows(nodes):
    return [(n.name, SAME.get(n.op, n.op), sorted(n.input), n.device) for n in nodes]


def graph_rows(tf):
    return rows(tf.get_default_graph().as_graph_def().node)


def saver_def(d):
    return None if d is None else (d.filename_tensor_name, d.save_tensor_name, d.restore_op_name, d.max_to_keep, d.sharded,
                                   d.keep_checkpoint_every_n_hours, d.version)


def two(tf):
    with tf.device("/cpu:0"):
        a = tf.Variable([1., 2.], name="a")
    return a, tf.Variable(3., name="b")


def started(tf):
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    return sess


# ---- savers ----

@pytest.mark.parametrize("sharded", [False, True])
@pytest.mark.parametrize("version", [1, 2])
def test_write_version_and_sharded_choose_nodes_and_files(same, version, sharded):
    def program(tf):
        two(tf)
        s = tf.train.Saver(write_version=version, sharded=sharded, max_to_keep=2)
        out = [graph_rows(tf), saver_def(s.saver_def)]
        with started(tf) as sess:
            out += [s.save(sess, "./m", i) for i in range(3)]
            out += [files(), open("checkpoint").read(), s.last_checkpoints, tf.train.latest_checkpoint(".")]
            s.restore(sess, tf.train.latest_checkpoint("."))
            out += [tf.train.list_variables(s.last_checkpoints[-1]), len(tf.train.get_checkpoint_mtimes(s.last_checkpoints))]
            out += [tf.train.load_checkpoint(s.last_checkpoints[-1]).get_tensor("a").tolist()]
            tf.train.remove_checkpoint(s.last_checkpoints[-1], version)
            out += [files()]
        return out
    same(program)


def test_a_v1_checkpoint_moves_between_the_systems(tmp_path):
    for writer, reader in ((weft, oracle), (oracle, weft)):
        path = str(tmp_path / writer.__name__)
        with writer.Graph().as_default():
            writer.Variable([1., 2.], name="a")
            with started(writer) as sess:
                writer.train.Saver(write_version=writer.train.SaverDef.V1).save(sess, path)
        with reader.Graph().as_default():
            a = reader.Variable([0., 0.], name="a")
            with reader.Session() as sess:
                reader.train.Saver().restore(sess, path)
                assert sess.run(a).tolist() == [1., 2.]


def test_options_of_a_saver(same):
    def program(tf):
        two(tf)
        given = tf.train.Saver(filename="mine", restore_sequentially=True, name="sv", keep_checkpoint_every_n_hours=0)
        with tf.Session() as sess:
            out = [sess.run(given.saver_def.filename_tensor_name), saver_def(given.saver_def), graph_rows(tf)]
        late = tf.train.Saver(defer_build=True)
        out += [late.saver_def, late.as_saver_def(), late.to_proto(), late.last_checkpoints]
        with started(tf) as sess:
            out += [outcome(lambda: late.save(sess, "./x")), outcome(lambda: late.restore(sess, "./x"))]
            late.build()
            out += [late.save(sess, "./x"), saver_def(late.saver_def)]
        return out
    same(program)


def test_an_empty_saver_writes_its_meta_graph_alone(same):
    def program(tf):
        tf.constant(1, name="c")
        out = [outcome(tf.train.Saver)]
        s = tf.train.Saver(allow_empty=True, pad_step_number=True)
        with tf.Session() as sess:
            out += [s.save(sess, "./x", 3), s.save(sess, "./y", write_meta_graph=False), files(), s.restore(sess, "gone")]
        return out + [s.last_checkpoints, s.saver_def]
    same(program)


def test_a_builder_is_asked_for_the_nodes(same):
    def program(tf):
        two(tf)
        asked = []

        class Builder:
            def _build_internal(self, variables, **options):
                asked.append(([v.name for v in variables], sorted(options.items())))
                return tf.train.Saver().saver_def
        return [saver_def(tf.train.Saver(builder=Builder(), filename="f", max_to_keep=7).saver_def), asked]
    same(program)


def test_what_a_saver_refuses(same):
    def program(tf):
        a, b = two(tf)
        return [outcome(fn) for fn in (
            lambda: tf.train.Saver(3), lambda: tf.train.Saver([a, a]), lambda: tf.train.Saver({"x": a, "y": a}),
            lambda: tf.train.Saver({"x": a, "z": [b]}), lambda: tf.train.Saver(saver_def="x"),
            lambda: tf.train.Saver(var_list=[a], defer_build=True))]
    same(program)
    with pytest.raises(ValueError, match="write_version=7"):
        weft.train.Saver(write_version=7)


def test_the_list_of_checkpoints_can_be_set_with_times(same):
    def program(tf):
        two(tf)
        s, out = tf.train.Saver(max_to_keep=2), []
        with started(tf) as sess:
            for i in range(3):
                s.save(sess, "./m", i)
            for given in (["./q", "./m-2"], "abc"):
                out += [outcome(lambda: s.set_last_checkpoints(given)), s.last_checkpoints]
            for given in ([("./m-1", 10.), ("./m-2", 20.)], "x", [("./gone", 10.), ("./m-2", 20.)]):
                out += [outcome(lambda: s.set_last_checkpoints_with_time(given)), s.last_checkpoints]
            s.save(sess, "./m", 9)
            out += [s.last_checkpoints, files(), s.recover_last_checkpoints(["./m-2", "./gone", "./m-9"]), s.last_checkpoints]
            hourly = tf.train.Saver(max_to_keep=2, keep_checkpoint_every_n_hours=1 / 3600)
            hourly.set_last_checkpoints_with_time([("./m-2", time.time() - 100), ("./m-9", time.time() + 1000)])
            for i in (1, 2):
                hourly.save(sess, "./k", i)
                out.append(files())
        return out
    same(program)


def test_options_of_save(same):
    def program(tf):
        two(tf)
        s, out = tf.train.Saver(save_relative_paths=True), []
        with started(tf) as sess:
            for path, options in (("./m", {"latest_filename": "a/b"}), ("./checkpoint", {}),
                                  ("./checkpoint", {"global_step": 1}), ("./x/mm", {"latest_filename": "mm"}),
                                  ("./n", {"global_step": np.int64(4)}), ("./n", {"global_step": tf.constant(5)}),
                                  ("./o", {"write_state": False}), ("./p", {"write_meta_graph": False}),
                                  ("./q", {"meta_graph_suffix": "foo"}), (os.path.abspath("r"), {"latest_filename": "mine"})):
                out.append(outcome(lambda: s.save(sess, path, **options)))
                out[-1] = out[-1].replace(os.getcwd(), "HERE")
            out.append(outcome(lambda: tf.train.Saver().save(sess, "")))
        return out + [[f for f in files() if f[0] != "."], open("mine").read()]  # TensorFlow writes ".index" before it looks
    same(program)


def test_savers_as_messages(same):
    def program(tf):
        two(tf)
        s = tf.train.Saver(name="sv", max_to_keep=3, sharded=True)
        given = s.to_proto()
        return [saver_def(d()) for d in (
            lambda: given, lambda: s.to_proto(export_scope="sv"), lambda: s.to_proto(export_scope="other"),
            lambda: tf.train.Saver.from_proto(given).saver_def,
            lambda: tf.train.Saver.from_proto(given, import_scope="imp").saver_def)]
    same(program)


# ---- meta graphs ----

def model(tf):
    with tf.device("/cpu:0"):
        a = tf.Variable([1., 2.], name="a")
    with tf.name_scope("sc"):
        c = tf.add(tf.Variable(3., name="b"), 1., name="c")
        y = tf.multiply(a, tf.placeholder(tf.float32, [2], name="x"), name="y")
    for key, value in (("mine", c), ("nums", 3), ("words", "hello"), ("fl", 1.5), ("other", y), ("object", object()),
                       ("mixed", 1), ("mixed", 2.5)):
        tf.add_to_collection(key, value)


def kept(collection):
    """What a CollectionDef holds."""
    for field in ("node_list", "bytes_list", "int64_list", "float_list"):
        if len(getattr(collection, field).value):
            return field, list(getattr(collection, field).value)
    return None


def meta_rows(m):
    attrs = [(n.name, sorted(k for k in n.attr if k != "_has_manual_control_dependencies")) for n in m.graph_def.node]
    info = m.meta_info_def
    return [rows(m.graph_def.node), attrs, saver_def(m.saver_def), {k: kept(v) for k, v in sorted(m.collection_def.items())},
            sorted(SAME.get(o.name, o.name) for o in info.stripped_op_list.op), list(info.tags), info.meta_graph_version,
            info.stripped_default_attrs]


@pytest.mark.parametrize("options", [
    {}, {"clear_devices": True}, {"collection_list": ["mine", "variables", "nope"]}, {"export_scope": "sc"},
    {"strip_default_attrs": True}, {"filename": "m.meta"}, {"filename": "m.pbtxt", "as_text": True}, {"unknown": 1}], ids=str)
def test_options_of_export_meta_graph(same, options):
    def program(tf):
        model(tf)
        made = outcome(lambda: tf.train.export_meta_graph(**options))
        if isinstance(made, str):
            return made
        out = meta_rows(made)
        if "filename" in options:
            with tf.Graph().as_default():
                saver = tf.train.import_meta_graph(options["filename"])
                out += [graph_rows(tf), saver_def(saver.saver_def)]
        return out
    same(program)


def test_export_of_other_graphs_and_savers(same):
    def program(tf):
        model(tf)
        one, other = tf.train.Saver(name="one"), tf.train.Saver(name="two")
        for s in (one, other):
            tf.add_to_collection("savers", s)
        info = tf.MetaGraphDef.MetaInfoDef()
        info.tags.append("t")
        info.meta_graph_version = "v9"
        graph = tf.Graph()
        with graph.as_default():
            tf.constant(1, name="only")
        return [meta_rows(m) for m in (
            one.export_meta_graph(clear_extraneous_savers=True), one.export_meta_graph(collection_list=["mine"]),
            tf.train.export_meta_graph(meta_info_def=info), tf.train.export_meta_graph(graph=graph),
            tf.train.export_meta_graph(graph_def=graph.as_graph_def()))]
    same(program)


def test_a_checkpoint_has_the_collections_as_the_program_left_them(same):
    def program(tf):
        model(tf)
        del tf.get_collection_ref("mine")[:]
        tf.get_collection_ref("new").append(tf.constant(1, name="late"))
        s = tf.train.Saver()
        with started(tf) as sess:
            s.save(sess, "./m")
            s.save(sess, "./n", strip_default_attrs=True)
        out = []
        for name in ("m.meta", "n.meta"):
            with open(name, "rb") as f:
                m = tf.MetaGraphDef.FromString(f.read())
            out += [{k: kept(v) for k, v in m.collection_def.items() if k != "mixed"}, m.meta_info_def.stripped_default_attrs]
        return out
    same(program)


def test_options_of_import_meta_graph(same):
    def program(tf):
        model(tf)
        s = tf.train.Saver()
        tf.add_to_collection("savers", s)
        s.export_meta_graph("f.meta")
        out = []
        for options in ({}, {"import_scope": "imp", "clear_devices": True},
                        {"restore_collections_predicate": lambda k: k != "mine"}, {"bogus": 1}):
            with tf.Graph().as_default() as g, tf.name_scope("outer"):
                t = outcome(lambda: tf.train.import_meta_graph("f.meta", **options))
                out += [t if isinstance(t, str) else saver_def(t.saver_def), graph_rows(tf)]
                out.append({k: [getattr(i, "name", i) if k != "savers" else saver_def(i.saver_def)
                                for i in g.get_collection(k)] for k in sorted(g.get_all_collection_keys())})
        with tf.Graph().as_default():
            t = [tf.train.import_meta_graph("f.meta") for _ in range(2)][1]  # the second time the names are taken
            out += [graph_rows(tf), saver_def(t.saver_def), [v.name for v in tf.global_variables()]]
        with tf.Graph().as_default():
            k = tf.constant([5., 6.], name="k")
            t = tf.train.import_meta_graph("f.meta", import_scope="imp", input_map={"sc/x": k})
            with started(tf) as sess:
                out += [sess.run("imp/sc/y:0").tolist(), t.save(sess, "./q"), tf.train.list_variables("./q")]
        return out + [outcome(lambda: tf.train.import_meta_graph(g)).replace("'", "") for g in (3, "nofile")]
    same(program)


def test_an_exported_scope_needs_its_inputs(same):
    def program(tf):
        model(tf)
        m = tf.train.export_meta_graph(export_scope="sc")
        with tf.Graph().as_default():
            out = [outcome(lambda: tf.train.import_meta_graph(m, import_scope="new"))]
            tf.train.import_meta_graph(m, import_scope="new", input_map={"$unbound_inputs_a/read": tf.constant([1., 2.])})
            with started(tf) as sess:
                return out + [sess.run("new/y:0", {"new/x:0": [3., 4.]}).tolist()]
    same(program)


def test_a_graph_is_imported_twice_without_a_name(same):
    def program(tf):
        tf.identity(tf.constant(1, name="a"), name="b")
        g = tf.get_default_graph().as_graph_def()
        for name in ("", "x", "x", ""):
            tf.import_graph_def(g, name=name)
        return graph_rows(tf)
    same(program)


def branches_and_loops(tf, **options):
    """A graph of a condition in a condition, and of a condition and a loop in a loop."""
    x = tf.placeholder(tf.float32, [3], name="x")
    w = tf.get_variable("w", [3], initializer=tf.ones_initializer())
    y = tf.cond(tf.reduce_sum(x) > 0, lambda: x * w, lambda: tf.cond(x[0] > 5.0, lambda: x, lambda: -w))

    def body(i, a):
        a = tf.cond(i < 2, lambda: a * w, lambda: a + x)
        return i + 1, tf.while_loop(lambda j, b: j < 2, lambda j, b: (j + 1, b * x * 1.5), (0, a))[1]
    tf.identity(tf.while_loop(lambda i, a: i < 3, body, (0, y), **options)[1], name="out")


def slopes(tf, meta, scope):
    """What the imported graph and its gradients compute."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.train.import_meta_graph(meta, import_scope=scope)
        below = scope + "/" if scope else ""
        x, out = graph.get_tensor_by_name(below + "x:0"), graph.get_tensor_by_name(below + "out:0")
        found = tf.gradients(out, [x, *tf.trainable_variables()])
        session.run(tf.global_variables_initializer())
        return [session.run([out, *[f for f in found if f is not None]], {x: fed}) + [f is None for f in found]
                for fed in ([1, 2, 3], [-1, -2, 0.5], [6, -20, 1])]


@pytest.mark.parametrize("options", [{"maximum_iterations": 7}, {"parallel_iterations": 1, "swap_memory": True},
                                     {"back_prop": False}])
@pytest.mark.parametrize("scope", [None, "imp"])
def test_branches_and_loops_of_a_meta_graph_have_gradients(tmp_path, options, scope):
    found = []
    for writer in (weft, oracle):
        with writer.Graph().as_default():
            branches_and_loops(writer, **options)
            writer.train.export_meta_graph(str(tmp_path / "m.meta"))
        found += [slopes(reader, str(tmp_path / "m.meta"), scope) for reader in (weft, oracle)]
    for other in found[1:]:
        for want, got in zip(found[0], other, strict=True):
            for a, b in zip(want, got, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-6)


def test_contexts_are_in_collections(same):
    def shown(context):
        d = context if hasattr(context, "values_def") else context.to_proto()
        loops = (d.parallel_iterations, d.back_prop, d.swap_memory, d.pivot_for_pred_name, d.pivot_for_body_name,
                 d.maximum_iterations_name, list(d.loop_exit_names), list(d.loop_enter_names)) if hasattr(
                     d, "loop_exit_names") else (d.pred_name, d.branch)
        nested = [shown(n.cond_ctxt if n.HasField("cond_ctxt") else n.while_ctxt) for n in d.nested_contexts]
        return d.context_name, d.pivot_name, loops, sorted(d.values_def.external_values.items()), nested

    def program(tf):
        branches_and_loops(tf, maximum_iterations=7, parallel_iterations=3)
        keys = ("cond_context", "while_context")
        out = [sorted(tf.get_default_graph().get_all_collection_keys())]
        out += [[(str(c), c.name, shown(c)) for c in tf.get_collection(k)] for k in keys]
        tf.train.export_meta_graph("m.meta")
        with tf.Graph().as_default() as graph:
            tf.train.import_meta_graph("m.meta", import_scope="a/b")
            out += [[(str(c), shown(c)) for c in tf.get_collection(k)] for k in keys]
            out += [str(graph.get_operation_by_name("a/b/" + n)._get_control_flow_context())
                    for n in ("x", "cond/mul", "cond/cond/Neg", "while/add", "while/cond/mul", "while/while/add")]
            for scope in ("a/b", "a/b/while", "a/b/cond", "x"):
                meta = tf.train.export_meta_graph(export_scope=scope)
                out.append([(scope, k, len(meta.collection_def[k].bytes_list.value)) for k in keys if k in meta.collection_def])
        return out
    same(program)


def test_times_in_the_state_file(same):
    def program(tf):
        os.mkdir("d")
        tf.train.update_checkpoint_state("d", "d/m-2", ["d/m-1", "d/m-2"], all_model_checkpoint_timestamps=[1., 2.],
                                         last_preserved_timestamp=0.5)
        tf.train.update_checkpoint_state("d", "d/m-2", latest_filename="zz")
        out = [open("d/checkpoint").read(), open("d/zz").read()]
        for state in (tf.train.get_checkpoint_state("d"), tf.train.generate_checkpoint_state_proto(
                "d", "d/m-2", all_model_checkpoint_timestamps=[3.]), tf.train.generate_checkpoint_state_proto("/d", "/d/m", ["/d/l"])):
            out.append((state.model_checkpoint_path, list(state.all_model_checkpoint_paths),
                        list(state.all_model_checkpoint_timestamps), state.last_preserved_timestamp))
        return out + [outcome(lambda: tf.train.update_checkpoint_state("d", "d/m", ["d/m"], all_model_checkpoint_timestamps=[1, 2]))]
    same(program)


# ---- session managers and supervisors ----

def recorded(tf, calls, **options):
    class Manager(tf.train.SessionManager):
        def prepare_session(self, *args, **given):
            calls.append(("prepare", args, sorted(given)))
            return super().prepare_session(*args, **given)

        def wait_for_session(self, *args, **given):
            calls.append(("wait", args, sorted(given)))
            return super().wait_for_session(*args, **given)
    return Manager(graph=tf.get_default_graph(), **options)


def test_a_supervisor_asks_the_session_manager_it_was_given(same):
    def program(tf):
        with tf.device("/cpu:0"):
            v = tf.Variable(1., name="v")
        calls = []
        manager = recorded(tf, calls, ready_op=tf.report_uninitialized_variables())
        sv = tf.train.Supervisor(session_manager=manager, logdir="log", init_fn=lambda s: calls.append("init"))
        with sv.managed_session("", start_standard_services=False) as sess:
            out = [sess.run(v), sv.session_manager is manager]
        with tf.Graph().as_default():
            sv = tf.train.Supervisor(session_manager=recorded(tf, calls), is_chief=False)
            sv.prepare_or_wait_for_session("", max_wait_secs=5, start_standard_services=False).close()
        return out + calls
    same(program)


def test_a_supervisor_with_a_session_manager_says_what_it_starts(same, capfd):
    def program(tf):
        tf.logging.set_verbosity(tf.logging.INFO)
        tf.train.get_or_create_global_step()
        manager = tf.train.SessionManager(graph=tf.get_default_graph(), ready_op=tf.report_uninitialized_variables())
        sv = tf.train.Supervisor(session_manager=manager, logdir="log")
        capfd.readouterr()
        sv.prepare_or_wait_for_session("")
        sv.stop()
        said = capfd.readouterr().err
        return [line + "\n" in said for line in ("Starting standard services.", "Starting queue runners.")]
    same(program)


def test_what_a_supervisor_says_it_has(same):
    def program(tf):
        tf.summary.scalar("x", tf.Variable(1., name="v"))
        tf.train.get_or_create_global_step()
        names = "init_op ready_op ready_for_local_init_op summary_op global_step saver summary_writer init_feed_dict".split()
        sv = tf.train.Supervisor(logdir="log", checkpoint_basename="mm", save_model_secs=0, save_summaries_secs=7)
        out = [getattr(getattr(sv, n), "name", type(getattr(sv, n)).__name__) for n in names]
        with tf.Graph().as_default():
            tf.Variable(1.)
            none = tf.train.Supervisor(**dict.fromkeys([*names[:-1], "local_init_op"]))
            out += [getattr(none, n) for n in names]
        return out + [sv.save_path, sv.save_model_secs, sv.save_summaries_secs]
    same(program)


def test_local_init_run_options_and_feeds(same):
    def program(tf):
        tf.Variable(1., name="v")
        wait = tf.FIFOQueue(1, [tf.float32]).dequeue(name="loc").op
        sv = tf.train.Supervisor(local_init_op=wait, local_init_run_options=tf.RunOptions(timeout_in_ms=300))
        out = [outcome(lambda: sv.prepare_or_wait_for_session("", start_standard_services=False)).partition(":")[0]]
        with tf.Graph().as_default():
            w = tf.Variable(2., collections=[tf.GraphKeys.LOCAL_VARIABLES])
            x = tf.placeholder(tf.float32, [])
            sm = tf.train.SessionManager(local_init_op=w.assign(x), local_init_feed_dict={x: 4.})
            with sm.prepare_session("", init_op=tf.no_op()) as sess:
                return out + [sess.run(w)]
    same(program)


def test_session_managers(same):
    def program(tf):
        v = tf.Variable(1., name="v")
        x = tf.placeholder(tf.float32)
        put, init, saver = v.assign(x), tf.global_variables_initializer(), tf.train.Saver()
        sm = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables(), recovery_wait_secs=0.1)
        out = [outcome(lambda: tf.train.SessionManager().prepare_session("")),
               outcome(lambda: sm.prepare_session("", init_op=tf.no_op())),
               outcome(lambda: sm.prepare_session("", saver=saver, checkpoint_dir="a", checkpoint_filename_with_path="b")),
               outcome(lambda: sm.wait_for_session("", max_wait_secs=0.3)).partition(".")[0]]
        with sm.prepare_session("", init_op=init) as sess:
            saver.save(sess, "./ck/m", 3)
        for options in ({"saver": saver, "checkpoint_dir": "./ck"}, {"init_op": put, "init_feed_dict": {x: 5.}},
                        {"saver": saver, "checkpoint_filename_with_path": "./ck/m-3"}, {"init_fn": lambda s: v.load(7., s)}):
            with sm.prepare_session("", **options) as sess:
                out.append(sess.run(v))
        for options in ({"saver": saver, "checkpoint_dir": "./ck"}, {"saver": saver, "checkpoint_dir": "./none"},
                        {"checkpoint_dir": "./ck"},
                        {"saver": saver, "checkpoint_dir": "./none", "wait_for_checkpoint": True, "max_wait_secs": 0.1}):
            sess, ready = sm.recover_session("", **options)
            sess.close()
            out.append(ready)
        return out
    assert re.match("RuntimeError: Model is not initialized", same(program)[0])


# ---- graphs and loops ----

def test_as_graph_def_adds_shapes(same):
    def program(tf):
        a = tf.placeholder(tf.float32, [None, 2], name="a")
        tf.no_op(name="none")
        tf.split(tf.ones([4]), 2, name="s")
        tf.placeholder(tf.float32, name="unknown")
        g = tf.get_default_graph()
        version = g.version
        tf.identity(a, name="b")
        shapes = {n.name: n.attr["_output_shapes"].SerializeToString() for n in g.as_graph_def(add_shapes=True).node
                  if "_output_shapes" in n.attr}
        return [shapes, any("_output_shapes" in n.attr for n in g.as_graph_def().node),
                [n.name for n in g.as_graph_def(from_version=version).node]]
    same(program)


def test_no_gradient_flows_through_a_loop_without_back_prop(same):
    def program(tf):
        x = tf.placeholder_with_default(2., [], name="x")
        out = []
        for options in ({}, {"back_prop": False}, {"back_prop": False, "maximum_iterations": 2}):
            y = x * 3.
            r = tf.while_loop(lambda i, a: i < 3, lambda i, a: [i + 1, a * y], [0, 1.], **options)  # noqa: B023
            out += [tf.gradients(r[1], x)[0] is None, tf.gradients(r[1] + y, x)[0] is None]
        nested = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.while_loop(
            lambda j, b: j < 2, lambda j, b: (j + 1, b * x), [0, a], back_prop=False)[1]), [0, 1.])
        return out + [tf.gradients(nested[1], x)[0] is None]
    assert same(program)[2]


def test_swap_memory_is_told_to_the_stacks(same):
    def program(tf):
        out = []
        for swap in (False, True):
            with tf.Graph().as_default() as g:
                x = tf.placeholder_with_default(2., [])
                r = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, 1.], swap_memory=swap)  # noqa: B023
                tf.gradients(r[1], x)
                out.append({n.attr["swap_memory"].b for n in g.as_graph_def().node if n.op == "StackPushV2"})
        return out
    assert same(program) == [{False}, {True}]


# ---- the global step ----

def test_a_global_step_in_no_collection(same):
    def program(tf):
        step = tf.Variable(0, name="global_step", trainable=False)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.square(tf.Variable(1.)), global_step=step)
        hooks = [tf.train.StopAtStepHook(3), tf.train.StepCounterHook(every_n_steps=1, output_dir="ck")]
        with tf.train.MonitoredTrainingSession(hooks=hooks, checkpoint_dir="ck", save_checkpoint_steps=2) as sess:
            while not sess.should_stop():
                sess.run(train)
        return [tf.train.get_global_step().name, tf.train.get_or_create_global_step().name, outcome(tf.train.create_global_step),
                sorted(f for f in os.listdir("ck") if f.endswith("index")), int(tf.train.load_variable("ck", "global_step"))]
    same(program)


@pytest.mark.parametrize("value", [0., [0]])
def test_a_global_step_is_a_whole_number(same, value):
    def program(tf):
        tf.Variable(value, name="global_step")
        return outcome(tf.train.get_global_step).partition("<dtype")[0]
    same(program)
