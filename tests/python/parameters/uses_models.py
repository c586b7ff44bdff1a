"""What the recipes of tf.contrib.bayesflow, kfac and tensor_forest need."""


class ModelUses:
    """The ways to use a result of these modules, for one system."""

    def normal(self):
        return self.tf.distributions.Normal(0.0, 1.0)

    def walker(self, name):
        """A variable for metropolis_hastings.evolve."""
        return self.tf.get_variable(name, initializer=self.tf.zeros([3]))

    def observed(self):
        """A stochastic tensor with given values."""
        tf = self.tf
        return tf.contrib.bayesflow.stochastic_tensor.ObservedStochasticTensor(tf.distributions.Normal(0.0, 1.0), tf.ones([3, 4]))

    def sampled_loss(self):
        tf = self.tf
        made = tf.contrib.bayesflow.stochastic_tensor.StochasticTensor(tf.distributions.Bernoulli(probs=[1.0, 1.0]))
        return tf.cast(made.value(), tf.float32) + 1

    def current_type(self, context):
        with context:
            return type(self.tf.contrib.bayesflow.stochastic_tensor.get_current_value_type()).__name__

    def registered(self):
        """A stochastic tensor whose prior is registered."""
        made = self.observed()
        self.tf.contrib.bayesflow.variational_inference.register_prior(made, self.tf.distributions.Normal(1.0, 2.0))
        return made

    def layers(self):
        """A layer that is registered, with its loss."""
        tf = self.tf
        w, x = tf.get_variable("w", initializer=tf.ones([2, 1])), tf.constant([[1.0, 2.0], [3.0, 5.0]])
        out = tf.matmul(x, w)
        made = tf.contrib.kfac.layer_collection.LayerCollection()
        made.register_fully_connected(w, x, out)
        made.register_normal_predictive_distribution(out, seed=3, targets=[[1.0], [2.0]])
        return made

    def kfac_step(self, optimizer):
        """The weights after two steps."""
        tf = self.tf
        w = tf.trainable_variables()[0]
        train = optimizer.minimize(tf.reduce_sum(tf.square(w)))
        ops = [optimizer.cov_update_op, optimizer.inv_update_op, train] * 2
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for op in ops:
                sess.run(op)
            return sess.run(w), [v.op.name for v in tf.global_variables()]

    def forest_params(self):
        return self.tf.contrib.tensor_forest.ForestHParams(num_classes=2, num_features=4, num_trees=2, max_nodes=9,
                                                           split_after_samples=1, base_random_seed=3).fill()

    def assigner(self):
        made = self.tf.contrib.tensor_forest.python.tensor_forest.RandomForestDeviceAssigner()
        made.get_device = lambda i: "/device:CPU:1"
        return made

    def forest_variables(self):
        with self.tf.variable_scope("theirs"):
            return self.tf.contrib.tensor_forest.python.tensor_forest.ForestVariables(self.forest_params())

    def tree_class(self):
        class Named(self.tf.contrib.tensor_forest.python.tensor_forest.TreeVariables):
            def __init__(self, params, tree_num, training):
                super().__init__(params, tree_num + 10, training)
        return Named

    def variables_made(self, variables):
        return [(v.nodes.op.name, v.nodes.device, v.splits is None) for v in variables.variables]

    def forest_made(self, forest):
        return self.variables_made(forest.variables), [type(t).__name__ for t in forest.trees]

    def forest_loss(self, forest):
        tf = self.tf
        loss = forest.training_loss(tf.ones([3, 4]), tf.constant([0, 1, 1]))
        with tf.Session() as sess:
            sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            return sess.run(loss)

    def forest_fitted(self, estimator):
        """What a short training of an estimator leaves: its steps, devices, and the prediction of an example."""
        tf = self.tf

        def input_fn():
            features = {"x": tf.constant([[float(i % 2), 1.0, 2.0, float(i)] for i in range(8)])}
            if estimator.uses_columns:
                features.update(w=tf.constant([1.0, 0, 1, 0, 1, 1, 1, 1]), k=tf.range(8))
            return tf.data.Dataset.from_tensors((features, tf.constant([[0], [1], [0], [1], [1], [1], [0], [1]]))).repeat(9)
        for uses_columns in (False, True):
            estimator.uses_columns = uses_columns
            try:
                estimator.train(input_fn, steps=9)
                break
            except (KeyError, ValueError) as e:
                if uses_columns or "no column" not in str(e) and "'w'" not in str(e) and "'k'" not in str(e):
                    raise
        path = tf.train.latest_checkpoint(estimator.model_dir)
        with tf.Graph().as_default() as graph:
            tf.train.import_meta_graph(path + ".meta")
            devices = sorted({op.device for op in graph.get_operations() if op.name == "tree-0"})
        first = next(iter(estimator.predict(input_fn=input_fn)))
        return path, devices, estimator.config.save_summary_steps, sorted(first), [str(first[k]) for k in sorted(first)]

    def tree_columns(self):
        fc = self.tf.feature_column
        return [fc.bucketized_column(fc.numeric_column("a"), [2.5, 4.5]), fc.numeric_column("b")]

    def tree_input(self, words=False, scale=1.0):
        """An input function with two features, weights and labels, an example in each element."""
        tf = self.tf
        numbers = [(i % 7, (i * 5) % 11) for i in range(40)]
        labels = [int((a > 3) != (b > 4)) for a, b in numbers]
        labels = [["a", "b"][y] for y in labels] if words else labels

        def input_fn():
            features = {"a": [[scale * a] for a, _ in numbers], "b": [[float(b)] for _, b in numbers],
                        "w": [[i % 3 + 0.5] for i in range(40)]}
            return tf.data.Dataset.from_tensor_slices(({k: tf.constant(v) for k, v in features.items()}, tf.constant(labels)))
        return input_fn

    def trees_fitted(self, estimator, words=False):
        """What a training of boosted trees leaves."""
        source = self.tree_input(words)
        estimator.train(lambda: source().repeat().batch(20), steps=24)
        return self.trees_seen(estimator)

    def trees_seen(self, estimator):
        """The checkpoint of boosted trees, the names of its graph's variables, and the predictions of some examples."""
        tf = self.tf
        path, source = tf.train.latest_checkpoint(estimator.model_dir), self.tree_input()
        with tf.Graph().as_default() as graph:
            tf.train.import_meta_graph(path + ".meta")
            held = sorted(op.name for op in graph.get_operations() if op.type == "VariableV2")
        found = list(estimator.predict(input_fn=lambda: source().batch(40)))[:4]
        shown = [[(k, str(one[k])) for k in sorted(one)] if isinstance(one, dict) else str(one) for one in found]
        return path, held, estimator.config.save_summary_steps, shown

    def tree_learner(self, depth=2):
        """A LearnerConfig."""
        made = self.tf.contrib.boosted_trees.proto.learner_pb2.LearnerConfig()
        made.constraints.max_tree_depth = depth
        return made
