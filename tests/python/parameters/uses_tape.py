"""What the recipes of tf.GradientTape and tf.function need."""


class TapeUses:
    """The ways to use tapes and functions, for one system."""

    def derived(self, tape):
        """What a tape tells of a product of a variable, or the error of its second gradient."""
        variable = self.tf.Variable(3.0, use_resource=True)
        with tape:
            y = variable * variable
        first, seen = tape.gradient(y, variable), [v.name for v in tape.watched_variables()]
        try:
            tape.gradient(y, variable)
        except RuntimeError as e:
            return seen, [] if first is None else [first], str(e)
        return seen, [] if first is None else [first], "persistent"

    def grown(self, x):
        return x * 2.0

    def as_python(self):
        """Whether a call of a function calls Python alone; the setting is put back."""
        set_here = self.tf.config.functions_run_eagerly(), self.tf.config.experimental_functions_run_eagerly()
        made = self.tf.function(self.grown)(self.tf.constant(1.0)).op.type
        self.tf.config.run_functions_eagerly(False)
        return set_here, made == "Mul"

    def refused(self, call):
        """The class of the error of a call."""
        try:
            return call()
        except Exception as e:  # noqa: BLE001 - that is the question
            return type(e).__name__

    def marked(self, scope):
        """The attributes of a node that is made in a scope."""
        with scope:
            made = self.tf.constant(1.0)
        return sorted((k, str(v)) for k, v in made.op.node_def.attr.items() if k.startswith("_Xla"))

    def entered(self, scope):
        with scope:
            return self.tf.constant(1.0)

    def policies(self):
        """The settings of eager mode; they are put back."""
        e = self.tf.config.experimental
        found = e.get_device_policy(), e.get_synchronous_execution()
        e.set_device_policy(None)
        e.set_synchronous_execution(None)
        return found

    def drawn(self, name="y"):
        """A GraphDef with a node of that name, and one of the name y."""
        with self.tf.Graph().as_default() as graph:
            self.tf.constant(1.0, name="y")
            self.tf.constant(2.0, name=name)
        return graph.as_graph_def()
