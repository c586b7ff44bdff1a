"""Layers as objects that are parts of a graph: tf.keras.  Training loops are not here."""
