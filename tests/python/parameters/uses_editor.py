"""What recipes do with parts of graphs, and with clusters."""
import numpy as np

ROWS = np.float32([[0, 1, 0, 1], [1, 1, 0, 0], [10, 10, 9, 9], [9, 9, 11, 10]])


class EditorUses:
    """The ways to use an op, and to train a model of clusters, for one system."""

    def names(self, found):
        return [x.name for x in found]

    def elsewhere(self):
        with self.tf.Graph().as_default():
            return self.tf.constant(1.0)

    def linked(self):
        """Three tensors, each made of the one before; something waits for the first, and the third waits."""
        tf = self.tf
        first = tf.constant([[1.0, 2.0]], name="first")
        second = tf.square(first, name="second")
        with tf.control_dependencies([first]):
            tf.no_op(name="after")
        with tf.control_dependencies([tf.no_op(name="before")]):
            return first, second, tf.negative(second, name="third")

    def node_of(self, name):
        return self.tf.get_default_graph().get_tensor_by_name(name + ":0")

    def op_named(self, name):
        return self.tf.get_default_graph().get_operation_by_name(name)

    def scoped(self):
        with self.tf.name_scope("scope"):
            return self.tf.constant(1.0, name="inside")

    def scoped_square(self):
        inside = self.scoped()
        with self.tf.name_scope("scope/"):
            return self.tf.square(inside, name="square")

    def is_first(self, x):
        return x.name.startswith("first")

    def is_third(self, x):
        return x.name.startswith("third")

    def clustered(self, model):
        tf = self.tf
        model.train(lambda: {"x": tf.constant(ROWS)}, steps=3)
        found = [float(model.score(lambda: {"x": tf.train.limit_epochs(tf.constant(ROWS), 1)}))]
        return sorted(model.get_variable_names()), model.cluster_centers().shape, model.config.tf_random_seed, found

    def clustered_in_graph(self, model):
        every, index, scores, _, first, train = model.training_graph()
        with self.session() as sess:
            sess.run(first)
            for _ in range(2):
                sess.run(train)
            return sess.run([every[0], index[0], scores[0]])

    def kept(self):
        return Kept(self.tf)


class Kept:
    """A state of ones that a network begins with."""

    def __init__(self, tf):
        self.tf = tf

    def state(self, name):
        return self.tf.ones([3, 3])

    def save_state(self, name, value):
        return self.tf.identity(value)
