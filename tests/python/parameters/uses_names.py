"""What the recipes of session bundles, feature columns, checks of numbers and small modules of tf.contrib need."""
import os

import numpy as np


class NameUses:
    """The ways to use a result of small modules, for one system."""

    def numeric_check(self):
        """Whether the stack that a check tells has one frame, and whether all of its paths are short."""
        with self.tf.Graph().as_default() as graph:
            self.tf.log(self.tf.constant(1.0))
            told = graph.as_graph_def().node[-1].attr["message"].s.decode()
        self.tf.debugging.disable_check_numerics()
        paths = [line.split(" (L")[0] for line in told.split("\n") if " (L" in line]
        return len(paths) == 1, max(map(len, paths)) <= len("    + ...") + 8

    def bundle(self, folder="model", version=1):
        """The folder of a session bundle."""
        tf = self.tf
        exporter = tf.contrib.session_bundle.exporter
        with tf.Graph().as_default() as graph, tf.Session() as sess:
            x = tf.placeholder(tf.float32, [2], name="x")
            y = tf.multiply(tf.Variable(2.0), x, name="y")
            sess.run(tf.global_variables_initializer())
            made = exporter.Exporter(tf.train.Saver())
            made.init(graph.as_graph_def(), default_graph_signature=exporter.regression_signature(x, y))
            return made.export(folder, tf.constant(version), sess)

    def loaded(self, found):
        """What a session and a MetaGraphDef are good for."""
        sess, meta = found
        with sess:
            out = [n for n in meta.graph_def.node if n.op == "Mul"][0].name + ":0"
            return sess.run(out, {"x:0": [1.0, 3.0]}).tolist(), sorted(meta.signature_def), sess.sess_str, len(sess.list_devices())

    def other_meta(self, folder):
        """The MetaGraphDef of a bundle with another node for the product."""
        tf = self.tf
        with open(os.path.join(folder, "export.meta"), "rb") as f:
            meta = tf.MetaGraphDef.FromString(f.read())
        meta.collection_def.clear()
        meta.signature_def["extra"].method_name = "m"
        return meta

    def saved_model(self):
        tf = self.tf
        with tf.Graph().as_default(), tf.Session() as sess:
            x = tf.placeholder(tf.float32, [2], name="x")
            y = tf.multiply(tf.Variable(2.0), x, name="y")
            sess.run(tf.global_variables_initializer())
            tf.saved_model.simple_save(sess, "saved", {"x": x}, {"y": y})
        return "saved"

    def written_bundle(self, exporter, **given):
        exporter.init(**given)
        with self.tf.Session() as sess:
            sess.run(self.tf.global_variables_initializer())
            return exporter.export("model", self.tf.constant(1), sess)

    def some_file(self):
        with open("words.txt", "w") as f:
            f.write("a\n")
        return {"words.txt": "copy.txt"}

    def versions(self):
        path = self.tf.contrib.session_bundle.gc.Path
        return [path("/p%02d" % v, v) for v in (1, 5, 8, 9, 12)]

    def version_folders(self):
        for name in ("1", "2", "x"):
            os.makedirs(os.path.join("exports", name))
        return "exports"

    def parsed(self, path):
        """A parser of folder names for gc.get_paths."""
        return path._replace(export_version=int(path.path[-1])) if path.path[-1].isdigit() else None

    def summarized(self, summarizer):
        tf = self.tf
        seen = tf.RunMetadata()
        with tf.Session() as sess:
            sess.run(tf.constant(1.0, name="one") + 2, None, tf.RunOptions(trace_level=3), seen)
        summarizer.ProcessStepStats(seen.step_stats)
        return "Run Order" in summarizer.GetOutputString()

    def counter(self, first=-1):
        return self.tf.get_variable("counter", initializer=self.tf.constant(first, self.tf.int64), use_resource=False)

    def column_features(self):
        return {"n": self.tf.constant([[1.0], [3.0], [6.0]]), "i": self.tf.constant([[0, 1], [3, 3], [1, 2]], self.tf.int64)}

    def number(self):
        return self.tf.contrib.layers.real_valued_column("n")

    def ids(self, size=4):
        return self.tf.contrib.layers.sparse_column_with_integerized_feature("i", size)

    def ratings(self):
        at = np.array([[0, 0], [0, 2], [1, 1], [2, 0], [2, 1], [2, 2]], np.int64)
        return self.tf.SparseTensor(at, np.array([1, 2, 3, 4, 5, 1], np.float32), [3, 3])

    def factors(self, model):
        """The rows' factors after one update."""
        tf = self.tf
        ops = [model.initialize_op, model.worker_init, model.row_update_prep_gramian_op, model.initialize_row_update_op]
        found = model.update_row_factors(self.ratings())
        with tf.Session() as sess:
            for op in ops:
                sess.run(op)
            made = sess.run([found[0], *found[2:], [v.value() for v in model.row_factors], [v.value() for v in model.col_factors]])
        return made, [v.op.name for v in tf.local_variables()]
