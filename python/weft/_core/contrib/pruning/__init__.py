"""tf.contrib.model_pruning: layers whose weights have masks, and the ops that update the masks."""
