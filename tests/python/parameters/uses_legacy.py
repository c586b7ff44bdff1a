"""What the recipes of tf.contrib's states of sequences, masks, quantization and mixtures do with a result."""
import numpy as np


class LegacyUses:
    """The ways to use such a result, for one system."""

    def _taken(self, batch, insert, close):
        """Batches of segments of one sequence, until there are no more."""
        save = batch.save_state("s", batch.state("s") + 1)
        parts = [batch.next_key, batch.length, batch.total_length, batch.sequences["x"], batch.context["c"], batch.state("s")]
        sess, found = self.session(), []
        try:
            sess.run(insert)
            sess.run(close)
            while True:
                found.append(sess.run([parts, save])[0])
        except self.tf.errors.OpError as e:
            return found, type(e).__name__

    def segments(self, batch):
        [runner] = self.tf.get_collection(self.tf.GraphKeys.QUEUE_RUNNERS)
        return self._taken(batch, runner.enqueue_ops[0], runner.close_op), len(runner.enqueue_ops)

    def saver(self, saver):
        return self._taken(saver.next_batch, saver.prefetch_op, saver.close())

    def pruning(self):
        made = self.tf.contrib.model_pruning.get_pruning_hparams()
        made.name = "other"
        return made

    def pruned(self, pruning):
        """The masks after an update in the fifth step."""
        tf = self.tf
        tf.contrib.model_pruning.apply_mask(tf.get_variable("w", initializer=tf.constant([[1.0, 2.0], [3.0, 4.0]])))
        update = pruning.mask_update_op()
        sess = self.session()
        sess.run(update)
        return sess.run(tf.contrib.model_pruning.get_masks())

    def mixed(self, mixture):
        init, step = mixture.init_ops(), mixture.training_ops()
        sess = self.session()
        sess.run(init)
        sess.run(step)
        return sess.run([mixture.alphas(), mixture.clusters(), mixture.covariances()])

    def started(self, made):
        """The likelihoods after the first means were chosen."""
        sess = self.session()
        sess.run(made[4])
        return sess.run(made[1])

    def fitted_mixture(self, estimator):
        estimator.fit(x=self.mixture_rows(), steps=1)
        return estimator.weights(), estimator.clusters(), estimator.covariances(), estimator.model_dir.rpartition("/")[2][:6]

    def mixture_rows(self):
        return np.array([[0.0, 0.5], [1.0, 0.25], [4.0, 3.0], [5.0, 3.5], [2.0, 2.0]], np.float32)

    def layered(self):
        """The default graph, with a layer in it."""
        tf = self.tf
        images = tf.constant(self.mixture_rows()[None, :, None])
        tf.layers.batch_normalization(tf.layers.conv2d(images, 2, 1, use_bias=False), training=True)
        return tf.get_default_graph()

    def state_saver(self):
        tf = self.tf
        saver = tf.contrib.training.SequenceQueueingStateSaver(1, 3, 3, "k", {"x": tf.ones([3, 1])}, {}, {})
        saver.next_batch  # noqa: B018 - its reading takes
        self._prefetch = saver.prefetch_op
        return saver

    def batch_run(self, batch):
        sess = self.session()
        sess.run(self._prefetch)
        return sess.run(batch.length)

    def built_cell(self, cell):
        cell.build(self.tf.TensorShape([None, 7]))
        return [(v.name, v.dtype.name) for v in cell.weights]

    def pruned_checkpoint(self):
        """A folder with the checkpoint of a masked layer."""
        tf = self.tf
        with tf.Graph().as_default(), tf.Session() as sess:
            x = tf.constant(self.mixture_rows(), name="x")
            tf.identity(tf.contrib.model_pruning.masked_fully_connected(x, 2), "out")
            sess.run(tf.global_variables_initializer())
            tf.train.Saver().save(sess, "pruned/model")
        return "pruned"

    def pruned_graph(self):
        return self.tf.contrib.model_pruning.graph_def_from_checkpoint(self.pruned_checkpoint(), ["out"])

    def train_op(self):
        tf = self.tf
        tf.train.get_or_create_global_step()
        with tf.control_dependencies([tf.assign_add(tf.train.get_global_step(), 1)]):
            return tf.identity(self.variable()[0, 0] * 2)

    def count(self, name):
        """An op that notes its name when it runs."""
        self.counted = []

        def note():
            self.counted.append(name)
            return np.int32(1)
        return self.tf.py_func(note, [], self.tf.int32)

    def one_step(self, sess, train_op, global_step, kwargs):
        return sess.run(train_op) + 1, True
