"""What the recipes of tf.GradientTape need."""


class TapeUses:
    """The ways to use a tape, for one system."""

    def taped(self, **given):
        """A tape that recorded a square, its operand and the square; the tape may be asked several times."""
        tf = self.tf
        tape = tf.GradientTape(persistent=True, **given)
        with tape:
            x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
            tape.watch(x)
            y = x * x
        return tape, x, y

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
