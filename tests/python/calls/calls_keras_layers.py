"""Layers and initializers of Keras that draw: the same seeds give TensorFlow's numbers."""
import numpy as np

from machine import case

X = np.random.RandomState(0).randn(4, 5, 3).astype(np.float32)


@case(nodes=False, tolerance=1e-4)
def keras_layers_draw(tf):
    x = tf.constant(X)
    made = [tf.keras.layers.Dropout(0.5, seed=3), tf.keras.layers.GaussianNoise(0.5, seed=4), tf.keras.layers.GaussianDropout(0.5, seed=5),
            tf.keras.layers.AlphaDropout(0.5, seed=6), tf.keras.layers.SpatialDropout1D(0.5, seed=7)]
    more = [tf.keras.layers.SpatialDropout2D(0.5, seed=8), tf.keras.layers.SpatialDropout3D(0.5, seed=9)]
    wide = [tf.reshape(x, [4, 5, 3, 1]), tf.reshape(x, [2, 2, 5, 3, 1])]
    return [layer(x, training=True) for layer in made] + [layer(w, training=True) for layer, w in zip(more, wide)] + [
        tf.layers.Dropout(0.5, seed=3)(x, training=True), tf.layers.dropout(x, seed=4, training=True)]


@case(nodes=False, tolerance=1e-4)
def keras_initializers_draw(tf):
    made = [tf.keras.initializers.RandomNormal(seed=1), tf.keras.initializers.RandomUniform(seed=2),
            tf.keras.initializers.TruncatedNormal(seed=3), tf.keras.initializers.VarianceScaling(seed=4),
            tf.keras.initializers.Orthogonal(seed=5), tf.keras.initializers.glorot_normal(seed=6),
            tf.keras.initializers.glorot_uniform(seed=7), tf.keras.initializers.he_normal(seed=8), tf.keras.initializers.he_uniform(seed=9),
            tf.keras.initializers.lecun_normal(seed=10), tf.keras.initializers.lecun_uniform(seed=11),
            tf.keras.initializers.normal(seed=12), tf.keras.initializers.uniform(seed=13)]
    return [start([3, 4]) for start in made]
