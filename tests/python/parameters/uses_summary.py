"""What the recipes of summary writers do with a result: the nodes run, and the events are read."""
import glob
import sqlite3


class SummaryUses:
    """The ways to use summary writers, for one system."""

    def summary_writer(self, folder="out"):
        return self.tf.contrib.summary.create_file_writer(folder, name="w" + folder)

    def recording(self, given):
        """Gives back what it is given; from now on summaries are recorded."""
        self.tf.train.get_or_create_global_step()
        self.summary_writer().set_as_default()
        self.tf.contrib.summary.always_record_summaries().__enter__()
        return given

    def opened(self, writer):
        with self.session() as sess:
            sess.run([writer.init()])
            sess.run([writer.flush()])
            sess.run([writer.close()])
        return self.event_files()

    def in_database(self, writer):
        """The databases, and whose runs they have."""
        with writer.as_default(), self.tf.contrib.summary.always_record_summaries():
            step = self.tf.contrib.summary.scalar("a", 1.5, step=1)
        with self.session() as sess:
            sess.run(writer.init())
            sess.run(step)
            sess.run(writer.close())
        found = []
        for path in sorted(glob.glob("*.db")):
            db = sqlite3.connect(path)
            found.append([path] + [db.execute("SELECT %s_name FROM %ss" % (t, t)).fetchall() for t in ("user", "experiment", "run", "tag")])
            db.close()
        return [found, writer._resource.op.get_attr("shared_name")]

    def recorded(self, made):
        """The events that a node wrote in a step."""
        s = self.tf.contrib.summary
        with self.session() as sess:
            sess.run(s.summary_writer_initializer_op())
            value = [] if made is None else sess.run([made])
            sess.run(s.flush())
        return [value, [m.name for m in s.all_summary_ops()], self.event_files()]

    def only_in(self, scope):
        """Whether summaries are recorded in a scope."""
        with scope:
            return self.tf.contrib.summary.should_record_summaries()

    def event_files(self):
        found = []
        for path in sorted(glob.glob("*/events*")):
            events = list(self.tf.train.summary_iterator(path))
            found.append([path.partition("/")[0], path.endswith(".given"),
                          [[e.step, e.WhichOneof("what"), e.summary.SerializeToString()] for e in events]])
        return found
