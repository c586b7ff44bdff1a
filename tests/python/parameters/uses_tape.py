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
