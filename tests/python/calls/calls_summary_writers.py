"""Summary writers: the nodes of tf.contrib.summary, and the events that they write."""
import glob

import numpy as np

from machine import case


def events(tf, folder):
    found = []
    for path in sorted(glob.glob(folder + "/*")):
        for event in tf.train.summary_iterator(path):
            values = [(v.tag, v.WhichOneof("value"), v.simple_value) for v in event.summary.value]
            found.append((event.step, event.WhichOneof("what"), values))
    return found


def tags(tf, **step):
    s = tf.contrib.summary
    with tf.name_scope("out"):
        s.scalar("a", 1.5, **step)
        s.scalar("a", tf.constant(2), **step)
        s.scalar("a b", 3.0, family="f", **step)
    s.histogram("h", [1.0, 2.0], family="f", **step)
    s.image("i", np.zeros((4, 2, 2, 1), np.float32), max_images=2, **step)
    s.audio("s", np.zeros((1, 4, 1), np.float32), 8000.0, 2, **step)
    s.generic("g", [1, 2], **step)


@case(nodes=False)
def writing(tf):
    s = tf.contrib.summary
    step = tf.train.get_or_create_global_step()
    plain = s.scalar("no_writer", 1.0)
    assert plain.type == "NoOp"
    writer = s.create_file_writer("d", max_queue=3, flush_millis=1000, filename_suffix=".x", name="w")
    with writer.as_default():
        s.scalar("not_recorded", 1.0)
        with s.always_record_summaries():
            tags(tf)
            tags(tf, step=5)
            with s.never_record_summaries():
                s.scalar("never", 1.0)
        with s.record_summaries_every_n_global_steps(2):
            s.scalar("even", 4.0)
        with s.record_summaries_every_n_global_steps(3, step):
            s.scalar("third", 5.0)
        recorded = s.should_record_summaries()
        made = s.all_summary_ops()
        assert tf.summary.all_v2_summary_ops() == made
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            s.initialize(graph=tf.GraphDef(), session=sess)
            values = []
            for _ in range(4):
                values.append([sess.run(m) for m in made])
                sess.run(tf.assign_add(step, 1))
            values.append(sess.run(recorded))
            sess.run(s.flush())
            sess.run(writer.close())
            sess.run(writer.init())
            sess.run(s.import_event(tf.Event(step=4, wall_time=1.0).SerializeToString()))
            sess.run([s.graph(tf.constant(""), 1), writer.flush()])
    names = [m.name for m in made if "Const" not in m.name.split("/")[0]]
    return [values, events(tf, "d"), names, len(s.summary_writer_initializer_op()), s.eval_dir("m"), s.eval_dir("m", "n")]


@case
def nodes(tf):
    s = tf.contrib.summary
    tf.train.get_or_create_global_step()
    with s.create_file_writer("e").as_default(), s.always_record_summaries():
        tags(tf)
        s.flush()
        tags(tf, step=3)
    return []


def raised(tf, act):
    try:
        act()
    except Exception as e:  # noqa: BLE001 - what it says is compared
        return type(e).__name__, str(e).split("0x")[0].split("<")[0]
    return None


@case(nodes=False)
def errors(tf):
    s = tf.contrib.summary
    found = [raised(tf, lambda: tf.summary.initialize())]
    nothing = s.create_file_writer(None)
    with s.create_summary_file_writer("d").as_default(), s.always_record_summaries():
        found += [raised(tf, lambda: s.initialize()), raised(tf, lambda: s.graph(tf.get_default_graph())),
                  raised(tf, lambda: s.scalar("x", 1.0, step=2.5))[0]]
    assert all(isinstance(o, tf.Operation) or o is None for o in (nothing.init(), nothing.flush(), nothing.close()))
    return found
