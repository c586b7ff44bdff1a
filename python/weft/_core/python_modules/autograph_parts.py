"""Modules of tensorflow.python.autograph.pyct that libraries derive classes from; Weft does not rewrite their syntax trees."""


class Base:
    """A transformation of syntax trees: TensorFlow's is not here, so none can be made."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError("tensorflow.python.autograph: %s rewrites the syntax tree of a function, which Weft does not do: "
                                  "use tf.cond and tf.while_loop, or tf.autograph.to_graph" % type(self).__name__)
