"""Keras models as programs write them: texts with masks, pictures, own losses and layers, time steps with weights."""
import numpy as np

from calls_keras_models import X, Y, printed
from machine import case

WORDS = np.random.RandomState(3).randint(0, 6, (12, 5))
MARKS = (WORDS.sum(1) % 2).astype("float32")
IMAGES = np.random.RandomState(4).rand(10, 8, 8, 1).astype("float32")


@case(nodes=False, tolerance=1e-3)
def texts_with_masks(tf):
    k = tf.keras
    model = k.models.Sequential()
    model.add(k.layers.Embedding(6, 4, input_length=5, mask_zero=True))
    model.add(k.layers.LSTM(3, return_sequences=True))
    model.add(k.layers.Bidirectional(k.layers.GRU(2)))
    model.add(k.layers.Dense(1, activation="sigmoid"))
    model.compile(loss="binary_crossentropy", optimizer="rmsprop", metrics=["accuracy"])
    found = printed(lambda: model.fit(WORDS, MARKS, batch_size=4, epochs=2, verbose=2))
    return found[0].history, found[1], model.predict(WORDS), model.get_weights(), printed(model.summary)[1]


@case(nodes=False, tolerance=1e-3)
def time_steps_with_weights(tf):
    k = tf.keras
    x = k.layers.Input(shape=(5,), dtype="int32")
    h = k.layers.SimpleRNN(3, return_sequences=True)(k.layers.Embedding(6, 4, mask_zero=True)(x))
    model = k.Model(x, k.layers.TimeDistributed(k.layers.Dense(6, activation="softmax"))(h))
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["acc"], weighted_metrics=["acc"], sample_weight_mode="temporal")
    weights = (WORDS > 1).astype("float32")
    found = printed(lambda: model.fit(WORDS, WORDS[:, :, None], sample_weight=weights, batch_size=4, epochs=2, verbose=0))[0]
    return found.history, model.evaluate(WORDS, WORDS[:, :, None], verbose=0), model.metrics_names, model.get_weights()


@case(nodes=False, tolerance=1e-3)
def pictures(tf):
    k, l = tf.keras, tf.keras.layers
    model = k.Sequential([l.Conv2D(4, (3, 3), activation="relu", input_shape=(8, 8, 1)), l.BatchNormalization(), l.MaxPooling2D((2, 2)),
                          l.Conv2D(3, 2, padding="same"), l.Activation("relu"), l.GlobalAveragePooling2D(),
                          l.Dense(2, activation="softmax", kernel_regularizer=k.regularizers.l2(0.01))])
    model.compile(loss=k.losses.categorical_crossentropy, optimizer=k.optimizers.Adadelta(), metrics=["accuracy"])
    labels = k.utils.to_categorical(np.arange(10) % 2, 2)
    found = printed(lambda: model.fit(IMAGES, labels, batch_size=5, epochs=2, verbose=1, validation_data=(IMAGES, labels)))
    score = model.evaluate(IMAGES, labels, verbose=0)
    return found[0].history, found[1], score, model.get_weights(), [layer.name for layer in model.layers], model.layers[0].output_shape


@case(nodes=False, tolerance=1e-3)
def own_parts(tf):
    k, K = tf.keras, tf.keras.backend

    class Scale(k.layers.Layer):
        def build(self, input_shape):
            self.factor = self.add_weight("factor", shape=(int(input_shape[-1]),), initializer="ones", trainable=True)
            super().build(input_shape)

        def call(self, x):
            return x * self.factor

        def compute_output_shape(self, input_shape):
            return input_shape

    def loss(y_true, y_pred):
        return K.mean(K.square(y_true - y_pred), axis=-1) + 0.1 * K.mean(K.abs(y_pred))

    def error(y_true, y_pred):
        return K.max(K.abs(y_true - y_pred))
    a = k.Input((3,))
    h = k.layers.Lambda(lambda t: K.sqrt(t) + 1.0)(Scale()(a))
    model = k.Model(inputs=a, outputs=k.layers.Dense(1)(k.layers.concatenate([h, a])))
    model.compile(optimizer=k.optimizers.Adam(lr=0.01, decay=0.1, clipnorm=1.0), loss=loss, metrics=[error, "mse"])
    found = printed(lambda: model.fit(X, Y, batch_size=8, epochs=2, verbose=2))
    inner = K.function([model.layers[0].input], [model.layers[2].output])([X])[0]
    gradient = K.function(model.inputs, K.gradients(model.output, model.inputs))([X])[0]
    return found[0].history, found[1], model.metrics_names, inner, gradient, model.get_weights(), [v.name for v in model.trainable_weights]


@case(nodes=False, tolerance=1e-3)
def two_networks(tf):
    """A generator and a discriminator that is trained by itself and frozen in the other model."""
    k = tf.keras
    judge = k.Sequential([k.layers.Dense(4, activation="relu", input_dim=3), k.layers.Dense(1, activation="sigmoid")], name="judge")
    judge.compile("sgd", "binary_crossentropy", metrics=["accuracy"])
    maker = k.Sequential([k.layers.Dense(3, input_dim=2)], name="maker")
    judge.trainable = False
    noise = k.Input(shape=(2,))
    both = k.Model(noise, judge(maker(noise)))
    both.compile(k.optimizers.Adam(0.01), "binary_crossentropy")
    said = []
    for _ in range(2):
        fake = maker.predict(X[:, :2])
        said.append([judge.train_on_batch(X, np.ones((20, 1))), judge.train_on_batch(fake, np.zeros((20, 1))),
                     both.train_on_batch(X[:, :2], np.ones((20, 1)))])
    return said, maker.get_weights(), judge.get_weights(), [len(both.trainable_weights), len(judge.trainable_weights)], printed(
        both.summary)[1]


@case(nodes=False, tolerance=1e-3)
def frozen_then_trained(tf):
    k = tf.keras
    base = k.Sequential([k.layers.Dense(4, activation="relu", input_shape=(3,), name="a"), k.layers.BatchNormalization(name="b")])
    base.trainable = False
    model = k.Sequential([base, k.layers.Dense(1, name="c")])
    model.compile("sgd", "mse")
    first = printed(lambda: model.fit(X, Y, epochs=1, verbose=0))[0].history
    base.trainable = True
    model.compile(k.optimizers.SGD(0.01, momentum=0.9, nesterov=True), "mse")
    second = printed(lambda: model.fit(X, Y, epochs=2, verbose=0))[0].history
    return first, second, model.get_weights(), [v.name for v in tf.global_variables()]
