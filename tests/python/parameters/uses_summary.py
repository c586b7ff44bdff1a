"""What the recipes of summary writers do with a result: the nodes run, and the events are read."""
import glob


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
