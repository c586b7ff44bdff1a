"""Tensors that a session keeps between runs, and critical sections."""
from machine import case


def refusal(fn, *args, **kwargs):
    try:
        fn(*args, **kwargs)
    except Exception as e:
        return type(e).__name__
    return "none"


@case(nodes=False)
def session_handles(tf):
    a = tf.constant([1.0, 2.0])
    keep, words = tf.get_session_handle(a * 2, name="keep"), tf.get_session_handle(tf.constant(["x", "y"]))
    fed = tf.placeholder(tf.float32)
    with tf.Session() as sess:
        one, both = sess.run(keep), sess.run({"all": [keep, words, a]})["all"]
        holder, again = tf.get_session_tensor(one.handle, tf.float32, name="again")
        gone, deleter = tf.delete_session_tensor(one.handle, name="gone")
        said = [one.eval(), both[0].eval(), both[1].eval(), both[2], sess.run(again, {holder: one.handle}),
                sess.run(fed + 1, {fed: both[0]}), sess.run(again + 1, {holder: both[0].handle}), one.handle.split(";")[-1],
                str(one) == one.handle]
        sess.run(deleter, {gone: one.handle})
        said += [refusal(sess.run, again, {holder: one.handle}), refusal(one.eval), refusal(sess.run, deleter, {gone: one.handle})]
        one.get_raw_handle()
        both[0].delete()
        said += [refusal(both[0].eval), refusal(both[0].delete), refusal(one.delete)]
        for _ in range(25):
            last = sess.run(keep)
        return [*said, last.eval(), keep.name, again.name, deleter.name, holder.dtype.name, again.device, refusal(tf.get_session_handle, 3),
                refusal(tf.get_session_tensor, "x", tf.float32)]


@case(nodes=False)
def critical_sections(tf):
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    section, other = tf.CriticalSection(name="cs"), tf.CriticalSection(shared_name="mine")

    def add():
        with tf.control_dependencies([v.assign(v.read_value() + 1.0)]):
            return v.read_value()
    adds = [section.execute(add, name="add%d" % i) for i in range(6)]
    nest = section.execute(lambda: [tf.constant(1), {"a": tf.constant(2)}])
    x = tf.constant(2.0)
    refused = [refusal(section.execute, 3), refusal(section.execute, lambda: None), refusal(other.execute, add),
               refusal(section.execute, lambda: section.execute(add)), refusal(tf.CriticalSection, name="a", critical_section_def=3),
               refusal(tf.CriticalSection, critical_section_def=3)]
    slope = tf.gradients(section.execute(lambda: x * 3.0), x)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sorted(sess.run(adds)), sorted(sess.run(adds)), sess.run([nest, v, slope]), section.name, other.name, refused,
                tf.get_collection("critical_sections") == [section, other], len(tf.get_collection("critical_section_executions")),
                section.execute(add, exclusive_resource_access=True).shape]


@case(nodes=False)
def handles_as_resources(tf):
    kept = [tf.raw_ops.GetSessionHandleV2(value=value).op for value in ([1.0, 2.0], ["a"])]
    with tf.Session() as sess:
        return sess.run(kept)
