"""tf.contrib.kfac.layer_collection: what the optimizer knows of a network: its layers and its losses."""
import weft as tf
from weft._core.contrib.kfac import blocks, losses
from weft._core.framework.absent import Named

APPROX_KRONECKER_NAME, APPROX_DIAGONAL_NAME, APPROX_FULL_NAME = "kron", "diagonal", "full"


class LayerCollection(metaclass=Named):
    """The layers and the losses of a network.

    Args:
      graph: not used, as the tensors know their graph.
      name: the name scope of the variables that the optimizer makes.
    """

    def __init__(self, graph=None, name="LayerCollection"):
        self.name = name
        self.fisher_blocks = {}  # {parameters: block}
        self._losses = {}

    # ---- layers ----

    def _block(self, params, approx, allowed, reuse, make):
        if approx not in allowed:
            raise ValueError("Bad value %r for approx: it must be %s" % (approx, " or ".join(allowed)))
        key = tuple(params) if isinstance(params, (tuple, list)) else (params,)
        for known in self.fisher_blocks:
            if set(map(id, known)) & set(map(id, key)) and known != key:
                raise ValueError("Some of the parameters %s are registered with others already" % ([p.op.name for p in key],))
        if key in self.fisher_blocks:
            if not reuse:
                raise ValueError("The parameters %s are registered already; give reuse=True for another tower" % (
                    [p.op.name for p in key],))
        elif reuse is True:
            raise KeyError("reuse=True, but the parameters %s are not registered" % ([p.op.name for p in key],))
        else:
            self.fisher_blocks[key] = make(params)
        return self.fisher_blocks[key]

    def register_fully_connected(self, params, inputs, outputs, approx=None, reuse=False):
        """Registers a fully connected layer: outputs = inputs weights + bias, before the activation.

        Args:
          params: the weights, or weights and bias.
          inputs: what enters the layer, a matrix.
          outputs: what the layer gives before its activation.
          approx: "kron" for the Kronecker factors (the default), or "diagonal".
          reuse: True for another tower of a layer that is registered.
        """
        approx = approx or APPROX_KRONECKER_NAME
        kind = blocks.KroneckerBlock if approx == APPROX_KRONECKER_NAME else blocks.DiagonalBlock
        block = self._block(params, approx, (APPROX_KRONECKER_NAME, APPROX_DIAGONAL_NAME), reuse, kind)
        inputs = tf.convert_to_tensor(inputs)
        block.add(inputs, outputs, lambda: (inputs, 1.0))

    def register_conv2d(self, params, strides, padding, inputs, outputs, data_format=None, dilations=None, approx=None, reuse=False):
        """Registers a convolutional layer.

        Args:
          params: the filters, or filters and bias.
          strides: the strides, a list of 4 numbers.
          padding: "SAME" or "VALID".
          inputs: what enters the layer.
          outputs: what the layer gives before its activation.
          data_format: "NHWC".
          dilations: the dilations, a list of 4 numbers.
          approx: "kron".
          reuse: True for another tower of a layer that is registered.
        """
        if data_format not in (None, "NHWC"):
            raise NotImplementedError("kfac: register_conv2d(data_format=%r) is not in Weft: it must be NHWC" % (data_format,))
        block = self._block(params, approx or APPROX_KRONECKER_NAME, (APPROX_KRONECKER_NAME,), reuse, blocks.KroneckerBlock)
        height, width, depth, _ = block.params[0].shape.as_list()
        inputs = tf.convert_to_tensor(inputs)

        def rows():
            found = tf.extract_image_patches(inputs, [1, height, width, 1], strides, dilations or [1, 1, 1, 1], padding)
            places = tf.cast(tf.shape(found)[1] * tf.shape(found)[2], tf.float32)
            return tf.reshape(found, [-1, height * width * depth]), places
        block.add(inputs, outputs, rows)

    def register_generic(self, params, batch_size, approx=None, reuse=False):
        """Parameters of any layer, whose block is estimated from the gradient of the summed loss.

        Args:
          params: a variable or several.
          batch_size: the number of examples in a batch.
          approx: "diagonal" (the default) or "full".
          reuse: False.
        """
        approx = approx or APPROX_DIAGONAL_NAME
        if reuse:
            raise NotImplementedError("kfac: register_generic(reuse=True) is not in Weft")
        self._block(params, approx, (APPROX_DIAGONAL_NAME, APPROX_FULL_NAME), reuse,
                    lambda p: blocks.NaiveBlock(p, batch_size, approx == APPROX_FULL_NAME))

    # ---- losses ----

    def _register_loss(self, loss, name, reuse):
        name = name or tf.get_default_graph().unique_name("register_predictive_distribution")
        if name in self._losses and not reuse:
            raise KeyError("Loss function named %s already exists. Set reuse=True to append another tower." % name)
        if reuse is True and name not in self._losses:
            raise KeyError("reuse=True, but there is no loss named %s" % name)
        self._losses.setdefault(name, []).append(loss)

    def register_categorical_predictive_distribution(self, logits, seed=None, targets=None, name=None, reuse=False):
        """Registers a loss for classes: a softmax of logits.

        Args:
          logits: the logits, a row for each example.
          seed: the seed of the samples.
          targets: the classes, for the estimation mode "empirical".
          name: the name of the loss.
          reuse: True for another tower of a loss that is registered.
        """
        self._register_loss(losses.CategoricalLogitsLoss(logits, seed, targets), name, reuse)

    def register_normal_predictive_distribution(self, mean, var=0.5, seed=None, targets=None, name=None, reuse=False):
        """Registers a loss for numbers: normal distributions with a mean and a fixed variance.

        Args:
          mean: the means, a row for each example.
          var: the variance; with 0.5 the loss is the squared error.
          seed: the seed of the samples.
          targets: the numbers, for the estimation mode "empirical".
          name: the name of the loss.
          reuse: True for another tower of a loss that is registered.
        """
        self._register_loss(losses.NormalMeanLoss(mean, var, seed, targets), name, reuse)

    def register_multi_bernoulli_predictive_distribution(self, logits, seed=None, targets=None, name=None, reuse=False):
        """Registers a loss for several yes-or-no answers: a sigmoid of each logit.

        Args:
          logits: the logits, a row for each example.
          seed: the seed of the samples.
          targets: the truth, for the estimation mode "empirical".
          name: the name of the loss.
          reuse: True for another tower of a loss that is registered.
        """
        self._register_loss(losses.MultiBernoulliLoss(logits, seed, targets), name, reuse)

    @property
    def losses(self):
        """The registered losses."""
        return [loss for towers in self._losses.values() for loss in towers]

    @property
    def registered_variables(self):
        """The variables of all layers."""
        return [p for key in self.fisher_blocks for p in key]

    def get_blocks(self):
        """Returns the blocks of all layers."""
        return list(self.fisher_blocks.values())

    def total_loss(self):
        """Returns the sum of the losses of the targets."""
        return tf.add_n([loss.evaluate() for loss in self.losses])

    def total_sampled_loss(self):
        """Returns the sum of the losses of targets that are drawn from the distributions."""
        return tf.add_n([loss.evaluate_on_sample() for loss in self.losses])
